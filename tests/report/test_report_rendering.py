"""Reports say everything once, in three forms, and text that others wrote stays text."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from offline_eval.core.protocols import Failure, GenerateRequest, Generation
from offline_eval.core.results import Estimate, Interval
from offline_eval.core.summary import RunSummary
from offline_eval.engines.scripted import pick
from offline_eval.pipeline.aggregate import Results, summarize
from offline_eval.report import json_document, markdown, terminal
from offline_eval.report.numbers import estimate_text, interval_text, percent, three
from offline_eval.report.sections import Section, sections
from offline_eval.report.visible import visible
from tests.support.panel_runs import Judges, asks_label, execute, make_case, make_config, make_response, passages

HOSTILE = (
    "\x1b[31mred\x07 \u202egnihton\u202c \x9b2J | <script>alert(1)</script> `x` [a](http://evil.example) &lt; $x$ ~~y~~"
)
CHINESE = "员工每年享有二十八天带薪年假，入职满五年后增加到三十天。"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


def judge(request: GenerateRequest) -> Generation | Failure:
    if not asks_label(request):
        tail = json.dumps({"evidence": HOSTILE[:80], "reason": HOSTILE}, ensure_ascii=False)[1:]
        return Generation(text=tail, prompt_tokens=1000, output_tokens=10)
    text = request.messages[1].content
    if "LATE" in text:
        return Failure(reason="time_limit", detail="no answer within 60 s")
    return pick(request, "1" if "script" in text else "3", probability=0.5 if "CLOSE" in text else 0.9)


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> RunSummary:
    cases = [make_case(f"c{place}", query_type="factual") for place in range(6)]
    cases[1] = make_case("c1", query=HOSTILE, query_type=HOSTILE)
    cases[2] = make_case("c2", query="年假有几天？", query_type="open")
    cases[3] = make_case("c3", answerable=False)
    answers = ["28 days", HOSTILE, CHINESE, "The documents do not say.", "LATE", "CLOSE"]
    responses = [
        make_response(case.id, answer=answer, passages=passages(CHINESE), system=system)
        for case, answer in zip(cases, answers, strict=True)
        for system in ("ours", "bad|<b>\x1b]0;title\x07")
    ]
    run_file = execute(
        tmp_path_factory.mktemp("run") / "r.sqlite", make_config(), cases, responses, Judges({"judge": judge})
    )
    return summarize(Results(run_file))


def section(summary: RunSummary, title: str) -> Section:
    return next(found for found in sections(summary) if found.title.startswith(title))


# --- hostile text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 100, 160])
def test_the_terminal_shows_no_control_or_direction_character(summary: RunSummary, width: int) -> None:
    text = terminal.render(summary, width=width)
    assert CONTROL.findall(text) == []
    assert "\\x1b[31mred" in terminal.render(summary, width=400)


def test_colours_are_the_only_escapes_of_a_coloured_terminal(summary: RunSummary) -> None:
    text = terminal.render(summary, width=120, color=True)
    assert "\x1b[1m" in text
    assert CONTROL.findall(re.sub(r"\x1b\[[0-9;]*m", "", text)) == []
    assert "\x1b[31m" not in text


@pytest.mark.parametrize("width", [60, 100, 160])
def test_no_line_is_wider_than_the_terminal_in_chinese_either(summary: RunSummary, width: int) -> None:
    text = terminal.render(summary, width=width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "员工每年" in terminal.render(summary, width=200)


def test_every_markdown_row_has_as_many_cells_as_its_header(summary: RunSummary) -> None:
    text = markdown.render(summary)
    assert CONTROL.findall(text) == []
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) >= 7
    for table in tables:
        cells = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table.splitlines()}
        assert len(cells) == 1, table


def test_markdown_holds_no_markup_of_the_data(summary: RunSummary) -> None:
    text = markdown.render(summary)
    assert "script" in text
    for mark in ("<", ">", "`", "[", "]", "$", "~"):
        assert not re.search(rf"(?<!\\){re.escape(mark)}", text), mark
    assert "http://" not in text
    assert len(re.findall(r"^## ", text, re.MULTILINE)) == len(sections(summary))


def test_json_keeps_the_data_and_escapes_what_a_terminal_would_obey(summary: RunSummary) -> None:
    text = json_document.render(summary)
    assert CONTROL.findall(text) == []
    assert RunSummary.model_validate_json(text) == summary
    views = json.loads(text)["worst"]
    assert HOSTILE in [view["answer"] for view in views]
    assert "员工每年" in text  # Chinese stays readable


@given(st.text())
def test_visible_text_holds_nothing_unseen_and_leaves_the_rest_alone(text: str) -> None:
    shown = visible(text)
    assert CONTROL.findall(shown) == []
    assert "\n" not in shown
    if all(char.isprintable() for char in text):
        assert shown == text


def test_visible_keeps_chinese_spaces_and_spells_out_marks() -> None:
    assert visible("第一章\u3000总则 é\u00a0!") == "第一章\u3000总则 é\u00a0!"
    assert visible("a\x1b\u202e\U000e0041") == "a\\x1b\\u202e\\ue0041"


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_any_answer_survives_json(text: str) -> None:
    view = _views(text)
    assert RunSummary.model_validate_json(json_document.render(view)) == view


def _views(text: str) -> RunSummary:
    return RunSummary(
        run_id="r",
        head="0" * 64,
        panel="p",
        weights={},
        weights_by_query_type={},
        judges={},
        engine="scripted",
        dtype="none",
        seed=0,
        cases_hash="0",
        responses_hash="0",
        n_cases=0,
        n_responses=0,
        systems=(text,),
        estimates=(),
        labels={},
        level_names={},
        correlations=(),
        refusals=(),
        judge_counts=(),
        n_verdicts=0,
        n_failed=0,
        n_not_applicable=0,
        by_rule=0,
        review=(),
        review_share=0,
        review_shares={},
        worst=(),
        advice=(text,),
        warnings=(),
    )


# --- what a report says ----------------------------------------------------------------------------------------------


def test_total_and_each_dimension_stand_side_by_side(summary: RunSummary) -> None:
    scores = section(summary, "Scores")
    assert scores.columns == ("system", "total_grade", "faithfulness_grade", "relevance_grade", "completeness_grade")
    # Five of six apply, one failed and counts as 1: (3 + 1 + 3 + 3 + 1) / 5 = 2.2; the hostile answer is graded 1.
    assert scores.rows[0][0] == "ours"
    assert scores.rows[0][3].startswith("2.2 ")
    assert scores.rows[0][3].endswith(" 4/6")


def test_the_way_intervals_are_made_is_said_once_and_without_the_number_of_clusters() -> None:
    def made(system: str, method: str) -> Estimate:
        interval = Interval(low=1, high=2, level=0.95, method=method, seed=0)
        return Estimate(
            metric="total_grade",
            system=system,
            value=1.5,
            interval=interval,
            n_scored=9,
            n_not_applicable=0,
            n_failed=0,
        )

    several = [
        made("a", "bootstrap over 58 clusters, expanded percentiles, 2000 resamples"),
        made("b", "bootstrap over 60 clusters, expanded percentiles, 2000 resamples"),
        made("c", "Wilson"),
    ]
    lines = section(_views("x").model_copy(update={"estimates": several, "systems": ("a", "b", "c")}), "Scores").lines
    assert [line for line in lines if line.startswith("intervals: ")] == [
        "intervals: Wilson; bootstrap over cases, expanded percentiles, 2000 resamples"
    ]


def test_what_was_not_scored_is_named_with_its_reasons_and_the_mean_without_it(summary: RunSummary) -> None:
    lines = section(summary, "Scores").lines
    # Each dimension: 3, 1, 3, 3 and one failed: 10 / 4 without it.
    assert (
        "ours, faithfulness_grade, relevance_grade, completeness_grade: 1 not applicable, 1 failed "
        "(1 × correct_refusal, 1 × time_limit: no answer within 60 s); "
        "the failed ones count as the worst value, without them the mean is 2.5"
    ) in lines


def test_many_reasons_are_counted_and_not_listed() -> None:
    reasons = {f"engine_error: {place} {'x' * 200}": 1 for place in range(9)}
    lone = Estimate(
        metric="m", system="a", value=None, interval=None, n_scored=0, n_not_applicable=0, n_failed=9, reasons=reasons
    )
    lines = section(_views("x").model_copy(update={"estimates": [lone], "systems": ("a",)}), "Scores").lines
    (line,) = [line for line in lines if "9 failed" in line]
    assert line.endswith("6 other reasons)")
    assert len(line) < 400


def test_missing_dimensions_are_named_where_grades_are_shown(summary: RunSummary) -> None:
    review = {row[0]: row for row in section(summary, "For review").rows}
    assert "relevance – (time_limit: no answer within 60 s)" in review["ours/c4"][1]
    assert "failed: relevance" in review["ours/c4"][2]


def test_review_is_given_as_a_share_of_all_responses_and_by_rule(summary: RunSummary) -> None:
    # .5 against .25 is a margin of .25: no review. Two responses of twelve failed.
    assert (
        section(summary, "For review")
        .lines[0]
        .startswith("2 of 12 responses (16.7 %) should be looked at: failed 16.7 %")
    )


def test_the_worst_cases_come_with_query_answer_and_reasons(summary: RunSummary) -> None:
    worst = section(summary, "Lowest totals")
    assert worst.columns == ("response", "total", "grades", "query", "answer", "reasons")
    first = worst.rows[0]
    assert first[1:3] == ("1", "faithfulness 1; relevance 1; completeness 1")
    assert "faithfulness (judge): " in first[5]


def test_long_text_is_cut_with_a_mark() -> None:
    run = section_of_worst("字" * 500)
    assert run.endswith("字…")
    assert len(run) == 160


def section_of_worst(answer: str) -> str:
    from offline_eval.core.summary import ResponseView

    view = ResponseView(
        response_key="s/c",
        case_id="c",
        system="s",
        language="zh",
        query_type="open",
        query="q",
        answer=answer,
        total=1.0,
    )
    return section(_views("x").model_copy(update={"worst": (view,)}), "Lowest totals").rows[0][4]


def test_a_judge_that_always_gives_the_same_label_is_doubted(tmp_path: Path) -> None:
    cases = [make_case(f"c{place}") for place in range(10)]
    judges = Judges({"judge": lambda request: pick(request, "3")})
    config = make_config(reasons="none")
    run_file = execute(tmp_path / "r.sqlite", config, cases, [make_response(case.id) for case in cases], judges)
    lines = section(summarize(Results(run_file)), "Warnings").lines
    assert [line.split(":")[0] for line in lines] == [
        f"judge gave 10 of 10 responses the same {dimension} label (3)"
        for dimension in ("completeness", "faithfulness", "relevance")
    ]


def test_a_run_without_responses_has_a_report_without_numbers(tmp_path: Path) -> None:
    empty = summarize(Results(execute(tmp_path / "r.sqlite", make_config(), [], [])))
    for text in (terminal.render(empty), markdown.render(empty), json_document.render(empty)):
        assert "nothing was scored" in text
        assert "nan" not in text.lower().replace("finance", "")
    assert [found.title for found in sections(empty) if found.title != f"Run {empty.run_id}"] == [
        "Correlation of dimensions (Spearman)",
        "Size of the test set",
        "Warnings",
    ]


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (2, "2"),
        (2.345, "2.35"),  # 2.345 is a little above in binary
        (0.04567, "0.0457"),
        (-0.5, "-0.5"),
        (1234.5, "1230"),
        (9999, "10000"),
        (12345, "1.23e+04"),
        (0.00001, "1.00e-05"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert three(value) == text


def test_a_mean_comes_with_interval_and_counts() -> None:
    interval = Interval(low=2.181, high=2.4449, level=0.95, method="m")
    known = Estimate(metric="m", system="s", value=2.31, interval=interval, n_scored=58, n_not_applicable=2, n_failed=0)
    assert estimate_text(known) == "2.31 [2.18, 2.44] 58/60"
    unknown = Estimate(metric="m", system="s", value=None, interval=None, n_scored=0, n_not_applicable=2, n_failed=1)
    assert estimate_text(unknown) == "– 0/3"
    assert interval_text(None) == "–"
    assert percent(0.0512) == "5.12 %"
