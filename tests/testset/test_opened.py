"""A file of cases is reviewed as drafts beside it; a file of another kind is named once."""

import json
from pathlib import Path

import pytest

from offline_eval.cli.main import run_cli
from offline_eval.core.errors import DataError
from offline_eval.core.records import Case
from offline_eval.formats.reader import read_cases
from offline_eval.formats.writer import write_cases
from offline_eval.testset.changelog import Changelog
from offline_eval.testset.draft import Edit, Review
from offline_eval.testset.draft_file import DraftFile, holds_drafts
from offline_eval.testset.opened import open_for_review, question_type

SAMPLED = [
    Case(id="log-1", query="年假有几天？", query_type="multi-hop", tags=("query-log",)),
    Case(id="log-2", query="谁审批差旅费？", query_type="factual", tags=("adversarial",)),
    Case(id="log-3", query="食堂几点开门？", answerable=False),
]


def test_sampled_cases_are_decided_and_enter_a_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "real.jsonl"
    write_cases(SAMPLED, path)
    file = open_for_review(path)
    assert file.path == tmp_path / "real.drafts.jsonl"
    assert [(draft.id, draft.type, draft.status) for draft in file.drafts] == [
        ("log-1", "multi_hop", "draft"),
        ("log-2", "adversarial", "draft"),
        ("log-3", "unanswerable", "draft"),
    ]
    assert [draft.case for draft in file.drafts] == SAMPLED
    edit = Edit(field="reference", before=None, after="十天")
    file.review("log-1", Review(reviewer="anna", decision="accepted", edits=(edit,)))
    file.review("log-2", Review(reviewer="anna", decision="rejected", reason="unclear"))
    assert open_for_review(path).drafts == file.drafts  # opened again as it was left
    assert run_cli(["testset", "version", str(file.path), "--out", str(tmp_path / "set.jsonl"), "--reason", "x"]) == 0
    assert read_cases(tmp_path / "set.jsonl") == [SAMPLED[0].model_copy(update={"reference": "十天"})]
    # Into the same file: what was rejected leaves, what is open stays.
    assert run_cli(["testset", "version", str(file.path), "--out", str(path), "--reason", "x"]) == 0
    assert "taken away, as their drafts were rejected: 1 case (log-2)" in capsys.readouterr().err
    assert [(case.id, case.reference) for case in read_cases(path)] == [("log-1", "十天"), ("log-3", None)]
    assert Changelog(path).versions[0].unreviewed == 1  # log-3, which nobody has decided on
    assert open_for_review(path).drafts == file.drafts


def test_a_case_that_changed_in_the_file_is_opened_anew_and_its_review_counts(tmp_path: Path) -> None:
    path = tmp_path / "real.jsonl"
    write_cases(SAMPLED, path)
    open_for_review(path).review("log-1", Review(reviewer="anna", decision="accepted"))
    changed = SAMPLED[0].model_copy(update={"query": "年假多少天？"})
    write_cases([changed, *SAMPLED[1:], Case(id="log-4", query="新问题？")], path)
    file = open_for_review(path)
    assert [(draft.case.query, draft.status) for draft in file.drafts] == [
        ("年假多少天？", "draft"), ("谁审批差旅费？", "draft"), ("食堂几点开门？", "draft"), ("新问题？", "draft"),
    ]  # fmt: skip
    assert [review.reviewer for review in file.drafts[0].reviews] == ["anna"]


def test_a_hand_edit_that_was_reviewed_afterwards_gives_way_to_the_review(tmp_path: Path) -> None:
    path = tmp_path / "real.jsonl"
    write_cases(SAMPLED[:1], path)
    version = ["testset", "version", str(tmp_path / "real.drafts.jsonl"), "--out", str(path), "--reason", "x"]
    open_for_review(path).review("log-1", Review(reviewer="anna", decision="accepted"))
    assert run_cli(version) == 0
    write_cases([SAMPLED[0].model_copy(update={"query": "年假多少天？"})], path)
    edit = Edit(field="reference", before=None, after="十天")
    open_for_review(path).review("log-1", Review(reviewer="anna", decision="accepted", edits=(edit,)))
    assert run_cli(version) == 0
    assert [(case.query, case.reference) for case in read_cases(path)] == [("年假多少天？", "十天")]


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        (Case(id="1", query="q", query_type="Multi Hop"), "multi_hop"),
        (Case(id="1", query="q", tags=("counterfactual",), answerable=True), "counterfactual"),
        (Case(id="1", query="q", query_type="factual"), "simple"),
    ],
)
def test_the_type_is_told_by_the_case(case: Case, kind: str) -> None:
    assert question_type(case) == kind


def test_drafts_are_known_by_what_is_in_them(tmp_path: Path) -> None:
    write_cases(SAMPLED, tmp_path / "drafts.jsonl")
    assert not holds_drafts(tmp_path / "drafts.jsonl")
    write_cases(SAMPLED, tmp_path / "real.jsonl")
    open_for_review(tmp_path / "real.jsonl").path.rename(tmp_path / "named.jsonl")
    assert holds_drafts(tmp_path / "named.jsonl")
    assert holds_drafts(tmp_path / "later.drafts.jsonl")
    with pytest.raises(DataError, match=r"no file of drafts \(its first line has id, query") as refused:
        DraftFile(tmp_path / "drafts.jsonl")
    assert len(refused.value.problems) == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("answers.jsonl", '{"case_id": "1", "answer": "x"}\n' * 3, "this is a file of answers, its first row has"),
        ("docs.jsonl", '{"id": "1", "text": "x"}\n' * 3, "this is a file of documents, its first row has id, text"),
        ("other.jsonl", '{"a": 1}\n' * 3, "this is no file of cases, its first row has a;"),
        ("s.changelog.jsonl", '{"number": 1}\n' * 3, "this is a changelog"),
        ("run.sqlite", "SQLite format 3\x00" + "x\n" * 3, "this is a run or labels"),
        ("empty.jsonl", "", "holds no rows"),
        ("gone.jsonl", None, "no such file or folder"),
    ],
)  # fmt: skip
def test_a_file_of_another_kind_is_named_in_one_message(
    tmp_path: Path, name: str, content: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, "utf-8")
    assert run_cli(["testset", "review", str(tmp_path / name)]) == 3
    err = capsys.readouterr().err
    assert err.startswith(f"error: {tmp_path / name}: {said}")
    assert len(err.splitlines()) == 1
    assert not [*tmp_path.glob("*.drafts.jsonl")]


def test_rows_that_are_wrong_in_themselves_are_named_one_by_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": "1", "query": "q"}, {"id": "1", "query": "r"}]
    (tmp_path / "real.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert run_cli(["testset", "review", str(tmp_path / "real.jsonl")]) == 3
    assert "real.jsonl:2: the id '1' is taken by line 1" in capsys.readouterr().err


def test_a_reviewer_without_a_name_is_told_about_the_option_that_was_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_cases(SAMPLED, tmp_path / "real.jsonl")
    assert run_cli(["testset", "review", str(tmp_path / "real.jsonl"), "--reviewer", ""]) == 2
    assert capsys.readouterr().err.startswith("error: --reviewer '': give a name")
