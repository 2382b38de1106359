"""The review page in a real browser, served by the program itself: twenty cases by keyboard, and what it looks like."""

import os
import shutil
import signal
import subprocess
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from offline_eval.benchmark.label_files import read_label_file
from offline_eval.benchmark.labels import LabelRow
from offline_eval.review.desk import Desk, open_log
from tests.support.browser import DESK, PHONE, Diary, open_browser, open_page, overflow, serious_findings
from tests.support.cli import command, environment, offline_eval
from tests.support.panel_runs import make_case, make_response, many, passages
from tests.support.review_runs import make_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

ITEMS = 20
ANNAS = {"faithfulness": 2, "relevance": 1, "completeness": 3}
HOSTILE = (
    "<script>document.title='owned'</script><img src=https://evil.example/x.png onerror=alert(1)>\u202egnp.exe\x1b[2J"
)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """The program's page over `run.sqlite`, and its link; ended as its users end it."""
    process = subprocess.Popen(
        command("review", "run.sqlite", *options),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert link.startswith("http://127.0.0.1:"), process.communicate(timeout=30)
        yield link
    finally:
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "labels are in" in said
    assert "Traceback" not in said


def assert_stayed_here(diary: Diary, link: str) -> None:
    here = urllib.parse.urlsplit(link).netloc
    assert diary.requests
    assert {urllib.parse.urlsplit(address).netloc for address in diary.requests} == {here}
    assert diary.errors == []


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with open_browser() as running:
        yield running


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which Anna has answered every item, in the queue's order."""
    folder = tmp_path_factory.mktemp("finished")
    run = make_run(folder / "run.sqlite", *many(ITEMS))
    log, queue = open_log(run, folder / "run.labels.db")
    desk = Desk(run, log, queue, person="anna", show_verdicts=False)
    for item in queue.items:
        for dimension, value in ANNAS.items():
            desk.label(item.key, dimension, str(value))
    log.close()
    return folder


@pytest.fixture
def labelled(finished: Path, tmp_path: Path) -> Path:
    """A copy of that folder for one test."""
    return Path(shutil.copytree(finished, tmp_path / "labelled"))


@contextmanager
def reviewing(browser: "Browser", folder: Path, *, rater: str = "anna") -> Iterator[tuple["Page", str]]:
    """A rater's page, opened by the link, and the page's address; nothing may have left it."""
    with serving(folder, "--rater", rater) as link, open_page(browser) as (page, diary):
        page.goto(link)
        yield page, link.split("?")[0]
        assert_stayed_here(diary, link)


def press(page: "Page", keys: Sequence[str]) -> None:
    """Keys typed ahead wait for the page that the last one asked for."""
    for key in keys:
        page.keyboard.press(key)


def on_item(page: "Page", number: int) -> None:
    page.wait_for_selector(f"h1:has-text('Item {number} of {ITEMS}')")


def pressed(page: "Page") -> list[str]:
    """The keys of the labels that are given."""
    return page.locator("button[aria-pressed=true] kbd").all_inner_texts()


def exported(folder: Path) -> tuple[list[LabelRow], str]:
    """The labels as `labels export` writes them, and what it says."""
    done = offline_eval("labels", "export", "run.sqlite", "--out", "l.jsonl", cwd=folder)
    assert done.returncode == 0, done.stderr
    return read_label_file(folder / "l.jsonl"), done.stderr


def test_twenty_cases_are_answered_by_keyboard_survive_a_reload_and_are_exported(
    browser: "Browser", tmp_path: Path
) -> None:
    make_run(tmp_path / "run.sqlite", *many(ITEMS))
    with reviewing(browser, tmp_path) as (page, _):
        assert "session" not in page.url
        for number in range(1, ITEMS + 1):
            on_item(page, number)
            press(page, "213j")
        page.wait_for_selector("h1:has-text('Queue')")
        page.wait_for_selector(f"text={ITEMS} of {ITEMS} answered")
        page.reload()
        assert page.get_by_text(f"{ITEMS} of {ITEMS} answered").is_visible()
    rows, _ = exported(tmp_path)
    assert len(rows) == 3 * ITEMS
    assert all(row.labels == {"anna": ANNAS[row.dimension]} for row in rows)


def test_an_answered_item_shows_its_labels_and_then_the_verdicts(browser: "Browser", labelled: Path) -> None:
    with reviewing(browser, labelled) as (page, address):
        page.goto(f"{address}item/3")
        assert pressed(page) == ["2", "1", "3"]
        assert page.locator(".verdict").count() == len(ANNAS)


def test_undo_takes_back_the_note_and_then_the_last_label_anywhere(browser: "Browser", labelled: Path) -> None:
    with reviewing(browser, labelled) as (page, address):
        page.goto(f"{address}item/3")
        press(page, "n")
        page.keyboard.type("年假天数不对 u 1")  # keys are text inside the note
        press(page, ["Control+Enter"])
        page.wait_for_selector("text=Saved")
        press(page, "u")
        page.wait_for_selector("text=Undone")
        assert page.locator("#note").input_value() == ""
        press(page, "u")
        on_item(page, ITEMS)
        assert pressed(page) == ["2", "1"]


def test_a_label_given_with_the_verdict_in_view_is_not_exported(browser: "Browser", labelled: Path) -> None:
    with reviewing(browser, labelled) as (page, address):
        page.goto(f"{address}item/{ITEMS}")
        press(page, "u")
        page.wait_for_selector(f"text={ITEMS - 1} of {ITEMS} answered")
        press(page, "1")
        page.wait_for_selector(f"text={ITEMS} of {ITEMS} answered")
    rows, said = exported(labelled)
    assert len(rows) == 3 * ITEMS - 1
    assert "1 given with the judge's verdict in view" in said
    assert all(row.labels == {"anna": ANNAS[row.dimension]} for row in rows)


def test_help_opens_and_closes_by_keyboard(browser: "Browser", labelled: Path) -> None:
    with reviewing(browser, labelled) as (page, _):
        press(page, "?")
        assert page.locator("dialog[open]").is_visible()
        press(page, ["Escape"])
        assert page.locator("dialog[open]").count() == 0


def test_agreement_is_shown_by_dimension_with_intervals(browser: "Browser", labelled: Path) -> None:
    with reviewing(browser, labelled) as (page, address):
        page.goto(f"{address}agreement")
        assert page.locator("tbody tr").count() == 2 * len(ANNAS)  # the random part and all
        assert "[" in page.locator("tbody").first.inner_text()


def test_a_second_rater_starts_blind_and_may_leave_an_item_out(browser: "Browser", labelled: Path) -> None:
    with reviewing(browser, labelled, rater="李雷") as (page, _):
        on_item(page, 1)
        assert pressed(page) == []
        assert page.locator(".verdict").count() == 0
        press(page, "330")
        page.wait_for_selector(f"text=1 of {ITEMS} answered")
        press(page, "s")  # complete, but leaving it out moves on to the next
        on_item(page, 2)
    rows, _ = exported(labelled)
    assert len(rows) == 3 * ITEMS
    assert all(row.labels["anna"] == ANNAS[row.dimension] for row in rows)
    assert [row.labels["李雷"] for row in rows if "李雷" in row.labels] == [3, 3]  # 0 is "cannot tell"


def test_without_scripts_the_forms_still_label(browser: "Browser", tmp_path: Path) -> None:
    make_run(tmp_path / "run.sqlite", *many(3))
    with (
        serving(tmp_path, "--language", "zh") as link,
        open_page(browser, script=False) as (page, diary),
    ):
        page.goto(link)
        for number in range(3):
            page.locator("form.dimension").nth(number).locator("button").nth(number).click()
            page.locator("button[aria-pressed=true]").nth(number).wait_for()  # the next page has come
        page.get_by_text("已完成 1 / 3").wait_for()  # fails when it does not come
        assert page.locator("button[aria-pressed=true]").count() == 3
        page.get_by_role("link", name="下一条 j", exact=True).click()
        page.get_by_role("heading", name="第 2 条，共 3 条").wait_for()  # fails when it does not come
        assert_stayed_here(diary, link)


def test_hostile_texts_fit_the_page_and_pass_axe_in_both_themes_and_sizes(browser: "Browser", tmp_path: Path) -> None:
    long = "长" * 1_000_000 + HOSTILE
    cases = [make_case(id, query=HOSTILE, reference=long, key_points=(HOSTILE,)) for id in ("a", "b" * 300)]
    responses = [make_response(case.id, answer=HOSTILE * 3, passages=passages(long, HOSTILE)) for case in cases]
    make_run(tmp_path / "run.sqlite", cases, responses)
    with serving(tmp_path, "--show-verdicts", "--rater", "n" * 64) as link:
        for size in (DESK, PHONE):
            for scheme in ("light", "dark"):
                with open_page(browser, size=size, scheme=scheme) as (page, diary):
                    page.goto(link)
                    for address in ("item/1", "item/2", "queue", "agreement", "help"):
                        page.goto(link.split("?")[0] + address)
                        assert page.title().endswith("offline-eval")
                        assert overflow(page) <= 0, (address, size)
                        assert serious_findings(page) == [], (address, size, scheme)
                    assert_stayed_here(diary, link)
