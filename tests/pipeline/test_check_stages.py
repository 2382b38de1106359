"""Checks inside a run: one model at a time, batches that commit whole, resuming, re-scoring and staged evaluation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from offline_eval.core.evidence import EntailmentEvidence, VerdictEvidence
from offline_eval.core.protocols import Embedder, EngineKind, Failure, PairScorer
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score, Status
from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedScorer, word_share
from offline_eval.judge.panel import load_panel
from offline_eval.pipeline.aggregate import Results, results_document, summarize
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.execute import Executor
from offline_eval.pipeline.metric_plan import checks_for, engine_kinds, needs_panel, resolve_metrics
from offline_eval.pipeline.plan import estimate_plan, pair
from offline_eval.pipeline.uncollected import name_uncollected
from offline_eval.report.sections import sections
from offline_eval.store.run_file import RunFile
from tests.support.panel_runs import Judges, dimension_of, make_case, make_config, make_response, passages, start

PANEL = load_panel("three-examiners")


class Encoders:
    """Opens scripted encoders into a judge's diary, and stops at the n-th batch of pairs."""

    def __init__(self, judges: Judges, *, stop_at: int | None = None, fail_on: str | None = None) -> None:
        self.calls = 0
        self._judges, self._stop_at, self._fail_on = judges, stop_at, fail_on

    def open(self, kind: EngineKind, name: str) -> PairScorer | Embedder:
        encoders, diary = self, self._judges.diary
        diary.append(f"open {name}")
        if kind == "embedder":
            return ScriptedEmbedder()

        def script(premise: str, hypothesis: str) -> float | Failure:
            if encoders._fail_on is not None and encoders._fail_on in hypothesis:
                return Failure(reason="engine_error", detail="boom")
            return word_share(premise, hypothesis)

        class Scorer(ScriptedScorer):
            def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
                encoders.calls += 1
                if encoders.calls == encoders._stop_at:
                    raise KeyboardInterrupt
                return super().score(pairs)

            def close(self) -> None:
                diary.append(f"close {name}")

        return Scorer(script)


def config_for(*wanted: str, screen: tuple[float, float] | None = None, **fields: Any) -> RunConfig:
    metrics = resolve_metrics(wanted, PANEL)
    checks = checks_for(metrics, screen=screen is not None)
    engines = {kind: "judge" if kind == "judge" else f"the-{kind}" for kind in engine_kinds(checks)}
    config = make_config(metrics=metrics, checks=checks, engines=engines, screen=screen, batch_size=1, **fields)
    return config if needs_panel(metrics) else config.model_copy(update={"judges": dict.fromkeys(PANEL.examiners, ())})


def inputs(n: int = 10) -> tuple[list[Case], list[Response]]:
    cases = [make_case(f"c{number:03d}", reference=f"Leave is {number} days.") for number in range(n)]
    responses = [
        make_response(case.id, answer=f"You get {number} days.", passages=passages(f"Leave: {number} days a year."))
        for number, case in enumerate(cases)
    ]
    return cases, responses


def run(path: Path, config: RunConfig, given: tuple[list[Case], list[Response]], **options: Any) -> RunFile:
    judges = options.pop("judges", None) or Judges()
    encoders = options.pop("encoders", None) or Encoders(judges)
    run_file = start(path, config, *given)
    try:
        Executor(run_file, config, open_judge=judges.open, open_encoder=encoders.open, **options).run()
    except BaseException:
        run_file.close()
        raise
    return run_file


def test_claim_metrics_open_one_encoder_and_no_judge(tmp_path: Path) -> None:
    judges = Judges()
    run_file = run(tmp_path / "run.sqlite", config_for("claims"), inputs(), judges=judges)
    assert judges.diary == ["open the-nli", "close the-nli"]
    summary = summarize(Results(run_file))
    assert (summary.n_verdicts, summary.n_failed, summary.judge_counts) == (0, 0, ())
    faithfulness = next(e for e in summary.estimates if e.metric == "faithfulness" and e.group == "all")
    # "You get n days." and "Leave: n days a year." share n and days, 2 of 4 words: at the threshold, so supported.
    assert (faithfulness.value, faithfulness.n_scored) == (1.0, 10)


def test_one_model_is_in_memory_at_a_time(tmp_path: Path) -> None:
    judges = Judges()
    run(tmp_path / "run.sqlite", config_for("all"), inputs(3), judges=judges)
    opened = [entry for entry in judges.diary if entry.startswith("open")]
    assert opened == ["open judge", "open the-nli", "open the-answerability", "open the-embedder", "open judge"]
    for before, after in zip(judges.diary, judges.diary[1:], strict=False):
        if after.startswith("open") and before != "open the-embedder":  # the scripted embedder keeps no diary
            assert before.startswith("close")


def test_a_run_without_models_opens_nothing(tmp_path: Path) -> None:
    judges = Judges()
    run_file = run(tmp_path / "run.sqlite", config_for("refusal", "retrieval"), inputs(3), judges=judges)
    assert judges.diary == []
    assert {e.metric: e.value for e in summarize(Results(run_file)).estimates}["fallback_rate"] == 0.0


@pytest.mark.parametrize("stop_at", [1, 2, 3, 4, 6])
def test_stopped_anywhere_and_run_again_it_ends_in_the_same_document(stop_at: int, tmp_path: Path) -> None:
    config, given = config_for("claims", "context", "answer"), inputs(9)
    wanted = results_document(Results(run(tmp_path / "whole.sqlite", config, given)))
    path = tmp_path / "stopped.sqlite"
    judges = Judges()
    with pytest.raises(KeyboardInterrupt):
        run(path, config, given, encoders=Encoders(judges, stop_at=stop_at))
    assert results_document(Results(run(path, config, given))) == wanted


def test_no_batch_is_done_twice(tmp_path: Path) -> None:
    config, given = config_for("claims"), inputs(9)
    judges = Judges()
    first, second, whole = Encoders(judges, stop_at=3), Encoders(judges), Encoders(judges)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "a.sqlite", config, given, encoders=first)
    run(tmp_path / "a.sqlite", config, given, encoders=second)
    run(tmp_path / "b.sqlite", config, given, encoders=whole)
    # Batches of four responses: three calls. Two were committed before the third was stopped.
    assert (whole.calls, first.calls, second.calls) == (3, 3, 1)


def test_other_metrics_over_a_finished_run_ask_no_model(tmp_path: Path) -> None:
    run_file = run(tmp_path / "run.sqlite", config_for("faithfulness"), inputs(3))
    evidence = list(run_file.evidence())
    summary = summarize(Results(run_file, metrics=("claim_f1", "context_precision", "citation_recall")))
    overall = {e.metric: e for e in summary.estimates if e.group == "all"}
    assert (overall["claim_f1"].n_scored, overall["context_precision"].n_scored) == (3, 3)
    # Its evidence was not asked for: no number, and how to get one.
    found = overall["citation_recall"]
    assert (found.value, found.n_not_applicable, found.n_failed) == (None, 3, 0)
    assert found.reasons == {"evidence_not_collected: offline-eval run … --metrics answer": 3}
    assert list(run_file.evidence()) == evidence


def overall_of(run_file: RunFile, *metrics: str) -> dict[str, Any]:
    summary = summarize(Results(run_file, metrics=metrics))
    return {estimate.metric: estimate for estimate in summary.estimates if estimate.group == "all"}


@pytest.mark.parametrize(
    ("metric", "option"),
    [
        ("relevance_grade", "--metrics panel"),
        ("total_grade", "--metrics panel"),
        ("correctness_grade", "--panel (with correctness)"),
        ("context_alignment", "--metrics context"),
        ("reverse_question_relevance", "--metrics answer"),
    ],
)
def test_evidence_that_was_never_asked_for_is_named_with_the_option_that_collects_it(
    metric: str, option: str, tmp_path: Path
) -> None:
    found = overall_of(run(tmp_path / "run.sqlite", config_for("faithfulness"), inputs(3)), metric)[metric]
    assert (found.value, found.n_scored, found.n_not_applicable, found.n_failed) == (None, 0, 3, 0)
    assert found.reasons == {f"evidence_not_collected: offline-eval run … {option}": 3}


def test_evidence_that_was_asked_for_and_did_not_come_is_still_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with pytest.raises(KeyboardInterrupt):
        run(path, config_for("claims"), inputs(9), encoders=Encoders(Judges(), stop_at=1))
    found = overall_of(RunFile(path), "faithfulness")["faithfulness"]
    assert (found.value, found.n_not_applicable, found.reasons) == (None, 0, {"not_checked": 9})


def test_a_system_that_failed_is_not_excused_by_evidence_nobody_asked_for(tmp_path: Path) -> None:
    cases, responses = inputs(3)
    responses[0] = responses[0].model_copy(update={"error": "time-out", "answer": ""})
    found = overall_of(run(tmp_path / "run.sqlite", config_for("faithfulness"), (cases, responses)), "citation_recall")
    assert (found["citation_recall"].n_not_applicable, found["citation_recall"].n_failed) == (2, 1)
    assert found["citation_recall"].reasons["response_error"] == 1


def test_a_metric_that_some_responses_have_keeps_its_failures_so_that_no_mean_rises() -> None:
    common = {"metric": "citation_recall", "cluster": "c", "system": "s"}
    lacking = Score(**common, response_key="b", status=Status.FAILED, reason="not_checked")
    some = {"a": Score(**common, response_key="a", status=Status.SCORED, value=1.0), "b": lacking}
    assert name_uncollected({"citation_recall": some}, config_for("claims")) == {"citation_recall": some}
    none = name_uncollected({"citation_recall": {"b": lacking}}, config_for("claims"))
    assert none["citation_recall"]["b"].status is Status.NOT_APPLICABLE


def test_a_failed_encoder_call_fails_its_response_alone_and_never_raises_the_mean(tmp_path: Path) -> None:
    judges = Judges()
    encoders = Encoders(judges, fail_on="get 3 days")
    summary = summarize(Results(run(tmp_path / "run.sqlite", config_for("faithfulness"), inputs(), encoders=encoders)))
    found = next(e for e in summary.estimates if e.group == "all")
    assert (found.n_scored, found.n_failed, found.reasons) == (9, 1, {"engine_error: boom": 1})
    # "You get n days." is supported in the nine others; the failed one counts as 0.
    assert (found.mean_scored, found.value) == (1.0, 0.9)
    assert summary.failed_scores_share == 0.1


def test_group_metrics_are_scored_once_a_case(tmp_path: Path) -> None:
    case = make_case("c1", variants=("How much leave?",))
    answers = ["You get 28 days.", "You get 28 days.", "No idea about that."]
    given = [make_response("c1", answer=answers[0]), make_response("c1", answer=answers[2], variant=0)]
    run_file = run(tmp_path / "run.sqlite", config_for("robustness"), ([case], given))
    results = Results(run_file)
    assert list(results.scores["variant_answer_drift"]) == ["system/c1"]
    # Four words each, none in common.
    assert results.scores["variant_answer_drift"]["system/c1"].value == 1.0
    assert results.scores["attempt_answer_drift"]["system/c1"].reason == "nothing_to_compare"
    assert next(e.n for e in summarize(results).estimates if e.metric == "variant_answer_drift") == 1


def test_the_plan_counts_the_pairs_without_loading_anything(tmp_path: Path) -> None:
    plan = estimate_plan(config_for("claims"), pair(*inputs(5)))
    # A response: its claim and the reference's, each with the passage and with the other text.
    assert (plan.encoder_pairs, plan.model_calls, plan.model_loads, plan.verdicts) == (20, 0, 1, 0)


def graded(path: Path, *, n: int = 60, **options: Any) -> tuple[RunFile, Judges]:
    judges = Judges()
    cases, responses = inputs(n)
    for number in range(0, n, 3):  # nothing of a third stands in the passages, of the rest a half or all
        responses[number] = responses[number].model_copy(update={"answer": "Zebras swim quickly."})
    for number in range(1, n, 3):
        text = responses[number].passages[0].text
        responses[number] = responses[number].model_copy(update={"answer": f"Indeed {text}"})
    config = config_for("panel", screen=(0.1, 0.7), reasons="none")
    return run(path, config, (cases, responses), judges=judges, **options), judges


def test_the_screen_settles_clear_answers_and_only_the_doubtful_ones_are_judged(tmp_path: Path) -> None:
    run_file, judges = graded(tmp_path / "run.sqlite")
    summary = summarize(Results(run_file))
    screen = summary.screen
    assert screen is not None
    asked = sum(dimension_of(request) == "faithfulness" for _, request in judges.requests)
    assert (screen.settled, screen.asked) == (40, 60)
    assert asked == 60 - screen.calls_saved
    assert 0 < screen.control == 40 - screen.calls_saved
    # The other dimensions are judged throughout.
    assert sum(dimension_of(request) == "relevance" for _, request in judges.requests) == 60
    assert not any("not finished" in warning for warning in summary.warnings)


def test_a_settled_answer_has_the_screens_grade_and_a_judged_one_the_judges(tmp_path: Path) -> None:
    results = Results(graded(tmp_path / "run.sqlite")[0])
    for key, evidence in results.evidence.items():
        verdicts = [p for p in evidence if isinstance(p, VerdictEvidence) and p.dimension == "faithfulness"]
        by_role = {piece.role: piece.verdict.grade for piece in verdicts}
        wanted = by_role.get("examiner", by_role.get("screen"))
        assert results.verdicts[key].grades["faithfulness"] == wanted
    grades = {p.verdict.grade for p in results.pieces() if isinstance(p, VerdictEvidence) and p.role == "screen"}
    assert grades == {1.0, 3.0}


def test_saving_and_agreement_are_printed(tmp_path: Path) -> None:
    summary = summarize(Results(graded(tmp_path / "run.sqlite")[0]))
    lines = next(section.lines for section in sections(summary) if section.title == "Staged evaluation")
    assert summary.screen is not None
    assert f"settled 40 of 60 answers; {summary.screen.calls_saved} of them" in lines[0]
    assert f"of {summary.screen.control} verdicts" in lines[1]


def test_many_metrics_stand_below_each_other(tmp_path: Path) -> None:
    summary = summarize(Results(run(tmp_path / "run.sqlite", config_for("claims", "context"), inputs(3))))
    scores = next(section for section in sections(summary) if section.title == "Scores")
    assert scores.columns == ("metric", "system")
    assert [row[0] for row in scores.rows] == list(config_for("claims", "context").metrics)


def test_evidence_is_stored_and_read_back_whole(tmp_path: Path) -> None:
    run_file = run(tmp_path / "run.sqlite", config_for("all"), inputs(2))
    kinds = {piece.kind for piece in run_file.evidence()}
    assert kinds == {
        "answerability",
        "citations",
        "claims",
        "contradiction",
        "entailment",
        "entities",
        "questions",
        "reason",
        "refusal",
        "similarity",
        "verdict",
    }
    assert sum(isinstance(piece, EntailmentEvidence) for piece in run_file.evidence()) == 2 * 6
