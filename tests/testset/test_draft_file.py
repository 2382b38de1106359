"""A drafts file only grows: batches come back as they were made, decisions are lines of their own."""

from pathlib import Path

import pytest

from offline_eval.core.errors import DataError
from offline_eval.core.records import Case
from offline_eval.testset.draft import Draft, Edit, Review
from offline_eval.testset.draft_file import DraftFile, Header


def _draft(name: str) -> Draft:
    case = Case(id=name, query="年假有几天？", language="zh", reference="5天", key_points=("有5天。",))
    return Draft(id=name, type="simple", case=case)


def _file(tmp_path: Path) -> DraftFile:
    file = DraftFile(tmp_path / "new" / "drafts.jsonl")
    file.begin(Header(settings={"size": 2}))
    file.append_batch("01", [_draft("a"), _draft("b").rejected("duplicate")])
    return file


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    file = _file(tmp_path)
    again = DraftFile(tmp_path / "new")
    assert again.drafts == file.drafts
    assert again.batch("01") == file.drafts
    assert again.batch("02") is None
    assert again.header == file.header


def test_the_latest_decision_counts_and_the_batch_stays_as_it_was_made(tmp_path: Path) -> None:
    file = _file(tmp_path)
    edit = Edit(field="query", before="年假有几天？", after="法定年休假有几天？")
    file.review("a", Review(reviewer="li", decision="rejected", reason="unclear"))
    file.review("a", Review(reviewer="wang", decision="accepted", edits=(edit,)))
    again = DraftFile(file.path)
    first = again.drafts[0]
    assert (first.status, first.decided_by, first.case.query) == ("accepted", "review", "法定年休假有几天？")
    assert [review.reviewer for review in first.reviews] == ["li", "wang"]
    assert again.accepted == (first.case,)
    batch = again.batch("01")
    assert batch is not None
    assert batch[0].status == "draft"
    assert len(file.path.read_text("utf-8").splitlines()) == 4


def test_a_person_can_take_back_what_a_check_threw_out(tmp_path: Path) -> None:
    file = _file(tmp_path)
    assert file.review("b", Review(reviewer="li", decision="accepted")).status == "accepted"


def test_a_rejection_without_a_reason_is_none() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Review(reviewer="li", decision="rejected", reason=" ")


def test_an_edit_that_makes_no_case_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    file = _file(tmp_path)
    before = file.path.read_bytes()
    edit = Edit(field="key_points", before=["有5天。"], after=7)
    with pytest.raises(DataError, match="a: key_points"):
        file.review("a", Review(reviewer="li", decision="accepted", edits=(edit,)))
    with pytest.raises(DataError, match="no draft 'c'"):
        file.review("c", Review(reviewer="li", decision="accepted"))
    assert file.path.read_bytes() == before


def test_unreviewed_drafts_are_taken_only_when_asked_and_say_so(tmp_path: Path) -> None:
    file = _file(tmp_path)
    assert file.accept_unreviewed() == 1
    assert file.accept_unreviewed() == 0
    (case,) = DraftFile(file.path).accepted
    assert (case.id, case.tags) == ("a", ("unreviewed",))


def test_what_a_person_accepts_no_longer_says_that_nobody_read_it(tmp_path: Path) -> None:
    file = _file(tmp_path)
    file.accept_unreviewed()
    file.review("a", Review(reviewer="li", decision="rejected", reason="unclear"))
    file.review("a", Review(reviewer="li", decision="accepted"))
    (case,) = DraftFile(file.path).accepted
    assert case.tags == ()
    assert [form.tags for form in file.forms_of("a")] == [(), ("unreviewed",), ("unreviewed",), ()]


def test_a_torn_last_line_is_cut_and_its_batch_made_again(tmp_path: Path) -> None:
    file = _file(tmp_path)
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + b'{"kind": "batch", "name": "02", "dra')
    again = DraftFile(file.path)
    assert again.drafts == file.drafts
    again.append_batch("02", [_draft("c")])
    assert [draft.id for draft in DraftFile(file.path).drafts] == ["a", "b", "c"]


def test_a_line_that_is_no_draft_is_named(tmp_path: Path) -> None:
    file = _file(tmp_path)
    with file.path.open("ab") as stream:
        stream.write(b'{"kind": "other"}\n')
    with pytest.raises(DataError, match=r"drafts.jsonl:3: no line of a drafts file"):
        DraftFile(file.path)
