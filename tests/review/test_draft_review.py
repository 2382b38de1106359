"""Drafts are accepted, edited and rejected at a page that lets nobody else in and escapes what it shows."""

import json
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from offline_eval.core.errors import DataError
from offline_eval.core.records import Case, Passage
from offline_eval.retrieval.passage_store import StoreWriter
from offline_eval.review.draft_desk import DraftDesk, edits_of
from offline_eval.review.draft_pages import draft_review_app
from offline_eval.review.draft_sources import SourceTexts
from offline_eval.review.draft_words import DRAFT_WORDS
from offline_eval.review.server import Session
from offline_eval.testset.draft import CheckResult, Draft
from offline_eval.testset.draft_file import DraftFile
from tests.support.review_runs import ORIGIN, PORT, SECRET, send

HOSTILE = "<script>alert(1)</script>\u202e"


def draft(number: int, **changes: object) -> Draft:
    case = Case(id=f"c{number}", query=f"第{number}个问题？", reference="答案。", key_points=("一", "二"),
                relevant_passages={"p1": 2}, answerable=True)  # fmt: skip
    return Draft.model_validate(
        {"id": f"d{number}", "type": "simple", "case": case, "sources": ("p1", "p9"), **changes}
    )


def make_file(folder: Path, *drafts: Draft) -> DraftFile:
    file = DraftFile(folder / "drafts.jsonl")
    file.append_batch("first", drafts or [draft(1).rejected("ungrounded"), draft(2), draft(3)])
    return file


def make_desk(file: DraftFile) -> DraftDesk:
    passages = {"p1": Passage(id="p1", title="制度", text=f"原文在此 {HOSTILE}")}
    return DraftDesk(file, person="anna", passages=passages, clock=lambda: "2026-01-01T00:00:00+00:00")


def opened(desk: DraftDesk, language: str = "en") -> TestClient:
    app = draft_review_app(desk, Session(PORT, secret=SECRET), language=language)  # type: ignore[arg-type]
    client = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    assert client.get(f"/?session={SECRET}").status_code == 303
    return client


def test_accepting_keeps_edits_with_old_and_new_and_moves_on(tmp_path: Path) -> None:
    file = make_file(tmp_path)
    client = opened(make_desk(file))
    assert client.get("/").headers["location"] == "/item/1"
    same = {
        "query": "第2个问题？",
        "reference": "答案。\r\n",
        "key_points": "一\r\n二",
        "query_type": "",
        "difficulty": "",
    }
    assert send(client, "/item/1/accept", **{**same, "reference": "更好的答案。", "key_points": "一\n三\n\n"}) == 303
    assert client.get("/").headers["location"] == "/item/2"
    found = {item.id: item for item in DraftFile(tmp_path).drafts}["d2"]
    assert (found.status, found.decided_by, found.case.reference, found.case.key_points) == (
        "accepted", "review", "更好的答案。", ("一", "三"),
    )  # fmt: skip
    [review] = found.reviews
    assert [(edit.field, edit.before, edit.after) for edit in review.edits] == [
        ("reference", "答案。", "更好的答案。"),
        ("key_points", ["一", "二"], ["一", "三"]),
    ]
    assert (review.reviewer, review.at) == ("anna", "2026-01-01T00:00:00+00:00")
    assert send(client, "/item/2/accept", **{**same, "query": "第3个问题？"}) == 303
    assert {item.id: item for item in DraftFile(tmp_path).drafts}["d3"].reviews[0].edits == ()
    assert client.get("/").headers["location"] == "/queue"


def test_rejecting_needs_a_reason_and_a_later_decision_replaces_it(tmp_path: Path) -> None:
    file = make_file(tmp_path)
    client = opened(make_desk(file))
    assert send(client, "/item/1/reject", reason="  ") == 400
    assert DraftFile(tmp_path).drafts[1].status == "draft"
    assert send(client, "/item/1/reject", reason="与原文不符") == 303
    assert (DraftFile(tmp_path).drafts[1].status, DraftFile(tmp_path).drafts[1].status_reason) == (
        "rejected",
        "与原文不符",
    )
    assert send(client, "/item/1/accept") == 303
    assert [case.id for case in DraftFile(tmp_path).accepted] == ["c2"]
    # What a check threw out stands last, and a person may take it back.
    assert send(client, "/item/3/accept") == 303
    assert [case.id for case in DraftFile(tmp_path).accepted] == ["c1", "c2"]


def test_what_cannot_be_kept_is_refused_whole(tmp_path: Path) -> None:
    client = opened(make_desk(make_file(tmp_path)))
    before = (tmp_path / "drafts.jsonl").read_bytes()
    assert send(client, "/item/1/accept", query=" ") == 400
    assert send(client, "/item/1/accept", reference="长" * 4001) == 400
    assert send(client, "/item/9/accept") == 404
    assert client.post("/item/1/accept", data={"csrf": "wrong"}, headers={"Origin": ORIGIN}).status_code == 403
    csrf = Session(PORT, secret=SECRET).csrf
    assert (
        client.post("/item/1/accept", data={"csrf": csrf}, headers={"Origin": "http://evil.example"}).status_code == 403
    )
    assert (tmp_path / "drafts.jsonl").read_bytes() == before


def test_without_the_session_nothing_is_shown(tmp_path: Path) -> None:
    app = draft_review_app(make_desk(make_file(tmp_path)), Session(PORT, secret=SECRET), language="en")
    client = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    for address in ("/", "/item/1", "/queue", "/help", "/static/keys.js"):
        assert client.get(address).status_code == 403


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_show_everything_escaped_in_both_languages(tmp_path: Path, language: str) -> None:
    check = CheckResult(check="grounded", outcome="rejected", reason="low", detail=HOSTILE, value=0.123, threshold=0.5)
    hostile = draft(1, checks=(check,), false_premise=HOSTILE, distractor=HOSTILE, type="adversarial")
    hostile = hostile.model_copy(update={"case": hostile.case.model_copy(update={"query": HOSTILE})})
    client = opened(make_desk(make_file(tmp_path, hostile)), language)
    words = DRAFT_WORDS[language]  # type: ignore[index]
    page = client.get("/item/1").text
    for wanted in ("原文在此", "0.123", words["type_adversarial"], words["false_premise"], words["source_unknown"]):
        assert wanted in page
    assert send(client, "/item/1/reject", reason=HOSTILE) == 303
    for address in ("/item/1", "/queue", "/help", "/item/7"):
        text = client.get(address).text
        assert "<script>alert" not in text
        assert "\u202e" not in text
    assert words["status_rejected"] in client.get("/queue").text


def test_both_languages_have_the_same_words() -> None:
    assert DRAFT_WORDS["en"].keys() == DRAFT_WORDS["zh"].keys()
    for name, text in DRAFT_WORDS["en"].items():
        assert {*re.findall(r"\{\w+\}", text)} == {*re.findall(r"\{\w+\}", DRAFT_WORDS["zh"][name])}


def test_an_edit_that_makes_no_case_is_refused_by_the_file(tmp_path: Path) -> None:
    file = make_file(tmp_path)
    desk = make_desk(file)
    with pytest.raises(DataError, match="query"):
        desk.accept(draft(2), {"query": ""})


def test_white_space_alone_is_no_edit() -> None:
    assert edits_of(draft(1), {"query": " 第1个问题？ ", "key_points": "一\n\n 二 ", "difficulty": "  "}) == []


def index_of(folder: Path, *ids: str) -> Path:
    (folder / "index").mkdir()
    with StoreWriter(folder / "index") as writer:
        for id in ids:
            writer.add(Passage(id=id, text=f"{id} 的原文"))
    return folder / "index"


def indexed_desk(file: DraftFile, folder: Path) -> DraftDesk:
    texts = SourceTexts(file.drafts, index=index_of(folder, "p1", "p2", "a b.md#3"))
    return DraftDesk(file, person="anna", passages=texts, known=texts.known)


def test_expected_passages_and_answerability_are_edited_at_the_page(tmp_path: Path) -> None:
    file = make_file(tmp_path)
    client = opened(indexed_desk(file, tmp_path))
    page = client.get("/item/1").text
    assert ">\np1 2</textarea>" in page
    assert '<option value="yes" selected>' in page
    assert send(client, "/item/1/accept", relevant_passages="p1 1\r\na b.md#3 2\r\n", answerable="") == 303
    found = {item.id: item for item in DraftFile(tmp_path).drafts}["d2"]
    assert (found.case.relevant_passages, found.case.answerable) == ({"p1": 1, "a b.md#3": 2}, None)
    [review] = found.reviews
    assert [(edit.field, edit.before, edit.after) for edit in review.edits] == [
        ("relevant_passages", {"p1": 2}, {"p1": 1, "a b.md#3": 2}),
        ("answerable", True, None),
    ]
    again = client.get("/item/1").text
    assert "a b.md#3 的原文" in again  # a passage that was named just now is shown with its text
    assert send(client, "/item/2/accept", relevant_passages="p1  2\n\n", answerable="yes") == 303
    assert {item.id: item for item in DraftFile(tmp_path).drafts}["d3"].reviews[0].edits == ()
    assert send(client, "/item/2/accept", relevant_passages="", answerable="no") == 303
    case = {item.id: item for item in DraftFile(tmp_path).drafts}["d3"].case
    assert (case.relevant_passages, case.answerable) == ({}, False)


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("relevant_passages", "p1 2\np7 1", "资料中没有 p7"),
        ("relevant_passages", "p1", "“p1”不是“编号、空格、等级（如 1）”的形式"),
        ("relevant_passages", "p1 -1", "“p1 -1”不是"),
        ("relevant_passages", "p1 ２", "不是"),
        ("relevant_passages", "p1 2\np1 1", "p1 出现了两次"),
        ("answerable", "maybe", "“maybe”没有说明资料中是否有答案"),
    ],
)
def test_passages_that_cannot_be_meant_are_refused_in_the_page_s_language(
    tmp_path: Path, field: str, text: str, said: str
) -> None:
    client = opened(indexed_desk(make_file(tmp_path), tmp_path), "zh")
    before = (tmp_path / "drafts.jsonl").read_bytes()
    form = {"csrf": Session(PORT, secret=SECRET).csrf, field: text}
    answer = client.post("/item/1/accept", data=form, headers={"Origin": ORIGIN})
    assert answer.status_code == 400
    assert said in answer.text
    assert "因此没有保存" in answer.text
    assert (tmp_path / "drafts.jsonl").read_bytes() == before


def test_without_an_index_any_passage_may_be_named(tmp_path: Path) -> None:
    client = opened(make_desk(make_file(tmp_path)))
    assert send(client, "/item/1/accept", relevant_passages="p99 0") == 303
    assert DraftFile(tmp_path).accepted[0].relevant_passages == {"p99": 0}


def test_a_corpus_names_every_passage_and_keeps_the_sources_texts(tmp_path: Path) -> None:
    rows = [{"id": id, "text": f"{id} 的原文"} for id in ("p1", "p5")]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    texts = SourceTexts([draft(1)], corpus=tmp_path / "docs.jsonl")
    assert texts.known is not None
    assert ["p1" in texts.known, "p5" in texts.known, "p9" in texts.known] == [True, True, False]
    found = texts.get("p1")
    assert found is not None
    assert found.text == "p1 的原文"
    assert SourceTexts([draft(1)]).known is None


def test_a_field_too_long_for_the_page_stays_as_it_is(tmp_path: Path) -> None:
    long = draft(1)
    long = long.model_copy(update={"case": long.case.model_copy(update={"reference": "长" * 4001})})
    client = opened(make_desk(make_file(tmp_path, long)))
    page = client.get("/item/1").text
    assert '<textarea id="reference" name="reference" rows="4" maxlength="4000" dir="auto" disabled' in page
    assert "More than 4,000 characters" in page
    assert send(client, "/item/1/accept", query="短问题？") == 303
    case = DraftFile(tmp_path).accepted[0]
    assert (case.query, case.reference) == ("短问题？", "长" * 4001)
