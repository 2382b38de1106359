"""The HTML report as text: nothing of the data becomes markup, everything is counted, both languages say the same."""

import base64
import hashlib
import json
import re
import string
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.protocols import Failure, GenerateRequest, Generation
from offline_eval.core.response_detail import Mark
from offline_eval.engines.scripted import pick
from offline_eval.pipeline.aggregate import Results
from offline_eval.pipeline.report_frame import report_frame
from offline_eval.pipeline.response_details import response_details
from offline_eval.pipeline.slices import frequent_tags
from offline_eval.report.charts import histogram, stacked_bar, whisker
from offline_eval.report.html import render
from offline_eval.report.html_list import BLOCK
from offline_eval.report.html_marks import LONGEST_TEXT, cut, pieces
from offline_eval.report.html_texts import LANGUAGES, Words, interface_texts
from tests.support.panel_runs import (
    Judges,
    asks_label,
    execute,
    make_case,
    make_config,
    make_response,
    many,
    passages,
    start,
)

HOSTILE = (
    "</script></style><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}\x00\x1b[31m\u202egnp.exe\u2028]]>"
)
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
VOID = {"meta", "input", "col", "link", "br", "hr", "img"}


class Tags(HTMLParser):
    """Counts elements and keeps their attributes, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.seen if name == tag]


def judge(request: GenerateRequest) -> Generation | Failure:
    if not asks_label(request):
        tail = json.dumps({"evidence": HOSTILE[:80], "reason": HOSTILE}, ensure_ascii=False)[1:]
        return Generation(text=tail, prompt_tokens=10, output_tokens=10)
    return pick(request, "1" if "script" in request.messages[1].content else "3")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Every field that a data set fills holds markup, control and direction characters."""
    fields: dict[str, Any] = {
        "query": HOSTILE,
        "query_type": HOSTILE,
        "reference": HOSTILE,
        "key_points": (HOSTILE,),
        "tags": (HOSTILE, "plain"),
        "language": HOSTILE,
    }
    cases = [make_case(f"c{place}{HOSTILE}", **fields) for place in range(3)]
    responses = [
        make_response(
            case.id,
            answer=HOSTILE,
            system=HOSTILE,
            passages=[p.model_copy(update={"title": HOSTILE, "id": HOSTILE}) for p in passages(HOSTILE)],
            citations=(HOSTILE,),
            metadata={"fault": HOSTILE},
        )
        for case in cases[:2]
    ]
    responses.append(make_response(cases[2].id, answer="", system=HOSTILE, error=HOSTILE))
    run = execute(tmp_path_factory.mktemp("r") / "r.sqlite", make_config(), cases, responses, Judges({"judge": judge}))
    return Results(run)


def drawn(results: Results, **options: Any) -> str:
    frame = report_frame(results)
    return render(frame, response_details(results, frame), **options)


def unpacked(page: str) -> Iterator[str]:
    for block in re.findall(r'<script type="application/octet-stream" class="block">([^<]*)</script>', page):
        yield from json.loads(zlib.decompress(base64.b64decode(block)))


def rows_of(page: str) -> list[list[Any]]:
    found = re.search(r'<script type="application/json" id="rows">(.*?)</script>', page, re.DOTALL)
    assert found
    rows: list[list[Any]] = json.loads(found[1])
    return rows


# --- hostile text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_field_of_the_data_becomes_markup(hostile: Results, language: Any) -> None:
    page = drawn(hostile, language=language)
    tags = Tags(page)
    assert tags.open == []
    assert len(tags.named("script")) == 3  # one block, the rows, our script
    assert tags.named("img") == []
    assert not [name for _, attributes in tags.seen for name in attributes if name.startswith("on") or name == "style"]
    assert "alert(1)" in page  # it is shown, as text
    assert "49" not in re.findall(r"\{\{7\*7\}\}|49\b", page)  # and no template language runs over it


def test_details_and_rows_hold_no_markup_of_the_data_either(hostile: Results) -> None:
    page = drawn(hostile)
    details = list(unpacked(page))
    assert len(details) == 3
    for detail in details:
        tags = Tags(detail)
        assert tags.open == []
        assert {tag for tag, _ in tags.seen} <= {
            *("article", "p", "span", "h3", "mark", "sup", "ul", "ol", "li", "strong", "em", "b", "code", "div"),
            *("details", "summary", "dl", "dt", "dd"),
        }
    raw = re.search(r'id="rows">(.*?)</script>', page, re.DOTALL)
    assert raw
    assert "<" not in raw[1]


def test_nothing_unseen_is_left_in_the_file(hostile: Results) -> None:
    page = drawn(hostile)
    assert UNSEEN.findall(page) == []
    assert UNSEEN.findall("".join(unpacked(page))) == []
    assert "\\u202e" in page


def test_megabytes_in_every_field_are_cut_with_their_length_said(tmp_path: Path) -> None:
    huge = "長" * 1_000_000
    case = make_case("c1", query=huge, query_type=huge, tags=(huge,), reference=huge)
    response = make_response(
        "c1", answer=huge, system=huge[:1000], passages=[p.model_copy(update={"title": huge}) for p in passages(huge)]
    )
    page = drawn(Results(start(tmp_path / "r.sqlite", make_config(), [case], [response])))
    assert len(page) < 1_500_000
    assert "980,000" in page or "980000" in page
    assert "980000" in "".join(unpacked(page))


@given(st.text(max_size=60), st.text(max_size=60))
def test_plots_escape_their_titles(name: str, other: str) -> None:
    for plot in (
        whisker(0.5, (0.2, 0.7), axis=(0, 1), shape=1, title=name + "<" + other),
        stacked_bar([("1", 3), ("other", 1)], title=name + "<" + other),
        histogram([1, 0, 4], title=name + "<" + other),
    ):
        tags = Tags(str(plot))
        assert tags.open == []
        assert {tag for tag, _ in tags.seen} <= {"svg", "title", "line", "path", "rect", "text"}
        assert UNSEEN.findall(str(plot)) == []


# --- self-contained --------------------------------------------------------------------------------------------------


def test_the_policy_allows_exactly_the_inline_style_and_script(hostile: Results) -> None:
    page = drawn(hostile)
    (policy,) = [m["content"] for m in Tags(page).named("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert style
    assert script
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    for text, directive in ((style[1], "style-src"), (script[1], "script-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_nothing_is_loaded_from_elsewhere(hostile: Results) -> None:
    tags = Tags(drawn(hostile))
    assert [value for _, attributes in tags.seen for name, value in attributes.items() if name == "src"] == []
    links = [a["href"] for a in tags.named("a")]
    assert links
    assert all(link is not None and link.startswith("#") for link in links)
    assert tags.named("link") == []


def test_every_anchor_has_its_section_and_no_id_is_used_twice(hostile: Results) -> None:
    tags = Tags(drawn(hostile))
    ids = [attributes["id"] for _, attributes in tags.seen if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {str(a["href"])[1:] for a in tags.named("a")} <= set(ids)


def test_the_same_run_gives_the_same_bytes(hostile: Results) -> None:
    assert drawn(hostile) == drawn(hostile)


# --- what is there ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Results:
    cases, responses = many(60, tags=("leave",))
    return Results(execute(tmp_path_factory.mktemp("g") / "r.sqlite", make_config(reasons="none"), cases, responses))


def test_every_plot_says_in_words_what_it_draws(graded: Results) -> None:
    plots = [a for a in Tags(drawn(graded)).named("svg") if "plot" in str(a.get("class"))]
    assert len(plots) > 10
    assert all(plot.get("role") == "img" and plot.get("aria-label") for plot in plots)


def test_every_response_has_a_row_and_details_with_the_worst_first(graded: Results) -> None:
    page = drawn(graded)
    rows, details = rows_of(page), list(unpacked(page))
    assert len(rows) == len(details) == 60
    values = [row[3] for row in rows]
    assert values == sorted(values)
    assert [row[-1] for row in rows] == list(range(60))
    assert all(row[1] in detail for row, detail in zip(rows, details, strict=True))


def test_details_beyond_the_limit_are_left_out_and_counted(graded: Results) -> None:
    whole = drawn(graded)
    first = re.search(r'class="block">([^<]*)<', whole)
    assert first
    page = drawn(graded, most_bytes=len(first[1]) + 1)
    places = [row[-1] for row in rows_of(page)]
    assert places == [*range(BLOCK), *[None] * (60 - BLOCK)]
    assert len(list(unpacked(page))) == BLOCK
    assert f"{60 - BLOCK} responses have no details here" in page


def test_the_histogram_counts_every_scored_response(graded: Results) -> None:
    frame = report_frame(graded)
    totals = [score.value for score in graded.scores["total_grade"].values()]
    # Eight bins over [1, 3]: the last one holds everything from 2.75 on.
    assert sum(frame.histograms["system"]) == 60
    assert frame.histograms["system"][-1] == sum(value is not None and value >= 2.75 for value in totals)


def test_rare_tags_are_counted_and_not_sliced(tmp_path: Path) -> None:
    cases = [make_case(f"c{n}", tags=(f"tag{n:02d}", "all")) for n in range(25)]
    responses = [make_response(case.id) for case in cases]
    results = Results(execute(tmp_path / "r.sqlite", make_config(reasons="none"), cases, responses))
    frame = report_frame(results)
    assert frequent_tags(results.items) == ["all", *(f"tag{n:02d}" for n in range(19))]
    assert frame.tags_left_out == 6
    assert "6 tags that are rarer have no slice" in drawn(results)


def test_reliability_compares_the_judge_with_people(tmp_path: Path) -> None:
    cases, responses = many(10)
    judges = Judges({"judge": lambda request: pick(request, "3", probability=0.8)})
    results = Results(execute(tmp_path / "r.sqlite", make_config(reasons="none"), cases, responses, judges))
    # The judge gives 3 with .8 and 1, 2 with .1 each: it says pass with .9. People passed 6 of 10.
    labels = {(response.key, "relevance"): 2.0 if n < 6 else 1.0 for n, response in enumerate(responses)}
    (curve,) = report_frame(results, labels=labels).reliability
    assert (curve.judge, curve.dimension, curve.n) == ("judge", "relevance", 10)
    (point,) = curve.points
    assert (point.said, point.found, point.n) == (pytest.approx(0.9), pytest.approx(0.6), 10)
    assert curve.error == pytest.approx(0.3)
    frame = report_frame(results, labels=labels)
    page = render(frame, response_details(results, frame))
    assert "Expected calibration error 0.3 over 10 labelled responses" in page


def test_without_labels_the_report_says_so(graded: Results) -> None:
    assert "Not measured: this report was made without human labels" in drawn(graded)


def test_a_run_without_responses_has_a_report(tmp_path: Path) -> None:
    page = drawn(Results(execute(tmp_path / "r.sqlite", make_config(), [], [])))
    assert Tags(page).open == []
    assert rows_of(page) == []
    assert "Nothing was scored" in page


# --- languages -------------------------------------------------------------------------------------------------------


def test_a_mostly_chinese_set_has_a_chinese_report_unless_asked_otherwise(tmp_path: Path) -> None:
    cases = [make_case(f"c{n}", query="员工每年有几天年假？") for n in range(3)]
    responses = [make_response(case.id, answer="二十八天。") for case in cases]
    results = Results(execute(tmp_path / "r.sqlite", make_config(reasons="none"), cases, responses))
    assert '<html lang="zh-CN">' in drawn(results)
    assert "得分最低的回答与证据" in drawn(results)
    assert '<html lang="en">' in drawn(results, language="en")


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        return {k: v for name, inner in value.items() for k, v in _flat(inner, f"{path}/{name}").items()}
    if isinstance(value, list):
        return {f"{path}/{place}": inner for place, inner in enumerate(value)}
    return {path: value}


def test_both_languages_have_the_same_texts_with_the_same_places() -> None:
    english, chinese = (_flat(interface_texts(language)) for language in ("en", "zh"))
    assert not {name for key in english if (name := key.split("/")[1]) in dir(Words)}  # would hide the text
    assert {k for k in english if not k.startswith("/reasons")} == {k for k in chinese if not k.startswith("/reasons")}
    for key, text in english.items():
        if key in chinese and isinstance(text, str):
            places = [{name for _, name, _, _ in string.Formatter().parse(t) if name} for t in (text, chinese[key])]
            assert places[0] == places[1], key


def test_an_unknown_name_keeps_itself_and_a_missing_text_is_an_error() -> None:
    words = Words("zh")
    assert words.named("dimensions", "faithfulness") == "忠实度"
    assert words.named("dimensions", "politeness") == "politeness"
    assert words.reason("time_limit: 60 s") == "超时: 60 s"
    assert words.reason("examiners_apart: relevance 1, completeness 3") == "不同维度相差两级: 相关性 1, 完整性 3"
    with pytest.raises(AttributeError):
        _ = words.no_such_text


# --- marks -----------------------------------------------------------------------------------------------------------


def mark(start: int, end: int, label: str = "1") -> Mark:
    return Mark(start=start, end=end, kind="claim", label=label)


def test_overlapping_marks_are_cut_into_pieces_in_order() -> None:
    found = pieces("abcdef", [mark(1, 4, "a"), mark(3, 6, "b")])
    assert [(p.text, [m.label for m in p.marks], [m.label for m in p.ending]) for p in found] == [
        ("a", [], []),
        ("bc", ["a"], []),
        ("d", ["a", "b"], ["a"]),
        ("ef", ["b"], ["b"]),
    ]


@given(
    st.text(max_size=30),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=6),
)
def test_pieces_make_up_the_text_and_cover_exactly_what_is_marked(text: str, spans: list[tuple[int, int]]) -> None:
    marks = [mark(start, end, str(place)) for place, (start, end) in enumerate(spans)]
    found = pieces(text, marks)
    assert "".join(piece.text for piece in found) == text
    covered = {m.label: "" for m in marks}
    for piece in found:
        for one in piece.marks:
            covered[one.label] += piece.text
    assert covered == {m.label: text[m.start : m.end] for m in marks}


def test_a_long_text_is_cut_and_the_rest_counted() -> None:
    assert cut("x" * LONGEST_TEXT) == ("x" * LONGEST_TEXT, 0)
    assert cut("x" * (LONGEST_TEXT + 7)) == ("x" * LONGEST_TEXT, 7)
