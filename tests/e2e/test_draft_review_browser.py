"""The draft review page in a real browser by keyboard, and a version that takes only what was accepted."""

import json
import os
import signal
import subprocess
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from offline_eval.core.records import Case
from offline_eval.testset.draft import Draft
from offline_eval.testset.draft_file import DraftFile
from tests.support.browser import DESK, PHONE, open_browser, open_page, overflow, serious_findings
from tests.support.cli import command, environment, offline_eval

pytestmark = pytest.mark.slow


def write_drafts(folder: Path) -> None:
    queries = ("年假有几天？", "谁审批差旅费？", "食堂几点开门？", "<b>怎么报销？</b>")
    drafts = [
        Draft(id=f"d{n}", type="simple", case=Case(id=f"c{n}", query=query, reference="见手册。", key_points=("手册",)))
        for n, query in enumerate(queries, start=1)
    ]
    DraftFile(folder / "drafts.jsonl").append_batch("all", drafts)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    process = subprocess.Popen(
        command("testset", "review", "drafts.jsonl", *options),
        cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert link.startswith("http://127.0.0.1:"), process.communicate(timeout=30)
        yield link
    finally:
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "takes the accepted ones" in said


def test_accept_edit_and_reject_by_keyboard_then_a_version_of_the_accepted_ones(tmp_path: Path) -> None:
    write_drafts(tmp_path)
    refused = offline_eval(
        "testset", "version", "drafts.jsonl", "--out", "cases.jsonl", "--reason", "first", cwd=tmp_path
    )
    assert refused.returncode == 3
    assert "none of 4 drafts is accepted" in refused.stderr
    with (
        open_browser() as browser,
        serving(tmp_path, "--reviewer", "李雷") as link,
        open_page(browser) as (page, diary),
    ):
        page.goto(link)
        page.wait_for_selector("h1:has-text('第 1 条草稿，共 4 条')")  # the drafts' own language
        page.keyboard.press("a")
        page.wait_for_selector("h1:has-text('第 2 条草稿')")
        assert page.get_by_role("status").inner_text() == "已接受"
        page.keyboard.press("e")
        page.keyboard.press("Control+A")
        page.keyboard.type("差旅费由谁审批？ a r j")  # keys are text inside a field
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("h1:has-text('第 3 条草稿')")
        page.keyboard.press("r")
        page.keyboard.type("手册里没有")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("h1:has-text('第 4 条草稿')")
        page.keyboard.press("k")
        page.wait_for_selector("text=手册里没有")
        page.goto(link.split("?")[0] + "queue")
        assert page.get_by_text("已决定 3 / 4").is_visible()
        here = urllib.parse.urlsplit(link).netloc
        assert {urllib.parse.urlsplit(address).netloc for address in diary.requests} == {here}
        assert diary.errors == []
        for size, scheme in ((DESK, "light"), (PHONE, "dark")):
            with open_page(browser, size=size, scheme=scheme) as (other, _):  # type: ignore[arg-type]
                other.goto(link)
                for address in ("item/2", "queue"):
                    other.goto(link.split("?")[0] + address)
                    assert overflow(other) <= 0, (address, size)
                    assert serious_findings(other) == [], (address, size, scheme)
    done = offline_eval("testset", "version", "drafts.jsonl", "--out", "cases.jsonl", "--reason", "first", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("cases@1 ")
    assert "drafts left out: 1 draft, 1 rejected; taken unreviewed: 0" in done.stderr
    rows = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text("utf-8").splitlines()]
    assert [row["query"] for row in rows] == ["年假有几天？", "差旅费由谁审批？ a r j"]


def test_without_scripts_the_forms_still_decide(tmp_path: Path) -> None:
    write_drafts(tmp_path)
    with (
        open_browser() as browser,
        serving(tmp_path, "--language", "en") as link,
        open_page(browser, script=False) as (page, _),
    ):
        page.goto(link)
        page.get_by_role("button", name="Accept a").click()
        page.wait_for_url("**said=saved_accepted")
        page.locator("#reason").fill("not in the handbook")
        page.get_by_role("button", name="Reject", exact=True).click()
        page.wait_for_url("**said=saved_rejected")
        page.get_by_text("2 of 4 decided").wait_for()  # fails when it does not come
    statuses = [draft.status for draft in DraftFile(tmp_path / "drafts.jsonl").drafts]
    assert statuses == ["accepted", "rejected", "draft", "draft"]
