"""`testset generate` and `testset variants` from the command line, with a scripted judge."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from offline_eval.cli.main import run_cli
from offline_eval.core.records import Case
from offline_eval.formats.reader import read_cases
from offline_eval.formats.writer import write_cases
from tests.support.cli import command, environment

SCRIPTED = ("--engine", "scripted", "--judge", "anybody")


class Done(NamedTuple):
    """What a call came to."""

    returncode: int
    stdout: str
    stderr: str


Program = Callable[..., Done]


@pytest.fixture
def offline_eval(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program inside this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Done:
        code = run_cli([str(argument) for argument in arguments])
        return Done(code, *capsys.readouterr())

    return call


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_text("# Leave\n\nFull-time staff receive 26 days of annual leave a year.\n", "utf-8")
    (folder / "食堂.txt").write_text("食堂午餐每人补贴十五元，当日有效。\n", "utf-8")
    return folder


def test_tables_go_to_stdout_and_drafts_wait_for_a_review(
    offline_eval: Program, handbook: Path, tmp_path: Path
) -> None:
    done = offline_eval("testset", "generate", handbook, "--size", 4, *SCRIPTED, "--out", "made")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Questions\n") or done.stdout.startswith("Questions ")
    assert "What each step and check let pass" in done.stdout
    assert "wait for a review in made/drafts.jsonl" in done.stderr
    assert not (tmp_path / "made" / "cases.jsonl").exists()
    counted = json.loads((tmp_path / "made" / "tally.json").read_text("utf-8"))
    assert sum(kind["wanted"] for kind in counted["types"]) == 4


def test_a_second_call_asks_nothing_again_and_prints_the_same(
    offline_eval: Program, handbook: Path, tmp_path: Path
) -> None:
    call = ("testset", "generate", handbook, "--size", 3, *SCRIPTED, "--out", "made", "--format", "json")
    first, second = offline_eval(*call), offline_eval(*call)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert len(json.loads(first.stdout)["types"]) >= 2
    other = offline_eval(*call, "--seed", 9)
    assert other.returncode == 3
    assert "drafts made with other settings (seed" in other.stderr


def test_accepted_unreviewed_cases_are_valid_and_say_so(offline_eval: Program, handbook: Path, tmp_path: Path) -> None:
    done = offline_eval(
        *("testset", "generate", handbook, "--size", 2, "--mix", "unanswerable=1", *SCRIPTED),
        *("--steps", "question", "--lang", "en", "--out", "made", "--accept-unreviewed", "--format", "csv"),
    )
    assert done.returncode == 0, done.stderr
    cases = read_cases(tmp_path / "made" / "cases.jsonl")
    assert [case.answerable for case in cases] == [False]
    assert cases[0].tags == ("unanswerable", "unreviewed")
    assert done.stdout.startswith("part,type,wanted,kept,tried,thrown out,")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--mix", "simple=.5"), 2, "add up to 0.5"),
        (("--mix", "multihop=1"), 2, "did you mean 'multi_hop'"),
        (("--steps", "fact"), 2, "did you mean 'facts'"),
        (("--steps", "distractor"), 2, "add reference"),
        (("--examples", "none.jsonl"), 3, "none.jsonl"),
    ],
)
def test_wrong_use_is_one_message(
    offline_eval: Program, handbook: Path, tmp_path: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    done = offline_eval("testset", "generate", handbook, *SCRIPTED, "--out", "made", *options)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_documents_that_are_not_there_or_say_nothing_are_named(offline_eval: Program, tmp_path: Path) -> None:
    done = offline_eval("testset", "generate", "nowhere", *SCRIPTED, "--out", "made")
    assert done.returncode == 3
    assert "nowhere: no such file or folder" in done.stderr
    (tmp_path / "empty.txt").write_text(" \n", "utf-8")
    done = offline_eval("testset", "generate", "empty.txt", *SCRIPTED, "--out", "made")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_the_users_questions_steer_the_style_and_stand_in_the_header(
    offline_eval: Program, handbook: Path, tmp_path: Path
) -> None:
    write_cases([Case(id="a", query="Who signs the form?"), Case(id="b", query="谁来签字？")], tmp_path / "style.jsonl")
    done = offline_eval(
        *("testset", "generate", handbook, "--size", 2, *SCRIPTED, "--out", "made", "--examples", "style.jsonl"),
    )
    assert done.returncode == 0, done.stderr
    header = json.loads((tmp_path / "made" / "drafts.jsonl").read_text("utf-8").splitlines()[0])
    assert header["examples"] == ["Who signs the form?", "谁来签字？"]


def test_an_interrupt_says_how_to_continue(handbook: Path, tmp_path: Path) -> None:
    for number in range(300):
        (handbook / f"{number}.txt").write_text(
            f"Rule {number} says that form {number * 7} is signed by hand.", "utf-8"
        )
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's background jobs ignore it, and so would ours
    call = command("testset", "generate", handbook, "--size", 400, "--attempts", 50, *SCRIPTED, "--out", "made")
    process = subprocess.Popen(call, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    drafts = tmp_path / "made" / "drafts.jsonl"
    while process.poll() is None and not (drafts.exists() and drafts.stat().st_size > 5_000):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said.decode()
    assert "run the same command again to continue" in said.decode()
    assert drafts.read_bytes().endswith(b"\n")


def test_variants_are_written_to_another_file(offline_eval: Program, tmp_path: Path) -> None:
    write_cases(
        [Case(id="a", query="年假可以休几天？"), Case(id="b", query="When may staff start?")], tmp_path / "c.jsonl"
    )
    done = offline_eval("testset", "variants", "c.jsonl", "--out", "v.jsonl", "--rules", "typos,limit")
    assert done.returncode == 0, done.stderr
    assert [len(case.variants) for case in read_cases(tmp_path / "v.jsonl")] == [2, 2]
    assert "rule typos" in done.stdout
    done = offline_eval("testset", "variants", "c.jsonl", "--out", "v.jsonl", "--rules", "typo")
    assert done.returncode == 2
    assert "did you mean 'typos'" in done.stderr
