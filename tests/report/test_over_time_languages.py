"""What compare, gate, history and feedback say in Chinese: the words change, names and figures stay."""

import re

import pytest

from offline_eval.core.gate import GateReport, GateResult
from offline_eval.core.history import History, RunPoint, Series
from offline_eval.core.results import Estimate, Interval
from offline_eval.core.suggestion import Suggestion
from offline_eval.core.user_feedback import FeedbackReport, Following, Satisfaction
from offline_eval.pipeline.compare import compare
from offline_eval.report.comparison import comparison_sections
from offline_eval.report.feedback import feedback_sections
from offline_eval.report.gates import gate_sections
from offline_eval.report.history import figures, history_sections, history_title
from offline_eval.report.html_texts import Language
from offline_eval.report.markdown import render_sections
from offline_eval.report.page import render_page
from offline_eval.report.sections import Section
from offline_eval.report.suggested_gates import render
from tests.support.scored_sides import FAILED, make_side

INTERVAL = Interval(low=0.5, high=0.9, level=0.95, method="by hand")
_FIGURE = re.compile(r"\d+(?:\.\d+)?")


def compared(language: Language) -> list[Section]:
    old = make_side({"faithfulness": [0.2, 0.4] * 20 + [FAILED, None], "hallucination": [0.5] * 42}, system="旧")
    new = make_side({"faithfulness": [0.9, 0.8] * 20 + [0.5, 0.5], "hallucination": [0.5] * 42}, system="新")
    return comparison_sections(compare([old, new], seed=1), language=language)


def gated(language: Language) -> list[Section]:
    common = {"system": "新", "slice": "all", "value": 0.7, "interval": INTERVAL, "n": 10, "n_failed": 1}
    results = (
        GateResult(gate="a", required="value ≤ 0.3", outcome="passed", **common),
        GateResult(
            gate="b",
            required="lower bound ≥ 0.8",
            outcome="failed",
            reason="bound 0.5 (faithfulness), required lower bound ≥ 0.8",
            **common,
        ),
        GateResult(gate="c", required="upper bound ≤ 0.2", outcome="undetermined", reason="no pair", **common),
    )
    notes = ("test set: 1 cases changed (a)",)
    report = GateReport(run_id="r1", baseline="r0", passed=False, results=results, notes=notes)
    return gate_sections(report, language=language)


def remembered() -> History:
    def estimate(value: float) -> Estimate:
        counts = {"n_scored": 9, "n_not_applicable": 0, "n_failed": 1}
        return Estimate(metric="m", system="s", value=value, interval=INTERVAL, **counts)

    runs = (
        RunPoint(file="a", changed="2026-01-01", run_id="r0", systems=("s",), n_cases=9, estimates=(estimate(0.6),)),
        RunPoint(file="b", changed="2026-01-02", run_id="r1", systems=("s",), n_cases=9, changes=("judges: x and y",)),
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
    assert gates.rows[2][-1] == "no pair"  # what the data say in words stays as it is stored
    assert notes.lines == ("测试集: 1 cases changed (a)",)


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
