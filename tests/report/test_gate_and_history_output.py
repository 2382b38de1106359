"""Gates as JUnit and Markdown, comparisons and histories as tables, pages and drawings; strange text stays text."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.core.comparison import Difference
from offline_eval.core.gate import GateReport, GateResult, Requirement, Why
from offline_eval.core.history import History, RunPoint, Series
from offline_eval.core.results import Estimate, Interval
from offline_eval.pipeline.compare import compare
from offline_eval.report.comparison import comparison_sections
from offline_eval.report.gates import gate_sections
from offline_eval.report.history import figures, history_sections, sparkline
from offline_eval.report.junit import render
from offline_eval.report.markdown import render_sections
from offline_eval.report.page import render_page
from offline_eval.report.sections import Section
from tests.support.junit_schema import check_junit
from tests.support.scored_sides import FAILED, make_side

HOSTILE = "</title><script>alert(1)</script> & \x1b[31m \u202e]]> \x00 \ud7ff 拒绝"


def gate_report(*outcomes: str, text: str = "gate", reason: str | None = None) -> GateReport:
    results = tuple(
        GateResult.model_validate(
            {
                "gate": text,
                "required": Requirement(bound="lower bound", sign="≥", limit=0.8),
                "system": text,
                "slice": "all",
                "outcome": outcome,
                "value": None if outcome == "undetermined" else 0.9,
                "interval": None,
                "n": 10,
                "n_failed": 1,
                "reason": None if outcome == "passed" else Why(code="no_interval", values={"why": reason or "few"}),
            }
        )
        for outcome in outcomes
    )
    return GateReport(
        run_id="abc", baseline=None, passed=all(outcome == "passed" for outcome in outcomes), results=results
    )


@pytest.mark.parametrize("outcomes", [(), ("passed",), ("passed", "failed", "undetermined"), ("undetermined",) * 3])
def test_junit_has_one_case_a_gate_and_a_failure_for_each_that_did_not_pass(outcomes: tuple[str, ...]) -> None:
    root = check_junit(render(gate_report(*outcomes)))
    assert len(root.findall(".//testcase")) == len(outcomes)
    assert [f.attrib["type"] for f in root.findall(".//failure")] == [one for one in outcomes if one != "passed"]


def test_a_schema_check_that_finds_nothing_wrong_would_be_no_check() -> None:
    text = render(gate_report("failed"))
    for broken in (
        text.replace('failures="1"', 'failures="0"'),
        text.replace("classname=", "class="),
        text.replace("<failure", "<fault").replace("</failure", "</fault"),
    ):
        with pytest.raises(AssertionError):
            check_junit(broken)


@settings(max_examples=60)
@given(text=st.text(min_size=1), reason=st.text(min_size=1))
def test_any_text_gives_readable_junit(text: str, reason: str) -> None:
    check_junit(render(gate_report("passed", "failed", text=text, reason=reason)))


def test_hostile_names_stay_text_in_junit_and_markdown() -> None:
    report = gate_report("failed", text=HOSTILE, reason=HOSTILE)
    root = check_junit(render(report))
    name = root.find(".//testcase").attrib["name"]
    assert name.startswith("</title><script>")
    assert "\\x1b" in name
    assert "拒绝" in name
    text = render_sections(gate_sections(report))
    assert not re.search(r"(?<!\\)<", text)
    assert text.startswith("## Gates failed: 0 of 1 (run abc)")


def test_a_comparison_is_readable_in_a_table_and_says_what_it_leaves_out() -> None:
    old = make_side({"faithfulness": [0.2, 0.4] * 20 + [FAILED, None], "mrr": [1.0] * 42}, system="旧系统")
    new = make_side({"faithfulness": [0.9, 0.8] * 20 + [0.5, 0.5], "claim_f1": [1.0] * 42}, system="新系统")
    found = comparison_sections(compare([old, new], seed=1))
    metrics = next(section for section in found if section.title == "新系统 against 旧系统")
    assert metrics.rows[0][:2] == ("faithfulness", "better")
    assert metrics.rows[0][5] == "41/0/0"
    text = render_sections(found)
    assert "faithfulness: failed: 1 of the baseline's, 0 of the candidate's" in text.replace("\\", "")
    assert "1 pairs left out" in text
    assert "not every side has them: mrr, claim\\_f1" in text
    assert "新系统 answers c000" in text


def test_a_page_holds_no_script_no_outside_address_and_no_markup_of_the_data() -> None:
    section = Section(title=HOSTILE, columns=(HOSTILE,), rows=((HOSTILE,),), lines=(HOSTILE, "http://evil.example/x"))
    page = render_page(HOSTILE, [section])
    assert "<script" not in page
    assert not re.search(r"(?:src|href)\s*=|url\(|@import", page)
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "拒绝" in page


def estimate(value: float | None) -> Estimate:
    interval = None if value is None else Interval(low=value - 0.1, high=value + 0.1, level=0.95, method="by hand")
    return Estimate(metric="m", system="s", value=value, interval=interval, n_scored=9, n_not_applicable=0, n_failed=1)


def history(*values: float | None, breaks: tuple[int, ...] = ()) -> History:
    runs = tuple(
        RunPoint(
            file=f"r{n}.sqlite",
            changed="2026-01-01T00:00:00+00:00",
            run_id=f"r{n}",
            systems=("s",),
            n_cases=10,
            estimates=(estimate(value),),
            changes=(Difference(what="judges", detail="<a> and <b>"),) if n in breaks else (),
        )
        for n, value in enumerate(values)
    )
    points = tuple((n, estimate(value)) for n, value in enumerate(values))
    series = Series(system="s", metric="m", points=points, breaks=breaks, low=0, high=1)
    return History(folder="runs", runs=runs, series=(series,))


def test_a_sparkline_has_a_mark_a_run_within_the_whole_range_and_shows_gaps_and_breaks() -> None:
    one = history(0.0, 0.5, 1.0, None, 0.99, breaks=(2,)).series[0]
    # eight bars: 0 → first, .5 → fifth, 1 → eighth, .99 → eighth
    assert sparkline(one, 5) == "▁▅│█·█"


def test_a_plot_breaks_its_line_where_the_measurement_changed_and_describes_itself() -> None:
    (figure,) = figures(history(0.2, 0.4, 0.6, 0.8, breaks=(2,)))
    root = ElementTree.fromstring(figure.svg)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f".//{space}circle")) == 4
    assert [len(line.attrib["points"].split()) for line in root.findall(f".//{space}polyline")] == [2, 2]
    (mark,) = [line for line in root.findall(f"{space}line") if line.attrib["class"] == "change"]
    assert mark.find(f"{space}title").text == "judges: <a> and <b>"
    assert root.find(f"{space}desc").text.startswith("run 1: 0.2 [0.1, 0.3] 9/10")
    # whiskers at .2 ∓ .1 on a plot from y = 152 (0) to y = 12 (1): 152 - 140 × .1 = 138 and 152 - 140 × .3 = 110
    whisker = next(line for line in root.findall(f"{space}line") if line.attrib["class"] == "whisker")
    assert (float(whisker.attrib["y1"]), float(whisker.attrib["y2"])) == (138.0, 110.0)


def test_a_history_table_has_intervals_and_the_change_since_the_last_break() -> None:
    found = history_sections(history(0.9, 0.2, 0.4, breaks=(1,)))
    trends = next(section for section in found if section.title == "Trends")
    assert trends.rows[0][-1] == "+0.2"  # .4 less .2; the .9 before the break is another measurement
    assert next(s for s in found if s.title == "Values: s").rows[0][2] == "0.9 [0.8, 1] 9/10"
    assert history_sections(History(folder="none", runs=(), series=()))[0].lines == ("there are no runs in none",)
