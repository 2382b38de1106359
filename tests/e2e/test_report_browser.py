"""The HTML report in a real browser: opened from a file without any network, by keyboard, on a phone, in the dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from offline_eval.engines.scripted import ScriptedScorer
from offline_eval.pipeline.aggregate import Results
from offline_eval.pipeline.execute import Executor
from offline_eval.pipeline.report_frame import report_frame
from offline_eval.pipeline.response_details import response_details
from offline_eval.report.html import render
from tests.support.browser import DESK, PHONE, open_browser, open_page, overflow, serious_findings
from tests.support.claim_runs import supports
from tests.support.panel_runs import Judges, make_case, make_config, make_response, many, passages, start

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\x00\x1b\u202egnp"
)
RESPONSES = 5_000
MOST_BYTES = 15_000_000


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with open_browser() as browser:
        yield browser


def written(results: Results, path: Path, *, language: Any = None) -> Path:
    frame = report_frame(results, labels={("system/c000", "relevance"): 3.0, ("system/c001", "relevance"): 1.0})
    path.write_text(render(frame, response_details(results, frame), language=language), "utf-8")
    return path


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Sixty responses with grades, claims and their support."""
    cases, responses = many(60, tags=("leave",))
    chinese = [make_case(f"zh{n}", query="员工每年有几天年假？", query_type="open", language="zh") for n in range(20)]
    text = "员工每年享有二十八天带薪年假。未休的年假可以结转到下一年。"
    responses += [make_response(c.id, answer="每年二十八天。", passages=passages(text)) for c in chinese]
    config = make_config(
        metrics=("total_grade", "faithfulness_grade", "relevance_grade", "completeness_grade", "faithfulness"),
        checks=("refusal", "claims", "entailment"),
        engines={"nli": "scripted"},
    )
    run_file = start(tmp_path_factory.mktemp("g") / "r.sqlite", config, [*cases, *chinese], responses)
    scorer = ScriptedScorer(supports(("28 days", "c001"), ("二十八天", "二十八天")))
    Executor(run_file, config, open_judge=Judges().open, open_encoder=lambda kind, name: scorer).run()
    return Results(run_file)


@pytest.fixture(scope="module")
def report(graded: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(graded, tmp_path_factory.mktemp("h") / "report.html", language="en")


def opened_whole(page: "Page") -> None:
    """Open the list's first response and every part that can be folded."""
    page.locator("#page > li button").first.click()
    page.locator("#page article").first.wait_for()
    page.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true; })")


def visible_rows(page: "Page") -> int:
    return page.locator("#page > li").count()


def test_it_asks_for_nothing_and_reports_no_error(browser: "Browser", report: Path) -> None:
    with open_page(browser, offline=True) as (page, diary):
        page.goto(report.as_uri())
        page.locator("#page > li button").first.click()
        page.locator("#page article").first.wait_for()
        assert diary.requests == [report.as_uri()]
        assert diary.errors == []


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_is_wider_than_the_window(
    browser: "Browser", graded: Results, tmp_path: Path, language: str, size: tuple[int, int]
) -> None:
    path = written(graded, tmp_path / "r.html", language=language)
    with open_page(browser, size=size) as (page, _):
        page.goto(path.as_uri())
        opened_whole(page)
        assert overflow(page) == 0


@pytest.mark.parametrize(
    ("language", "size", "scheme"), [("en", DESK, "light"), ("zh", PHONE, "dark")], ids=["desk", "phone"]
)
def test_axe_finds_nothing_serious(
    browser: "Browser",
    graded: Results,
    tmp_path: Path,
    language: str,
    size: tuple[int, int],
    scheme: Literal["light", "dark"],
) -> None:
    path = written(graded, tmp_path / "r.html", language=language)
    with open_page(browser, size=size, scheme=scheme) as (page, _):
        page.goto(path.as_uri())
        opened_whole(page)
        assert serious_findings(page) == []


def test_the_list_is_paged_searched_and_filtered_with_the_keyboard(browser: "Browser", report: Path) -> None:
    with open_page(browser) as (page, diary):
        page.goto(report.as_uri())
        assert visible_rows(page) == 25
        page.locator("#next").focus()
        page.keyboard.press("Enter")
        assert page.locator("#where").inner_text() == "page 2 of 4"
        page.locator("#f-text").focus()
        page.keyboard.type("C007")
        assert page.locator("#found").inner_text() == "1 of 80 responses"
        page.keyboard.press("Tab")
        page.locator("#page > li button").focus()
        page.keyboard.press("Enter")
        page.locator("#page article").wait_for()
        assert "You get c007 days of leave." in page.locator("#page article").inner_text()
        assert page.locator("#page button").get_attribute("aria-expanded") == "true"
        page.locator("#f-text").fill("")
        page.locator("#f-language").select_option(label="zh")
        assert page.locator("#found").inner_text() == "20 of 80 responses"
        page.locator("#f-sort").select_option("best")
        first, last = (page.locator("#page .score").nth(n).inner_text() for n in (0, 19))
        assert float(first) >= float(last)
        assert diary.errors == []


def test_claims_are_marked_with_sign_and_word_and_their_sentence_in_the_passage(
    browser: "Browser", report: Path
) -> None:
    with open_page(browser) as (page, _):
        page.goto(report.as_uri())
        page.locator("#f-text").fill("zh3")
        page.locator("#page > li button").click()
        article = page.locator("#page article")
        article.wait_for()
        assert article.locator("mark.claim.supported").inner_text() == "每年二十八天。1✓"
        assert article.locator(".claims .supported .state").inner_text() == "✓ supported"
        assert article.locator("mark.support").inner_text() == "员工每年享有二十八天带薪年假。1"
        page.locator("#f-text").fill("c002")
        page.locator("#page > li button").click()
        article.wait_for()
        assert article.locator(".claims .unsupported .state").inner_text() == "✗ not supported"
        assert article.locator("mark.support").count() == 0


def test_what_matters_is_there_without_script(browser: "Browser", report: Path) -> None:
    with open_page(browser, script=False) as (page, diary):
        page.goto(report.as_uri())
        assert page.locator("#list").is_hidden()
        assert page.locator("main h2").count() >= 10
        assert page.locator("#worst").is_visible()
        assert page.locator(".case-box article").first.is_visible()
        assert page.locator(".case-box").count() == 10
        assert "needs JavaScript" in page.locator("noscript").inner_text()
        assert diary.errors == []


def test_it_prints_with_every_section_opened(browser: "Browser", report: Path) -> None:
    with open_page(browser) as (page, _):
        page.goto(report.as_uri())
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.locator("details:not([open])").count() == 0
        assert page.locator("nav.toc").is_hidden()
        assert len(page.pdf()) > 20_000


def test_hostile_text_in_every_field_is_shown_and_does_nothing(browser: "Browser", tmp_path: Path) -> None:
    huge = "<b>" + "x" * 1_000_000
    cases = [
        make_case("c1", query=HOSTILE, query_type=HOSTILE, tags=(HOSTILE,), reference=HOSTILE, language=HOSTILE),
        make_case("c2", query=huge, query_type=huge, tags=(huge,), reference=huge),
    ]
    responses = [
        make_response("c1", answer=HOSTILE, system=HOSTILE, passages=passages(HOSTILE)),
        make_response("c2", answer=huge, system=HOSTILE, passages=passages(huge)),
    ]
    path = written(Results(start(tmp_path / "r.sqlite", make_config(), cases, responses)), tmp_path / "r.html")
    with open_page(browser, size=PHONE, offline=True) as (page, diary):
        page.goto(path.as_uri())
        for place in range(2):
            page.locator("#page > li > button").nth(place).click()
            page.locator("#page article").nth(place).wait_for()
        assert page.title().startswith("Evaluation report")
        assert page.locator("img").count() == 0
        assert "document.title='owned'" in page.locator("#page").inner_text()
        assert "980003 more characters" in page.locator("#page").inner_text()
        assert "\u202e" not in page.locator("body").inner_text()
        assert overflow(page) == 0
        assert diary.requests == [path.as_uri()]
        assert diary.errors == []


@pytest.mark.slow
def test_five_thousand_responses_stay_usable(browser: "Browser", tmp_path: Path) -> None:
    cases = [make_case(f"c{n:04d}", tags=(f"t{n % 30}",)) for n in range(RESPONSES)]
    text = "Everybody has {n} days of leave a year, and carries {n} of them into the next. " * 12
    responses = [
        make_response(case.id, answer=f"You get {n} days.", passages=passages(*[text.replace("{n}", str(n))] * 3))
        for n, case in enumerate(cases)
    ]
    path = tmp_path / "r.html"
    path = written(Results(start(tmp_path / "r.sqlite", make_config(), cases, responses)), path)
    assert path.stat().st_size < MOST_BYTES
    with open_page(browser) as (page, diary):
        page.goto(path.as_uri())
        assert page.locator("#found").inner_text() == "5,000 of 5,000 responses"
        page.locator("#f-text").fill("c4321")
        page.locator("#page > li > button").click()
        page.locator("#page article").wait_for()
        assert "You get 4321 days." in page.locator("#page article").inner_text()
        assert diary.errors == []
