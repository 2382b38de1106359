"""The review page in a real browser, served by the program itself: twenty cases by keyboard, and what it looks like."""

import os
import signal
import subprocess
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from offline_eval.benchmark.label_files import read_label_file
from tests.support.browser import DESK, PHONE, Diary, open_browser, open_page, overflow, serious_findings
from tests.support.cli import command, environment, offline_eval
from tests.support.panel_runs import make_case, make_response, many, passages
from tests.support.review_runs import make_run

pytestmark = pytest.mark.slow

ITEMS = 20
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


def test_twenty_cases_by_keyboard_then_reload_undo_a_second_rater_and_the_export(tmp_path: Path) -> None:
    make_run(tmp_path / "run.sqlite", *many(ITEMS))
    with open_browser() as browser, serving(tmp_path, "--rater", "anna") as link, open_page(browser) as (page, diary):
        page.goto(link)
        assert "session" not in page.url
        for number in range(1, ITEMS + 1):
            page.wait_for_selector(f"h1:has-text('Item {number} of {ITEMS}')")
            for key in "213j":  # typed ahead: keys wait for the page that the last one asked for
                page.keyboard.press(key)
        page.wait_for_selector("h1:has-text('Queue')")
        page.wait_for_selector(f"text={ITEMS} of {ITEMS} answered")

        page.reload()
        assert page.get_by_text(f"{ITEMS} of {ITEMS} answered").is_visible()
        page.goto(link.split("?")[0] + "item/3")
        assert page.locator("button[aria-pressed=true] kbd").all_inner_texts() == ["2", "1", "3"]
        assert page.locator(".verdict").count() == 3
        page.keyboard.press("n")
        page.keyboard.type("年假天数不对 u 1")  # keys are text inside the note
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("text=Saved")
        page.keyboard.press("u")  # the note
        page.wait_for_selector("text=Undone")
        assert page.locator("#note").input_value() == ""
        page.keyboard.press("u")  # the last label, of the last item
        page.wait_for_selector(f"h1:has-text('Item {ITEMS} of {ITEMS}')")
        assert page.locator("button[aria-pressed=true] kbd").all_inner_texts() == ["2", "1"]
        page.keyboard.press("1")
        page.wait_for_selector(f"text={ITEMS} of {ITEMS} answered")

        page.keyboard.press("?")
        assert page.locator("dialog[open]").is_visible()
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0
        page.goto(link.split("?")[0] + "agreement")
        assert page.locator("tbody tr").count() == 6  # three dimensions, the random part and all
        assert "[" in page.locator("tbody").first.inner_text()
        assert_stayed_here(diary, link)

    with open_browser() as browser, serving(tmp_path, "--rater", "李雷") as link, open_page(browser) as (page, diary):
        page.goto(link)
        page.wait_for_selector(f"h1:has-text('Item 1 of {ITEMS}')")
        assert page.locator("button[aria-pressed=true]").count() == 0
        assert page.locator(".verdict").count() == 0
        for key in "330":
            page.keyboard.press(key)
        page.wait_for_selector(f"text=1 of {ITEMS} answered")
        page.keyboard.press("s")  # complete, but leaving it out moves on to the next
        page.wait_for_selector(f"h1:has-text('Item 2 of {ITEMS}')")
        assert_stayed_here(diary, link)

    done = offline_eval("labels", "export", "run.sqlite", "--out", "l.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = read_label_file(tmp_path / "l.jsonl")
    assert len(rows) == 3 * ITEMS - 1  # the last label was given again with the verdict in view
    assert "1 given with the judge's verdict in view" in done.stderr
    assert all(
        row.labels["anna"] == {"faithfulness": 2, "relevance": 1, "completeness": 3}[row.dimension] for row in rows
    )
    assert [row.labels["李雷"] for row in rows if "李雷" in row.labels] == [3, 3]


def test_without_scripts_the_forms_still_label(tmp_path: Path) -> None:
    make_run(tmp_path / "run.sqlite", *many(3))
    with (
        open_browser() as browser,
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


def test_hostile_texts_fit_the_page_and_pass_axe_in_both_themes_and_sizes(tmp_path: Path) -> None:
    long = "长" * 1_000_000 + HOSTILE
    cases = [make_case(id, query=HOSTILE, reference=long, key_points=(HOSTILE,)) for id in ("a", "b" * 300)]
    responses = [make_response(case.id, answer=HOSTILE * 3, passages=passages(long, HOSTILE)) for case in cases]
    make_run(tmp_path / "run.sqlite", cases, responses)
    with open_browser() as browser, serving(tmp_path, "--show-verdicts", "--rater", "n" * 64) as link:
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
