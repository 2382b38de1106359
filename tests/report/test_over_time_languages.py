"""What compare, gate, history and feedback say in Chinese: the words change, names and figures stay."""

import json
import re
from typing import get_args

import pytest

from offline_eval.core.comparison import Difference
from offline_eval.core.gate import Bound, GateReport, GateResult, Requirement, Why, WhyCode
from offline_eval.core.history import History, RunPoint, Series
from offline_eval.core.results import Estimate, Interval
from offline_eval.core.suggestion import Suggestion
from offline_eval.core.user_feedback import FeedbackReport, Following, Satisfaction
from offline_eval.pipeline.compare import compare
from offline_eval.report.comparison import comparison_sections
from offline_eval.report.feedback import feedback_sections
from offline_eval.report.gates import gate_document, gate_sections, why_text
from offline_eval.report.history import figures, history_document, history_sections, history_title
from offline_eval.report.html_texts import LANGUAGES, Language, Words
from offline_eval.report.json_document import render_data, render_record
from offline_eval.report.markdown import render_sections
from offline_eval.report.page import render_page
from offline_eval.report.sections import Section
from offline_eval.report.suggested_gates import render
from tests.support.scored_sides import FAILED, make_side

JUDGES = Difference(what="judges", detail="x and y")
INTERVAL = Interval(low=0.5, high=0.9, level=0.95, method="by hand")
_FIGURE = re.compile(r"\d+(?:\.\d+)?")


def compared(language: Language) -> list[Section]:
    old = make_side({"faithfulness": [0.2, 0.4] * 20 + [FAILED, None], "hallucination": [0.5] * 42}, system="旧")
    new = make_side({"faithfulness": [0.9, 0.8] * 20 + [0.5, 0.5], "hallucination": [0.5] * 42}, system="新")
    return comparison_sections(compare([old, new], seed=1), language=language)


def gate_report() -> GateReport:
    common = {"system": "新", "slice": "all", "value": 0.7, "interval": INTERVAL, "n": 10, "n_failed": 1}
    missed = Why(code="missed_of", values={"held": 0.5, "metric": "faithfulness"})
    results = (
        GateResult(gate="a", required=Requirement(bound="value", sign="≤", limit=0.3), outcome="passed", **common),
        GateResult(
            gate="b",
            required=Requirement(bound="lower bound", sign="≥", limit=0.8),
            outcome="failed",
            reason=missed,
            **common,
        ),
        GateResult(
            gate="c",
            required=Requirement(bound="upper bound", sign="≤", limit=0.2),
            outcome="undetermined",
            reason=Why(code="no_pair"),
            **common,
        ),
    )
    notes = (Difference(what="test set", detail="1 cases changed (a)"),)
    return GateReport(run_id="r1", baseline="r0", passed=False, results=results, notes=notes)


def gated(language: Language) -> list[Section]:
    return gate_sections(gate_report(), language=language)


def remembered() -> History:
    def estimate(value: float) -> Estimate:
        counts = {"n_scored": 9, "n_not_applicable": 0, "n_failed": 1}
        return Estimate(metric="m", system="s", value=value, interval=INTERVAL, **counts)

    runs = (
        RunPoint(file="a", changed="2026-01-01", run_id="r0", systems=("s",), n_cases=9, estimates=(estimate(0.6),)),
        RunPoint(file="b", changed="2026-01-02", run_id="r1", systems=("s",), n_cases=9, changes=(JUDGES,)),
        RunPoint(file="c", changed="2026-01-03", problem="no run"),
    )
    points = ((0, estimate(0.6)), (1, estimate(0.8)))
    return History(
        folder="runs", runs=runs, series=(Series(system="s", metric="m", points=points, breaks=(1,), low=0, high=1),)
    )


def followed(language: Language) -> list[Section]:
    users = Satisfaction(system="s", up=3, down=1, neutral=0, n_responses=5, share=0.75, interval=INTERVAL)
    row = {"system": "s", "metric": "m", "correlation": -0.4, "interval": INTERVAL, "n": 4, "n_unscored": 1}
    against = Following(**row, reading="against", fell=True, drifts=True)
    report = FeedbackReport(run_id="r1", earlier_run="r0", satisfaction=(users,), following=(against,))
    return feedback_sections(report, language=language)


@pytest.mark.parametrize(
    "shown", [compared, gated, lambda language: history_sections(remembered(), language=language), followed]
)
def test_both_languages_show_the_same_tables_with_the_same_figures(shown) -> None:
    english, chinese = shown("en"), shown("zh")
    for one, other in zip(english, chinese, strict=True):
        assert (len(one.columns), len(one.lines)) == (len(other.columns), len(other.lines))
        assert [[_FIGURE.findall(cell) for cell in row] for row in one.rows] == [
            [_FIGURE.findall(cell) for cell in row] for row in other.rows
        ]
        said = re.sub(r"[A-Za-z_]*[a-z]_[a-z_]*", "", f"{other.title}{''.join(other.columns)}")  # names of metrics
        assert re.search(r"[\u4e00-\u9fff]", said), other.title


def test_a_chinese_comparison_gives_its_verdicts_in_chinese() -> None:
    overview, metrics, moved = compared("zh")
    assert (overview.title, [row[1] for row in overview.rows]) == ("对比", ["基线", "候选"])
    assert metrics.title == "新 对比 旧"
    assert [row[:2] for row in metrics.rows] == [("faithfulness", "更好"), ("hallucination（越低越好）", "无法判断")]
    assert "faithfulness：失败：基线 1 项，候选 0 项" in metrics.lines
    assert moved.title == "按 faithfulness 变化最大的用例：新"
    assert moved.rows[0][2].endswith("（更好）")


def test_chinese_gates_say_what_was_required_and_what_was_held_against_it() -> None:
    gates, notes = gated("zh")
    assert gates.title == "门槛未通过：3 项中 1 项达到（运行 r1，与运行 r0 比较差值）"
    assert [(row[0], row[3]) for row in gates.rows] == [
        ("通过", "数值 ≤ 0.3"),
        ("未通过", "区间下限 ≥ 0.8"),
        ("无法判定", "区间上限 ≤ 0.2"),
    ]
    assert gates.rows[1][-1] == "区间界限 0.5 (faithfulness)，要求 区间下限 ≥ 0.8"
    assert gates.rows[2][-1] == "没有任何一对在两侧都有评分"
    assert notes.lines == ("测试集: 1 cases changed (a)",)


WHYS = [
    (Why(code="missed", values={"held": 0.82561}), "bound 0.8256, required lower bound ≥ 0.85"),
    (
        Why(code="missed_of", values={"held": 0.5, "metric": "mrr"}),
        "bound 0.5 (mrr), required lower bound ≥ 0.85",
    ),
    (
        Why(code="no_interval", values={"why": "no values"}),
        "no interval: no values; take more cases, or `use: value`",
    ),
    (Why(code="empty_slice", values={"slice": "tag={x}"}), "no response in slice tag={x}"),
    (
        Why(code="nothing_scored", unscored=(("failed", "time_limit: 60 s"), ("not_applicable", "no_reference"))),
        "nothing was scored (failed: time_limit: 60 s; not_applicable: no_reference)",
    ),
    (Why(code="applies_nowhere"), "no metric applies to any response"),
    (Why(code="no_verdicts"), "the run has no judges' verdicts, so nothing could be sent to review"),
    (Why(code="no_baseline"), "no baseline with this system; give --baseline RUN or RUN:SYSTEM"),
    (Why(code="no_pair"), "no pair was scored on both sides"),
    (Why(code="no_worst_value"), "a failed item has no worst value on this metric's range"),
]


def stopped_by(why: Why, *, bound: Bound = "lower bound") -> GateResult:
    required = Requirement(bound=bound, sign="≥", limit=0.85)
    counts = {"value": None, "interval": None, "n": 0, "n_failed": 0}
    return GateResult(
        gate="g", required=required, system="s", slice="all", outcome="undetermined", reason=why, **counts
    )


@pytest.mark.parametrize(("why", "sentence"), WHYS)
def test_every_reason_is_a_sentence_in_english_and_another_in_chinese(why: Why, sentence: str) -> None:
    english, chinese = (why_text(stopped_by(why), Words(language)) for language in ("en", "zh"))
    assert english == sentence
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    assert _FIGURE.findall(chinese) == _FIGURE.findall(sentence)


def test_every_code_has_a_wording() -> None:
    assert {why.code for why, _ in WHYS} == set(get_args(WhyCode))
    for language in LANGUAGES:
        assert set(Words(language).gate["why"]) == set(get_args(WhyCode))
        assert set(get_args(Bound)) <= set(Words(language).gate["bounds"])


def test_a_missed_value_is_not_called_a_bound_and_reasons_of_scores_are_said_in_chinese() -> None:
    missed = stopped_by(Why(code="missed", values={"held": 0.5}), bound="value")
    assert why_text(missed, Words("en")) == "value 0.5, required value ≥ 0.85"
    assert why_text(missed, Words("zh")) == "数值 0.5，要求 数值 ≥ 0.85"
    unscored = stopped_by(WHYS[4][0])
    assert why_text(unscored, Words("zh")) == "没有任何评分（失败: 超时: 60 s; 不适用: 没有参考答案）"


def test_programs_read_the_same_english_document_whatever_the_wording_is_made_of() -> None:
    found = json.loads(gate_document(gate_report()))
    assert list(found) == ["run_id", "baseline", "passed", "results", "notes"]
    assert [(row["required"], row["reason"]) for row in found["results"]] == [
        ("value ≤ 0.3", None),
        ("lower bound ≥ 0.8", "bound 0.5 (faithfulness), required lower bound ≥ 0.8"),
        ("upper bound ≤ 0.2", "no pair was scored on both sides"),
    ]
    assert found["notes"] == ["test set: 1 cases changed (a)"]
    runs = json.loads(history_document(remembered()))["runs"]
    assert [run["changes"] for run in runs] == [[], ["judges: x and y"], []]


def test_a_document_of_data_has_the_bytes_of_the_record() -> None:
    record = Interval(low=1e-07, high=1e16, level=0.95, method="拒绝\u202e\x1b")
    assert render_data(record.model_dump(mode="json")) == render_record(record)


def test_a_chinese_history_names_its_marks_in_tables_and_drawings() -> None:
    overview, trends, _ = history_sections(remembered(), language="zh")
    assert overview.title == history_title(remembered(), language="zh") == "runs 的历史"
    assert [row[-1] for row in overview.rows] == ["", "评审: x and y", "无法读取：no run"]
    assert trends.title == "趋势"
    (figure,) = figures(remembered(), language="zh")
    assert "<title>评审: x and y</title>" in figure.svg
    assert "s 的 m，共 3 次运行" in figure.svg
    assert "最早" in figure.svg


def test_chinese_feedback_says_which_metrics_do_not_stand_for_users() -> None:
    satisfaction, following = followed("zh")
    assert satisfaction.title == "用户满意度，运行 r1"
    assert following.rows[0][-1] == "相反，下降 ⚠"
    assert following.lines[1] == "在这里不能代表用户：m (s)"


def test_a_chinese_proposal_of_gates_is_still_the_same_gates_file() -> None:
    from offline_eval.core.yaml_text import parse_yaml

    counts = {"n_fit": 20, "n_report": 20, "n_unscored": 2}
    proposed = [
        Suggestion(metric="m", case_at_least=0.5, at_least=0.8, precision=0.9, recall=0.7, separation=0.8, **counts),
        Suggestion(metric="k", reason="too few labels", **counts),
    ]
    english, chinese = render(proposed), render(proposed, language="zh")
    assert parse_yaml(chinese, "x").data == parse_yaml(english, "x").data
    assert "# m：通过的用例中 90% 可接受，可接受的用例中 70% 通过；区分度 0.8" in chinese


def test_a_chinese_page_says_that_it_is_chinese() -> None:
    assert '<html lang="zh-CN">' in render_page("对比", compared("zh"), language="zh")
    assert '<html lang="en">' in render_page("Comparison", compared("en"))
    assert "对比" in render_sections(compared("zh"))
