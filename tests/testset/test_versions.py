"""Versions: content hash, reason, every change with old and new, and a file nobody can tidy afterwards."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from offline_eval.cli.main import run_cli
from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.records import Case
from offline_eval.formats.reader import read_cases
from offline_eval.formats.writer import write_cases
from offline_eval.pipeline.config import case_set_hash
from offline_eval.testset.changelog import Changelog, changelog_path, version_label
from offline_eval.testset.diff import apply_diff, diff_cases, diff_rows
from offline_eval.testset.draft import Draft, Review
from offline_eval.testset.draft_file import DraftFile
from offline_eval.testset.intake import take_drafts
from offline_eval.testset.validate import validate_cases
from offline_eval.testset.versions import restore_version, standing
from tests.support.cli import offline_eval

OLD = [
    Case(id="a", query="年假有几天？", reference="五天", key_points=("五天",), relevant_passages={"p1": 1}),
    Case(id="b", query="Who approves travel?", reference="The head of finance"),
    Case(id="c", query="食堂几点开门？"),
]
NEW = [
    OLD[2],
    Case(
        id="a",
        query="年假有几天？",
        reference="十天",
        key_points=("十天", "按工龄"),
        relevant_passages={"p1": 2},
        difficulty="easy",
    ),
    Case(id="d", query="加班怎么算？"),
]
GOLDEN = [
    {"change": "added", "case": "d", "field": "query", "old": None, "new": "加班怎么算？"},
    {"change": "removed", "case": "b", "field": "query", "old": "Who approves travel?", "new": None},
    {"change": "changed", "case": "a", "field": "difficulty", "old": None, "new": "easy"},
    {"change": "changed", "case": "a", "field": "reference", "old": "五天", "new": "十天"},
    {"change": "changed", "case": "a", "field": "key_points", "old": ["五天"], "new": ["十天", "按工龄"]},
    {"change": "changed", "case": "a", "field": "relevant_passages", "old": {"p1": 1}, "new": {"p1": 2}},
]


def test_a_diff_names_every_change_with_old_and_new() -> None:
    found = diff_cases(OLD, NEW)
    assert diff_rows(found) == GOLDEN
    assert found.summary == (
        "1 added, 1 removed, 1 changed (difficulty 1, reference 1, key_points 1, relevant_passages 1)"
    )
    assert diff_cases(OLD, OLD[::-1]).summary == "no change"


_TEXTS = st.text("abc年假", max_size=3)
_CASES = st.lists(
    st.builds(
        Case, id=st.sampled_from("abcdef"), query=_TEXTS, reference=st.none() | _TEXTS,
        key_points=st.lists(_TEXTS, max_size=2).map(tuple), answerable=st.none() | st.booleans(),
        relevant_passages=st.dictionaries(st.sampled_from("pq"), st.integers(0, 2)),
        metadata=st.dictionaries(st.sampled_from("xy"), st.none() | st.integers()),
    ),
    unique_by=lambda case: case.id, max_size=5,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(_CASES, _CASES)
def test_what_changed_turns_the_old_version_into_the_new_one(old: list[Case], new: list[Case]) -> None:
    diff = diff_cases(old, new)
    assert apply_diff(old, diff) == sorted(new, key=lambda case: case.id)
    assert bool(diff) == (case_set_hash(old) != case_set_hash(new))
    assert {case.id for case in diff.added} == {case.id for case in diff_cases(new, old).removed}


def test_a_changelog_gives_every_version_back(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    first = Changelog(path).add(OLD, reason="first set", author="anna", at="2026-01-01T00:00:00+00:00")
    assert (first.number, first.n_cases, first.previous) == (1, 3, "0" * 64)
    second = Changelog(path).add(NEW, reason=" 年假改为十天 ")
    assert (second.number, second.reason, second.previous) == (2, "年假改为十天", first.hash)
    again = Changelog(path)
    assert again.cases_of(1) == sorted(OLD, key=lambda case: case.id)
    assert again.cases_of(2) == sorted(NEW, key=lambda case: case.id)
    assert second.cases_hash == case_set_hash(NEW)
    assert again.version_of(OLD[::-1]) == first
    assert version_label(path, NEW) == ("cases@2", None)
    label, remark = version_label(path, NEW[:1])
    assert label is None
    assert "is no version of its changelog (2 versions)" in str(remark)
    assert version_label(tmp_path / "other.jsonl", NEW) == (None, None)


def test_a_version_needs_a_reason_a_change_and_cases(tmp_path: Path) -> None:
    changelog = Changelog(tmp_path / "cases.jsonl")
    with pytest.raises(UsageError, match="needs a reason"):
        changelog.add(OLD, reason=" ")
    with pytest.raises(DataError, match="without any case"):
        changelog.add([], reason="x")
    changelog.add(OLD, reason="x")
    with pytest.raises(UsageError, match="nothing changed since version 1"):
        changelog.add(OLD[::-1], reason="y")
    with pytest.raises(UsageError, match="no version 3; known: 1 to 1"):
        changelog.cases_of(3)


@pytest.mark.parametrize("fault", ["reason", "dropped", "swapped", "case", "torn"])
def test_an_altered_changelog_is_refused(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "cases.jsonl"
    for cases in (OLD, NEW, OLD[:1]):
        Changelog(path).add(cases, reason="why")
    lines = changelog_path(path).read_text("utf-8").splitlines(keepends=True)
    altered = {
        "reason": [lines[0].replace('"why"', '"because"'), *lines[1:]],
        "dropped": [lines[0], lines[2]],
        "swapped": [lines[1], lines[0], lines[2]],
        "case": [lines[0].replace("五天", "六天"), *lines[1:]],
        "torn": [*lines[:2], lines[2][:-20]],
    }[fault]
    changelog_path(path).write_text("".join(altered), "utf-8")
    with pytest.raises(DataError, match=r"cases\.changelog\.jsonl:\d"):
        Changelog(path)


def drafts(folder: Path) -> DraftFile:
    file = DraftFile(folder / "drafts.jsonl")
    cases = [Case(id=id, query=f"{id}？") for id in ("yes", "no", "open", "bad")]
    made = [Draft(id=case.id, type="simple", case=case) for case in cases]
    file.append_batch("all", [*made[:3], made[3].rejected("ungrounded")])
    file.review("yes", Review(reviewer="anna", decision="accepted"))
    file.review("no", Review(reviewer="anna", decision="rejected", reason="unclear"))
    return file


def test_only_accepted_drafts_enter_unless_asked(tmp_path: Path) -> None:
    drafts(tmp_path)
    intake = take_drafts(tmp_path, known=OLD[:1])
    assert [case.id for case in intake.cases] == ["a", "yes"]
    assert (intake.left_out, intake.unreviewed) == ({"draft": 1, "rejected": 2}, 0)
    asked = take_drafts(tmp_path, known=(), with_unreviewed=True)
    assert [case.id for case in asked.cases] == ["yes", "open"]
    assert (asked.left_out, asked.unreviewed) == ({"rejected": 2}, 1)


def test_validation_finds_contradictions_repetitions_and_unknown_ids() -> None:
    cases = [
        Case(id="1", query="年假 有几天?"),
        Case(id="2", query="年假有几天？"),
        Case(id="3", query="Q", answerable=False, relevant_passages={"p": 1}, key_points=("x",)),
        Case(id="4", query="R", answerable=True, relevant_passages={"missing": 1, "known": 1}),
        Case(id="5", query="S", reference=" ", key_points=("a", " ", "A.")),
        Case(id="6", query="T", answerable=True, variants=("t!", "u")),
    ]
    found = [(item.severity, item.case, item.field) for item in validate_cases(cases, passage_ids={"known", "p"})]
    assert found == [
        ("error", "2", "query"),
        ("error", "3", "answerable"),
        ("error", "3", "key_points"),
        ("error", "4", "relevant_passages"),
        ("error", "5", "reference"),
        ("error", "5", "key_points"),
        ("warning", "5", "key_points"),
        ("warning", "6", "reference"),
        ("warning", "6", "variants"),
    ]
    assert validate_cases(OLD) == []


def test_the_commands_from_file_to_diff(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    write_cases(OLD, path)
    made = offline_eval("testset", "version", path, "--reason", "第一版", "--author", "anna", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert made.stdout == f"cases@1 {case_set_hash(OLD)[:12]}\n"
    write_cases(NEW, path)
    shown = offline_eval("testset", "diff", path, "--format", "json", cwd=tmp_path)
    assert json.loads(shown.stdout) == GOLDEN
    offline_eval("testset", "version", path, "--reason", "second", cwd=tmp_path)
    between = offline_eval("testset", "diff", f"{path}@1", f"{path}@2", "--format", "json", cwd=tmp_path)
    assert json.loads(between.stdout) == GOLDEN
    log = offline_eval("testset", "log", path, "--format", "json", cwd=tmp_path)
    assert [(row["version"], row["reason"], row["n_cases"]) for row in json.loads(log.stdout)] == [
        ("cases@1", "第一版", 3),
        ("cases@2", "second", 3),
    ]
    checked = offline_eval("testset", "validate", path, cwd=tmp_path)
    assert checked.returncode == 0
    assert "version cases@2: 0 errors, 0 warnings" in checked.stderr


def test_a_run_carries_the_version_of_its_cases(tmp_path: Path) -> None:
    cases = OLD[:1]
    write_cases(cases, tmp_path / "cases.jsonl")
    Changelog(tmp_path / "cases.jsonl").add(cases, reason="first")
    (tmp_path / "answers.jsonl").write_text(json.dumps({"case_id": "a", "answer": "五天"}) + "\n", "utf-8")
    run = ("run", "cases.jsonl", "--responses", "answers.jsonl", "--engine", "scripted", "--metrics", "panel")
    done = offline_eval(*run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = offline_eval("runs", "show", "latest", "--manifest", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    manifest = json.loads(shown.stdout)
    assert (manifest["sessions"][0]["test_set"], manifest["cases_hash"]) == ("cases@1", case_set_hash(cases))
    write_cases(OLD[1:2], tmp_path / "cases.jsonl")
    (tmp_path / "answers.jsonl").write_text(json.dumps({"case_id": "b", "answer": "Finance"}) + "\n", "utf-8")
    changed = offline_eval(*run, cwd=tmp_path)
    assert "is no version of its changelog (1 versions)" in changed.stderr


def test_a_lost_file_is_restored_from_its_changelog(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    for cases in (OLD, NEW):
        Changelog(path).add(cases, reason="why")
    for lost in (
        ("version", "cases.jsonl", "--reason", "x"),
        ("diff", "cases.jsonl"),
        ("diff", "cases.jsonl@1", "cases.jsonl"),
    ):
        said = offline_eval("testset", *lost, cwd=tmp_path)
        assert said.returncode == 3
        assert said.stderr == (
            "error: cases.jsonl: no such file, but cases.changelog.jsonl has its versions 1 to 2; "
            "`offline-eval testset restore cases.jsonl@2 --out cases.jsonl` writes the last one again\n"
        )
    drafts(tmp_path)
    taken = offline_eval("testset", "version", "drafts.jsonl", "--out", "cases.jsonl", "--reason", "x", cwd=tmp_path)
    assert taken.returncode == 3
    assert "testset restore cases.jsonl@2" in taken.stderr
    assert "testset restore cases.jsonl@2" in offline_eval("testset", "log", "cases.jsonl", cwd=tmp_path).stderr
    done = offline_eval("testset", "restore", "cases.jsonl", "--out", "cases.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "cases@2\n"), done.stderr
    assert read_cases(path) == sorted(NEW, key=lambda case: case.id)
    assert offline_eval("testset", "restore", "cases.jsonl@1", "--out", "old.jsonl", cwd=tmp_path).returncode == 0
    assert read_cases(tmp_path / "old.jsonl") == OLD
    log = offline_eval("testset", "log", "cases.jsonl", cwd=tmp_path)
    assert log.stderr == "cases.jsonl is cases@2, the last one\n"


def test_restoring_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    Changelog(path).add(OLD, reason="why")
    write_cases(NEW, path)
    with pytest.raises(UsageError, match=r"in no version of .* and would be lost"):
        restore_version(str(path), path)
    assert read_cases(path) == NEW
    assert "is no version: 1 added, 1 removed, 1 changed" in standing(path, Changelog(path))
    Changelog(path).add(NEW, reason="why")
    assert restore_version(f"{path}@1", path) == ("cases@1", 3)
    assert "is cases@1, not the last one; `offline-eval testset restore" in standing(path, Changelog(path))
    with pytest.raises(UsageError, match="there is no version 3; known: 1 to 2"):
        restore_version(f"{path}@3", path)
    with pytest.raises(UsageError, match=r"ends in \.jsonl"):
        restore_version(str(path), tmp_path / "cases.csv")


def test_cases_are_on_disk_before_the_changelog_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts(tmp_path)
    path = tmp_path / "new" / "cases.jsonl"
    command = ["testset", "version", str(tmp_path / "drafts.jsonl"), "--out", str(path), "--reason", "x"]

    def full(*_: object) -> None:
        raise DataError("no room on the disk")

    with monkeypatch.context() as patched:
        patched.setattr("offline_eval.formats.writer.write_cases", full)
        assert run_cli(command) == 3
    assert not changelog_path(path).exists()  # no version whose cases were never written
    with monkeypatch.context() as patched:
        patched.setattr("offline_eval.testset.changelog._append", full)
        assert run_cli(command) == 3
    assert [case.id for case in read_cases(path)] == ["yes"]
    assert run_cli(command) == 0  # running again makes the version that was cut off
    assert Changelog(path).cases_of(1) == read_cases(path)


def test_every_file_has_a_changelog_of_its_own(tmp_path: Path) -> None:
    names = {
        "cases.jsonl": "cases", "cases.csv": "cases", "cases.jsonl.gz": "cases", "s.en.jsonl": "s.en",
        "s.zh.jsonl": "s.zh", "cases": "cases", ".hidden.jsonl": ".hidden",
    }  # fmt: skip
    for file, name in names.items():
        assert changelog_path(tmp_path / file).name == f"{name}.changelog.jsonl"
    for name, cases in (("s.en.jsonl", OLD[1:2]), ("s.zh.jsonl", OLD[2:])):
        write_cases(cases, tmp_path / name)
        made = offline_eval("testset", "version", name, "--reason", "first", cwd=tmp_path)
        assert made.stdout.startswith(f"{name.removesuffix('.jsonl')}@1 ")
        assert "1 cases: 1 added, 0 removed" in made.stderr
    (tmp_path / "t.changelog.jsonl").write_bytes((tmp_path / "s.en.changelog.jsonl").read_bytes())
    write_cases(OLD[1:2], tmp_path / "t.en.jsonl")
    older = offline_eval("testset", "log", "t.en.jsonl", cwd=tmp_path)
    assert "rename it to t.en.changelog.jsonl" in older.stderr


def test_a_diff_with_one_version_compares_it_with_the_file_and_an_unknown_one_names_those_there_are(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cases.jsonl"
    write_cases(NEW, path)
    for cases in (OLD, NEW):
        Changelog(path).add(cases, reason="why")
    first = offline_eval("testset", "diff", "cases.jsonl@1", "--format", "json", cwd=tmp_path)
    assert json.loads(first.stdout) == GOLDEN
    for specs in (("cases.jsonl@9",), ("cases.jsonl@9", "cases.jsonl"), ("cases.jsonl", "cases.jsonl@9")):
        said = offline_eval("testset", "diff", *specs, cwd=tmp_path)
        assert (said.returncode, said.stderr) == (
            2, "error: cases.changelog.jsonl: there is no version 9; known: 1 to 2\n",
        )  # fmt: skip
