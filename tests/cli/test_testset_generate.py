"""`testset generate` and `testset variants` from the command line, with a scripted judge."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from offline_eval.cli import testset_generation
from offline_eval.cli.main import run_cli
from offline_eval.core.records import Case
from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedScorer
from offline_eval.formats.reader import read_cases
from offline_eval.formats.writer import write_cases
from offline_eval.text.language import detect_language
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
    assert [case.answerable for case in cases] == [False, False]
    assert {case.tags for case in cases} == {("unanswerable", "unreviewed")}
    assert done.stdout.startswith("part,type,wanted,kept,tried,thrown out,")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--mix", "simple=.5"), 2, "add up to 0.5"),
        (("--mix", "multihop=1"), 2, "did you mean 'multi_hop'"),
        (("--steps", "fact"), 2, "did you mean 'facts'"),
        (("--steps", "distractor"), 2, "add reference"),
        (("--examples", "none.jsonl"), 3, "none.jsonl"),
        (("--examples", "none.md"), 3, "none.md: cannot be read"),
        (("--known", "none.jsonl"), 3, "none.jsonl: no such file or folder"),
        (("--known", "drafts.jsonl"), 3, "drafts.jsonl: no such file or folder"),
        (("--size", "100000000"), 2, "2 passages give at most 12 different ones (6 each)"),
    ],
)
def test_wrong_use_is_one_message(
    offline_eval: Program, handbook: Path, tmp_path: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    done = offline_eval("testset", "generate", handbook, *SCRIPTED, "--out", "made", *options)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert done.stderr.count("error: ") == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "made").exists()


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


def test_a_file_of_lines_steers_the_style_too(offline_eval: Program, handbook: Path, tmp_path: Path) -> None:
    text = "# Style\n\n- Who signs the form?\n2. 谁来签字？\n3、何时签字？\n> What does 1.5 mean?\nJust a remark.\n"
    (tmp_path / "notes.md").write_text(text, "utf-8")
    call = ("testset", "generate", handbook, "--size", 2, *SCRIPTED, "--out", "made", "--examples")
    done = offline_eval(*call, "notes.md")
    assert done.returncode == 0, done.stderr
    header = json.loads((tmp_path / "made" / "drafts.jsonl").read_text("utf-8").splitlines()[0])
    assert header["examples"] == ["Who signs the form?", "What does 1.5 mean?", "谁来签字？", "何时签字？"]
    assert "notes.md: 1 of 5 lines ask nothing and are left out" in done.stderr


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"# Notes\n\nOne remark.\nAnother one.\n", "none of 2 lines asks anything; write one question a line"),
        ("谁来签字？".encode("gb18030"), "not UTF-8"),
    ],
)
def test_a_file_of_lines_without_a_question_is_one_message(
    offline_eval: Program, handbook: Path, tmp_path: Path, raw: bytes, message: str
) -> None:
    (tmp_path / "notes.txt").write_bytes(raw)
    done = offline_eval("testset", "generate", handbook, *SCRIPTED, "--out", "made", "--examples", "notes.txt")
    assert (done.returncode, len(done.stderr.splitlines())) == (3, 1)
    assert message in done.stderr


def _digests(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("change", ["documents", "seed"])
def test_a_refused_call_changes_nothing_on_disk(
    offline_eval: Program, handbook: Path, tmp_path: Path, change: str
) -> None:
    call = ("testset", "generate", handbook, "--size", 2, *SCRIPTED, "--out", "made")
    assert offline_eval(*call).returncode == 0
    before = _digests(tmp_path / "made")
    assert "index/passages.jsonl" in before
    if change == "documents":
        (handbook / "more.txt").write_text("Visitors sign in at the desk.", "utf-8")
    done = offline_eval(*call, *(("--seed", 9) if change == "seed" else ()))
    assert done.returncode == 3
    assert f"other settings ({'corpus, sources' if change == 'documents' else 'seed'})" in done.stderr
    assert _digests(tmp_path / "made") == before
    assert {path.name for path in (tmp_path / "made").iterdir()} == {"drafts.jsonl", "index", "tally.json"}


RULES = {
    "en": (
        "Rule 1 says that form 7 is signed by the treasurer. It is kept for three years in the archive.",
        "Rule 2 says that form 14 is signed by the gardener. It is kept for four years in a wooden shed.",
        "Rule 3 says that form 21 is signed by the librarian. It is kept for five years in the reading room.",
        "Rule 4 says that form 28 is signed by the cashier. It is kept for six years in the strong box.",
        "Rule 5 says that form 35 is signed by the pilot. It is kept for seven years in the hangar.",
        "Rule 6 says that form 42 is signed by the chemist. It is kept for eight years in a cold store.",
    ),
    "zh": (
        "司库负责在档案室办理票据登记，期限为3天。逾期须由总经理书面批准。",
        "园丁负责在温室办理苗木登记，期限为5天。逾期须由后勤处书面批准。",
        "图书管理员负责在阅览室办理借阅登记，期限为7天。逾期须由馆长书面批准。",
        "出纳负责在金库办理现金登记，期限为9天。逾期须由财务总监书面批准。",
        "飞行员负责在机库办理油料登记，期限为11天。逾期须由站长书面批准。",
        "药剂师负责在冷库办理药品登记，期限为13天。逾期须由院长书面批准。",
    ),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_dry_run_goes_from_documents_to_a_version(offline_eval: Program, tmp_path: Path, language: str) -> None:
    (tmp_path / "documents").mkdir()
    for number, rule in enumerate(RULES[language]):
        (tmp_path / "documents" / f"{number}.txt").write_text(rule, "utf-8")
    done = offline_eval(
        *("testset", "generate", "documents", "--size", 12, *SCRIPTED, "--out", "made", "--format", "json"),
        "--accept-unreviewed",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    kept = {count["type"]: count["kept"] for count in found["types"]}
    assert {kind for kind, n in kept.items() if n} >= {"simple", "conditional", "counterfactual", "adversarial"}
    assert kept["unanswerable"] == 2
    looked_at = {rate["step"]: rate["looked_at"] for rate in found["steps"]}
    for check in ("reference", "grounded", "answered", "unanswerable", "not_repeated", "distractor_entailed"):
        assert looked_at[f"check {check}"] > 0
    cases = read_cases(tmp_path / "made" / "cases.jsonl")
    assert len(cases) == sum(kept.values())
    assert {case.language for case in cases} == {language}
    answered = [case for case in cases if case.answerable]
    assert all(case.reference and case.key_points and case.relevant_passages for case in answered)
    version = ("testset", "version", "made", "--out", "cases.jsonl", "--reason", "a dry run")
    done = offline_eval(*version)
    assert done.returncode == 0, done.stderr
    assert len(read_cases(tmp_path / "cases.jsonl")) == len(cases)


@pytest.mark.parametrize("how", [(), ("--accept-unreviewed",)])
def test_nothing_kept_is_a_failed_result_with_its_reasons_and_no_file(
    offline_eval: Program, tmp_path: Path, how: tuple[str, ...]
) -> None:
    (tmp_path / "a.txt").write_text("Staff receive 26 days.\n", "utf-8")
    call = ("testset", "generate", "a.txt", "--size", 1, *SCRIPTED, "--attempts", 2, "--mix")
    done = offline_eval(*call, "multi_hop=1", "--out", "first", *how)
    assert done.returncode == 1
    assert "nothing was kept, because there was nothing to ask about" in done.stderr
    done = offline_eval(*call, "simple=1", "--out", "second", *how)  # a question has more words than the document
    assert done.returncode == 1
    assert "nothing was kept of 2 drafts; most often: not_answered 2; try a larger model (--judge)" in done.stderr
    assert "more tries (--attempts)" in done.stderr
    assert "0 cases" not in done.stderr
    for name in ("first", "second"):
        assert not (tmp_path / name / "cases.jsonl").exists()
        assert (tmp_path / name / "tally.json").exists()


def test_a_folder_is_filled_up_with_more_attempts_and_another_repeats_nothing(
    offline_eval: Program, handbook: Path, tmp_path: Path
) -> None:
    call = ("testset", "generate", handbook, "--size", 12, "--mix", "simple=1", *SCRIPTED, "--format", "json")
    first = offline_eval(*call, "--attempts", 1, "--out", "made")
    more = offline_eval(*call, "--attempts", 6, "--out", "made")
    whole = offline_eval(*call, "--attempts", 6, "--out", "whole")
    assert [done.returncode for done in (first, more, whole)] == [0, 0, 0]
    kept = [json.loads(done.stdout)["types"][0]["kept"] for done in (first, more)]
    assert kept[0] <= kept[1]
    assert more.stdout == whole.stdout
    assert (tmp_path / "made" / "drafts.jsonl").read_bytes() == (tmp_path / "whole" / "drafts.jsonl").read_bytes()
    other = offline_eval(*call, "--out", "other", "--known", "made")
    assert other.returncode in (0, 1)
    asked = [
        {draft["case"]["query"] for line in lines for draft in line.get("drafts", ()) if draft.get("status") is None}
        for lines in (
            [json.loads(line) for line in (tmp_path / name / "drafts.jsonl").read_text("utf-8").splitlines()]
            for name in ("made", "other")
        )
    ]
    assert asked[0]
    assert not asked[0] & asked[1]


def test_a_language_that_a_model_lacks_is_said_in_one_line(
    offline_eval: Program, handbook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = ScriptedEmbedder(languages=("en",))
    opened = {"embedder": embedder, "nli": ScriptedScorer(languages=("en", "zh"))}
    monkeypatch.setattr(testset_generation, "open_encoder", lambda kind, name, options: opened[kind])
    done = offline_eval("testset", "generate", handbook, "--size", 4, *SCRIPTED, "--out", "made", "--embedder", "e")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "was not made for" in line]
    assert lines == ["embedder e was not made for zh: words are compared there"]
    assert embedder.texts_seen
    assert {detect_language(text) for text in embedder.texts_seen} == {"en"}


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


def test_variants_take_the_judges_options_and_speak_chinese(offline_eval: Program, tmp_path: Path) -> None:
    write_cases([Case(id="a", query="年假可以休几天？"), Case(id="b", query="産休は何日？")], tmp_path / "c.jsonl")
    call = ("testset", "variants", "c.jsonl", "--out", "v.jsonl", *SCRIPTED, "--nli", "any", "--batch-size", 4)
    done = offline_eval(*call, "--certified", "--allow-host", "10.0.0.5", "--lang", "zh")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:3] == ["种类", "生成", "未用"]
    assert "规则：错字" in done.stdout
    assert "引擎 scripted（asked for）；认证模式开（asked for）" in done.stderr
    assert "2 条用例已写入 v.jsonl" in done.stderr
    assert offline_eval(*call, "--no-certified", "--format", "csv").stdout.startswith(
        "kind,made,dropped\nrule colloquial,"
    )
    assert offline_eval(*call, "--batch-size", 0).returncode == 2


def test_a_judge_beyond_this_machine_has_to_be_allowed(offline_eval: Program, tmp_path: Path) -> None:
    write_cases([Case(id="a", query="年假可以休几天？")], tmp_path / "c.jsonl")
    call = ("testset", "variants", "c.jsonl", "--out", "v.jsonl", "--judge", "any", "--engine", "endpoint")
    done = offline_eval(*call, "--url", "http://10.0.0.5:8000/v1")
    assert done.returncode in (2, 3), done.stderr
    assert "--allow-host" in done.stderr
    assert "Traceback" not in done.stderr
