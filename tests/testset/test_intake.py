"""Drafts enter a set without undoing what was edited there by hand, and say who read them."""

import json
from pathlib import Path

import pytest

from offline_eval.core.errors import DataError
from offline_eval.core.records import Case
from offline_eval.formats.reader import read_cases
from offline_eval.formats.writer import write_cases
from offline_eval.testset.changelog import Changelog, changelog_path
from offline_eval.testset.draft import Draft, Edit, Review
from offline_eval.testset.draft_file import DraftFile
from offline_eval.testset.intake import Intake, take_drafts
from tests.support.cli import offline_eval


def made(folder: Path, *ids: str) -> DraftFile:
    file = DraftFile(folder / "drafts.jsonl")
    cases = [Case(id=id, query=f"{id}？", reference="旧") for id in ids]
    file.append_batch("all", [Draft(id=case.id, type="simple", case=case) for case in cases])
    return file


def accept(file: DraftFile, id: str, reference: str | None = None) -> None:
    edits = () if reference is None else (Edit(field="reference", before=None, after=reference),)
    file.review(id, Review(reviewer="anna", decision="accepted", edits=edits))


def reject(file: DraftFile, id: str) -> None:
    file.review(id, Review(reviewer="anna", decision="rejected", reason="unclear"))


class Set:
    """A test set as the command keeps it: cases beside their changelog."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "cases.jsonl"
        self.folder = folder

    def take(self, **options: bool) -> Intake:
        known = read_cases(self.path) if self.path.exists() else []
        changelog = Changelog(self.path)
        intake = take_drafts(self.folder, known=known, changelog=changelog, **options)
        changelog.add(intake.cases, reason="drafts", unreviewed=intake.unreviewed_ids, drafts=intake.drafts)
        write_cases(intake.cases, self.path)
        return intake

    def edit(self, id: str, reference: str) -> None:
        cases = [c.model_copy(update={"reference": reference} if c.id == id else {}) for c in read_cases(self.path)]
        self.write(cases)

    def write(self, cases: list[Case]) -> None:
        write_cases(cases, self.path)
        Changelog(self.path).add(cases, reason="by hand")

    def references(self) -> dict[str, str | None]:
        return {case.id: case.reference for case in read_cases(self.path)}


@pytest.fixture
def file(tmp_path: Path) -> DraftFile:
    file = made(tmp_path, "a", "b", "c")
    accept(file, "a")
    accept(file, "b")
    return file


def test_a_hand_edit_stays_and_is_named_until_the_user_lets_drafts_win(file: DraftFile, tmp_path: Path) -> None:
    cases = Set(tmp_path)
    assert cases.take().edited == ()
    cases.edit("a", "手改")
    accept(file, "a", "审核后")
    accept(file, "c")
    assert cases.take().edited == ("a",)
    assert cases.references() == {"a": "手改", "b": "旧", "c": "旧"}
    accept(file, "b", "b 审核后")
    assert cases.take().edited == ("a",)  # what was kept last time was not given by the draft
    assert cases.references() == {"a": "手改", "b": "b 审核后", "c": "旧"}
    assert cases.take(replace_edited=True).edited == ()
    assert cases.references()["a"] == "审核后"
    accept(file, "a", "再审")
    assert cases.take().edited == ()
    assert cases.references()["a"] == "再审"


def test_a_hand_edit_back_to_what_a_draft_once_gave_stays_too(file: DraftFile, tmp_path: Path) -> None:
    cases = Set(tmp_path)
    cases.take()
    accept(file, "a", "新")
    cases.take()
    cases.edit("a", "旧")
    for id in ("c", "b"):
        accept(file, id, "别的")
        assert cases.take().edited == ("a",)
        assert cases.references()["a"] == "旧"


def test_a_case_removed_by_hand_stays_away(file: DraftFile, tmp_path: Path) -> None:
    cases = Set(tmp_path)
    cases.take()
    cases.write([case for case in read_cases(cases.path) if case.id != "b"])
    accept(file, "c")
    assert cases.take().removed == ("b",)
    assert [*cases.references()] == ["a", "c"]
    cases.take(replace_edited=True)
    assert sorted(cases.references()) == ["a", "b", "c"]


def test_a_later_rejection_takes_a_case_away_and_a_later_acceptance_brings_it_back(
    file: DraftFile, tmp_path: Path
) -> None:
    cases = Set(tmp_path)
    cases.take()
    reject(file, "b")
    assert cases.take().drafts.withdrew == ("b",)
    assert [*cases.references()] == ["a"]
    accept(file, "b")
    assert cases.take().removed == ()
    assert [*cases.references()] == ["a", "b"]
    cases.edit("b", "手改")
    reject(file, "b")
    accept(file, "c")
    assert cases.take().drafts.withdrew == ()
    assert cases.references()["b"] == "手改"


def test_a_case_of_the_same_id_that_no_draft_gave_is_kept(file: DraftFile, tmp_path: Path) -> None:
    own = Case(id="a", query="自己的问题？")
    intake = take_drafts(tmp_path, known=[own])
    assert (intake.edited, intake.cases[0], intake.drafts.gave) == (("a",), own, ("b",))


def test_entries_of_older_programs_tell_what_drafts_gave(file: DraftFile, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    changelog = Changelog(path)
    first = changelog.add([draft.case for draft in file.drafts[:2]], reason="drafts", unreviewed=())
    assert first.drafts is None
    assert "drafts" not in json.loads(changelog_path(path).read_text("utf-8"))
    accept(file, "a", "审核后")
    known = changelog.last_cases()
    assert take_drafts(tmp_path, known=known, changelog=changelog).edited == ()
    edited = [known[0].model_copy(update={"reference": "手改"}), known[1]]
    assert take_drafts(tmp_path, known=edited, changelog=changelog).edited == ("a",)
    assert take_drafts(tmp_path, known=known[:1], changelog=changelog).removed == ("b",)


def test_undecided_drafts_are_taken_with_a_tag_that_a_person_s_acceptance_removes(tmp_path: Path) -> None:
    file = made(tmp_path, "a", "b")
    accept(file, "a")
    cases = Set(tmp_path)
    assert cases.take(with_unreviewed=True).unreviewed == 1
    assert {case.id: case.tags for case in read_cases(cases.path)} == {"a": (), "b": ("unreviewed",)}
    accept(file, "b")
    assert cases.take().unreviewed == 0
    assert read_cases(cases.path)[1].tags == ()
    assert [version.unreviewed for version in Changelog(cases.path).versions] == [1, 0]


def test_a_version_counts_the_unreviewed_of_what_it_added_or_changed(tmp_path: Path) -> None:
    file = made(tmp_path, "a", "b", "c")
    cases = Set(tmp_path)
    assert cases.take(with_unreviewed=True).unreviewed == 3
    accept(file, "c", "审核后")
    assert cases.take(with_unreviewed=True).unreviewed == 2
    # Version 2 changed c alone, which was read: a and b stand in it as before.
    assert [version.unreviewed for version in Changelog(cases.path).versions] == [3, 0]


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        take_drafts(tmp_path / "drafts.jsonl", known=[])


def test_the_command_names_what_it_kept(file: DraftFile, tmp_path: Path) -> None:
    version = ("testset", "version", "drafts.jsonl", "--out", "cases.jsonl", "--reason")
    assert offline_eval(*version, "first", cwd=tmp_path).returncode == 0
    rows = (tmp_path / "cases.jsonl").read_text("utf-8").replace("旧", "手改", 1)
    (tmp_path / "cases.jsonl").write_text(rows, "utf-8")
    assert offline_eval("testset", "version", "cases.jsonl", "--reason", "hand", cwd=tmp_path).returncode == 0
    accept(file, "c")
    done = offline_eval(*version, "more", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("cases@3 ")
    assert "edited by hand, so kept against their drafts: 1 case (a); --replace-edited takes the drafts" in done.stderr
    assert Set(tmp_path).references() == {"a": "手改", "b": "旧", "c": "旧"}
    won = offline_eval(*version, "drafts win", "--replace-edited", cwd=tmp_path)
    assert won.returncode == 0, won.stderr
    assert Set(tmp_path).references() == {"a": "旧", "b": "旧", "c": "旧"}
