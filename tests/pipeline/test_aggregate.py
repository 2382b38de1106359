"""Evidence becomes one summary by arithmetic: counted by hand, compared with scipy, clear when there is nothing."""

import json
from pathlib import Path

import pytest
from scipy.stats import spearmanr

from offline_eval.core.errors import StoreError
from offline_eval.core.hashing import canonical_json
from offline_eval.core.protocols import Failure, GenerateRequest, Generation
from offline_eval.core.results import Estimate
from offline_eval.core.summary import RunSummary
from offline_eval.engines.scripted import by_hash, pick
from offline_eval.judge.panel import load_panel
from offline_eval.pipeline.aggregate import Results, results_document, summarize
from offline_eval.store.run_file import RunFile
from tests.support.panel_runs import (
    Judges,
    asks_label,
    dimension_of,
    execute,
    make_case,
    make_config,
    make_response,
    many,
    passages,
    start,
)


def graded(table: dict[str, tuple[int, int, int]]) -> Judges:
    """A judge that knows the grades: a mark in the answer to faithfulness, relevance, completeness."""

    def script(request: GenerateRequest) -> Generation | Failure:
        if not asks_label(request):
            return by_hash(request)
        place = ("faithfulness", "relevance", "completeness").index(dimension_of(request))
        grades = next(grades for mark, grades in table.items() if mark in request.messages[1].content)
        return pick(request, str(grades[place]))

    return Judges({"judge": script})


def estimates(summary: RunSummary, group: str = "all") -> dict[tuple[str, str], Estimate]:
    return {(e.system, e.metric): e for e in summary.estimates if e.group == group}


GRADES = {
    "ANT": (3, 1, 1),
    "BEE": (3, 3, 3),
    "CAT": (1, 2, 3),
    "DOG": (2, 2, 2),
    "ELK": (1, 1, 2),
    "FOX": (3, 2, 3),
    "GNU": (2, 3, 1),
}


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> RunFile:
    """Two systems, two languages, three types; one refusal of each kind, one failed response."""
    types = ("factual", "factual", "open", "open", "factual", "riddle", "factual")
    cases = [
        make_case(
            f"c{place}", query_type=kind, query="年假有几天？" if place < 3 else "How many days?", answerable=True
        )
        for place, kind in enumerate(types)
    ]
    responses = [
        make_response(f"c{place}", answer=f"{mark} days", system="careful") for place, mark in enumerate(GRADES)
    ]
    responses += [
        make_response("c0", system="hasty", answer="CAT days"),
        make_response("c1", system="hasty", answer="资料中没有提到。"),
        make_response("c2", system="hasty", error="HTTP 500"),
    ]
    path = tmp_path_factory.mktemp("run") / "r.sqlite"
    return execute(path, make_config(), cases, responses, graded(GRADES))


@pytest.fixture(scope="module")
def summary(run_file: RunFile) -> RunSummary:
    return summarize(Results(run_file))


def test_means_by_hand(summary: RunSummary) -> None:
    found = estimates(summary)
    # (3 + 3 + 1 + 2 + 1 + 3 + 2) / 7 = 15 / 7
    assert found["careful", "faithfulness_grade"].value == pytest.approx(15 / 7)
    # (1 + 3 + 2 + 2 + 1 + 2 + 3) / 7 = 14 / 7
    assert found["careful", "relevance_grade"].value == pytest.approx(2)
    # factual .6/.25/.15: ANT 2.2, BEE 3, ELK 1.15, GNU 2.1; open .3/.3/.4: CAT 2.1, DOG 2; else .5/.3/.2: FOX 2.7
    totals = (2.2, 3, 1.15, 2.1, 2.1, 2, 2.7)
    assert found["careful", "total_grade"].value == pytest.approx(sum(totals) / 7)
    assert found["careful", "total_grade"].interval is not None


def test_a_refusal_of_an_answerable_case_counts_low_and_a_failed_response_counts_apart(summary: RunSummary) -> None:
    found = estimates(summary)
    relevance = found["hasty", "relevance_grade"]
    # CAT 2, refusal 1 by rule, failed: (2 + 1) / 2; with the failed one as 1: 4 / 3, as 3: 6 / 3
    assert (relevance.mean_scored, relevance.n_scored, relevance.n_failed) == (1.5, 2, 1)
    assert (relevance.value, relevance.best) == (pytest.approx(4 / 3), pytest.approx(2))
    faithfulness = found["hasty", "faithfulness_grade"]
    assert (faithfulness.n_scored, faithfulness.n_not_applicable, faithfulness.n_failed) == (1, 1, 1)
    assert faithfulness.reasons == {"refusal": 1, "system_error: HTTP 500": 1}


def test_slices_by_type_and_language(summary: RunSummary) -> None:
    assert {e.group for e in summary.estimates} == {
        "all",
        "query_type=factual",
        "query_type=open",
        "query_type=riddle",
        "language=en",
        "language=zh",
    }
    assert estimates(summary, "query_type=open")["careful", "total_grade"].value == pytest.approx(2.05)  # (2.1 + 2) / 2
    assert estimates(summary, "language=zh")["careful", "total_grade"].n == 3
    assert ("hasty", "total_grade") not in estimates(summary, "language=en")


def test_label_histograms_count_every_verdict(summary: RunSummary) -> None:
    labels = summary.labels
    assert labels["careful"] == {
        "faithfulness": {"1": 2, "2": 2, "3": 3},
        "relevance": {"1": 2, "2": 3, "3": 2},
        "completeness": {"1": 2, "2": 2, "3": 3},
    }
    assert labels["hasty"] == {
        "faithfulness": {"1": 1, "failed": 1, "not_applicable": 1},
        "relevance": {"1": 1, "2": 1, "failed": 1},
        "completeness": {"1": 1, "3": 1, "failed": 1},
    }


def test_labels_on_the_wire_have_their_display_names_in_every_language_used(summary: RunSummary) -> None:
    assert summary.level_names == {"1": "fail / 不合格", "2": "pass / 合格", "3": "excellent / 优秀"}


def test_correlations_equal_scipys(summary: RunSummary) -> None:
    found = {(c.first, c.second): c for c in summary.correlations}
    columns = list(zip(*GRADES.values(), strict=True))
    faithful, relevant, complete = ([*column, extra] for column, extra in zip(columns, GRADES["CAT"], strict=True))
    pair = found["faithfulness", "relevance"]
    assert pair.n == 8  # seven careful answers and a hasty one; the refusal has no faithfulness
    assert pair.value == pytest.approx(spearmanr(faithful, relevant).statistic, abs=1e-12)
    assert found["faithfulness", "completeness"].value == pytest.approx(
        spearmanr(faithful, complete).statistic, abs=1e-12
    )
    # Relevance and completeness share the refusal as well: 1 and 1.
    both = found["relevance", "completeness"]
    assert both.n == 9
    assert both.value == pytest.approx(spearmanr([*relevant, 1], [*complete, 1]).statistic, abs=1e-12)


def test_the_refusal_table(summary: RunSummary) -> None:
    careful, hasty = summary.refusals
    assert (careful.system, careful.answerable_answered, careful.answerable_refused) == ("careful", 7, 0)
    assert (hasty.answerable_answered, hasty.answerable_refused, hasty.failed) == (1, 1, 1)


def test_cases_that_a_system_left_out_are_named(summary: RunSummary) -> None:
    assert (summary.n_cases, summary.n_responses) == (7, 10)
    assert summary.warnings == (
        "hasty has no response for 4 of 7 cases (c3, c4, c5, c6): they are in none of its means",
    )


def test_the_worst_come_first_with_their_reasons(summary: RunSummary) -> None:
    worst = summary.worst
    totals = [view.total for view in worst]
    assert totals == sorted(totals)  # type: ignore[type-var]
    # Refusal: relevance and completeness 1, faithfulness does not apply.
    assert (worst[0].response_key, worst[0].total) == ("hasty/c1", 1)
    assert worst[0].missing == {"faithfulness": "refusal"}
    assert worst[0].notes == (
        "relevance (rule): the answer declines an answerable question",
        "completeness (rule): the answer declines an answerable question",
    )
    assert worst[1].response_key == "careful/c4"
    assert "faithfulness (judge): scripted «scripted» (quote not in the material)" in worst[1].notes


def test_review_shares_are_shares_of_all_responses(summary: RunSummary) -> None:
    # Two levels apart: ANT 3/1/1, CAT 1/2/3 (twice), GNU 2/3/1; failed: one.
    assert summary.review_shares == {"examiners_apart": 0.4, "failed": 0.1}
    assert summary.review_share == 0.5
    assert {view.response_key for view in summary.review} == {
        "careful/c0",
        "careful/c2",
        "careful/c6",
        "hasty/c0",
        "hasty/c2",
    }


def test_judges_are_counted(summary: RunSummary) -> None:
    (judge,) = summary.judge_counts
    assert (judge.judge, judge.verdicts, judge.failed) == ("judge", 24, 0)
    assert judge.by_label == {"1": 7, "2": 8, "3": 9}
    assert (judge.reasons, judge.quotes, judge.quotes_verbatim) == (24, 24, 0)
    assert judge.off_label_mass == pytest.approx(0, abs=1e-9)


def test_weights_change_without_any_engine(run_file: RunFile) -> None:
    head = run_file.head()
    weights = {"faithfulness": 0.0, "relevance": 1.0, "completeness": 0.0}
    found = estimates(summarize(Results(run_file, weights=weights)))
    for system in ("careful", "hasty"):
        assert found[system, "total_grade"].value == found[system, "relevance_grade"].value
    assert run_file.head() == head


def test_expected_grades_on_request(run_file: RunFile) -> None:
    found = estimates(summarize(Results(run_file, by_expected=True)))["hasty", "total_grade"]
    # CAT by expected grade: .9 on the label, .05 on the others: 1 -> .9 + .1 + .15 = 1.15; 2 -> 2; 3 -> 2.85.
    # factual: .6 x 1.15 + .25 x 2 + .15 x 2.85 = 1.6175; the refusal, by rule: 1; the failed one counts as 1.
    assert found.mean_scored == pytest.approx(1.30875)  # (1.6175 + 1) / 2
    assert found.value == pytest.approx(3.6175 / 3)


def test_advice_says_how_large_a_difference_can_be_seen(summary: RunSummary) -> None:
    advice = summary.advice
    assert advice[0].startswith("all types: 7 cases, fewer than the 100 advised; differences above 1.")
    assert "riddle: 1 cases, fewer than the 20 advised; no difference can be seen" in advice


def test_the_document_is_json_without_times_or_heads(run_file: RunFile) -> None:
    text = canonical_json(results_document(Results(run_file))).decode()
    document = json.loads(text)
    assert document["format"] == "offline-eval results 1"
    assert "head" not in document["summary"]
    assert len(document["evidence"]) == 30 + 24 + 9  # verdicts, reasons, refusals
    assert len(document["scores"]) == 40
    assert "seconds" not in text
    assert "NaN" not in text


# --- CASE 29 ---------------------------------------------------------------------------------------------------------


def test_no_case_is_a_clear_summary_without_numbers(tmp_path: Path) -> None:
    summary = summarize(Results(execute(tmp_path / "r.sqlite", make_config(), [], [])))
    assert (summary.n_cases, summary.n_responses, summary.n_verdicts) == (0, 0, 0)
    assert summary.estimates == ()
    assert all(c.value is None and c.interval is None and c.reason for c in summary.correlations)
    assert (summary.failed_share, summary.review_share) == (0, 0)
    assert summary.warnings == ("none of 0 cases has a response: nothing was scored",)
    assert summary.advice == ("all types: 0 cases, fewer than the 100 advised; no difference can be seen",)


def test_one_case_has_values_and_undefined_intervals(tmp_path: Path) -> None:
    run_file = execute(
        tmp_path / "r.sqlite", make_config(), [make_case()], [make_response()], graded({"28": (2, 2, 2)})
    )
    summary = summarize(Results(run_file))
    for found in estimates(summary).values():
        assert (found.value, found.n_scored, found.interval) == (2, 1, None)
        assert found.interval_reason == "a 95% interval needs at least 6 independent cases, here 1"
    assert all(c.reading == "undefined" for c in summary.correlations)


@pytest.mark.parametrize("grade", [1, 3])
def test_one_case_at_an_end_of_the_scale_has_a_wide_interval_and_never_none_of_width(
    tmp_path: Path, grade: int
) -> None:
    judges = graded({"28": (grade, grade, grade)})
    run_file = execute(tmp_path / "r.sqlite", make_config(), [make_case()], [make_response()], judges)
    for found in estimates(summarize(Results(run_file))).values():
        assert found.interval is not None
        assert found.interval.high - found.interval.low > 1.5  # Wilson for one of one: .21 to 1, over a range of 2


def test_when_nothing_applies_there_is_no_number_anywhere(tmp_path: Path) -> None:
    cases = [make_case(f"c{place}", answerable=False) for place in range(8)]
    responses = [make_response(case.id, answer="The documents do not say.") for case in cases]
    judges = Judges()
    summary = summarize(Results(execute(tmp_path / "r.sqlite", make_config(), cases, responses, judges)))
    assert judges.requests == []
    for found in estimates(summary).values():
        assert (found.value, found.interval, found.mean_scored, found.best) == (None, None, None, None)
        assert (found.n_scored, found.n_not_applicable, found.n_failed) == (0, 8, 0)
        assert found.interval_reason == "nothing was scored"
        assert found.reasons == {"correct_refusal": 8}
    assert summary.worst == ()
    assert summary.failed_share == 0
    assert summary.refusals[0].unanswerable_refused == 8


# --- unfinished ------------------------------------------------------------------------------------------------------


def test_a_run_that_was_stopped_says_so_and_counts_what_is_missing_as_failed(tmp_path: Path) -> None:
    config = make_config(("faithfulness=one", "relevance=two", "completeness=two"), reasons="none")
    with pytest.raises(KeyboardInterrupt):
        execute(tmp_path / "r.sqlite", config, *many(4), Judges(stop_at=5))
    summary = summarize(Results(RunFile(tmp_path / "r.sqlite")))
    assert summary.warnings == (
        "the run is not finished: what is missing counts as failed; run the same command again to continue",
    )
    found = estimates(summary)
    assert found["system", "faithfulness_grade"].n_scored == 4
    assert (found["system", "relevance_grade"].n_failed, found["system", "total_grade"].n_failed) == (4, 4)
    assert found["system", "total_grade"].value is None


def test_a_file_without_a_run_is_one_clear_message(tmp_path: Path) -> None:
    RunFile(tmp_path / "r.sqlite", create=True).close()
    with pytest.raises(StoreError, match="stopped before anything was written"):
        Results(RunFile(tmp_path / "r.sqlite"))


def test_one_judge_of_two_that_fails_makes_its_dimension_fail(tmp_path: Path) -> None:
    def broken(request: GenerateRequest) -> Generation | Failure:
        if dimension_of(request) == "relevance" and "c000 days" in request.messages[1].content:
            return Failure(reason="time_limit", detail="no answer within 60 s")
        return pick(request, "3")

    judges = Judges({"one": lambda request: pick(request, "3"), "two": broken})
    run_file = execute(tmp_path / "r.sqlite", make_config(("one", "two"), reasons="none"), *many(3), judges)
    found = estimates(summarize(Results(run_file)))
    assert (found["system", "relevance_grade"].n_failed, found["system", "faithfulness_grade"].n_failed) == (1, 0)
    assert found["system", "total_grade"].reasons == {"relevance: time_limit: no answer within 60 s": 1}


def test_the_panels_own_order_is_kept_through_the_file(tmp_path: Path) -> None:
    summary = summarize(Results(execute(tmp_path / "r.sqlite", make_config(reasons="none"), *many(1))))
    assert list(summary.weights) == list(summary.judges) == list(load_panel("three-examiners").examiners)


def test_results_of_a_started_run_need_no_verdicts(tmp_path: Path) -> None:
    case = make_case(query="报销需要什么材料？", answerable=None)
    run_file = start(tmp_path / "r.sqlite", make_config(), [case], [make_response(passages=passages("发票。"))])
    summary = summarize(Results(run_file))
    assert summary.n_verdicts == 0
    assert summary.estimates[0].n_failed == 1
