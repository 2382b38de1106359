"""Citation marks in the styles people use, resolved to passages, and asked about one by one."""

import pytest

from offline_eval.checks.citations import CitationsCheck, find_citations
from offline_eval.core.evidence import CitationsEvidence
from offline_eval.core.protocols import Failure, Item
from offline_eval.core.records import Passage
from offline_eval.engines.scripted import ScriptedScorer
from tests.support.claim_runs import make_item, passages, supports

THREE = passages("first", "second", "third")


@pytest.mark.parametrize(
    ("text", "cited", "unknown"),
    [
        ("It is so [1].", ["p1"], []),
        ("It is so [1, 3].", ["p1", "p3"], []),
        ("It is so [1][2].", ["p1", "p2"], []),
        ("It is so [1-3].", ["p1", "p2", "p3"], []),
        ("It is so [^2].", ["p2"], []),
        ("就是这样【2】。", ["p2"], []),
        ("就是这样【1】【3】。", ["p1", "p3"], []),
        ("就是这样【来源2】。", ["p2"], []),
        ("就是这样（来源：p1）。", ["p1"], []),
        ("It is so【1†source】.", ["p1"], []),
        ("It is so [p2].", ["p2"], []),
        ("It is so (p3).", ["p3"], []),
        ("It is so [doc 2].", ["p2"], []),
        ("It is so [9].", [], ["9"]),
        ("It is so [1, 9].", ["p1"], ["9"]),
        ("It is so [doc 9].", [], ["doc 9"]),
        ("It is so (2019).", [], []),
        ("It is so (see above).", [], []),
        ("It is so [note].", [], []),
        ("It is so.", [], []),
    ],
)
def test_a_mark_is_resolved(text: str, cited: list[str], unknown: list[str]) -> None:
    found, lost = find_citations(text, THREE)
    assert ([passage.id for passage in found], list(lost)) == (cited, unknown)


def test_a_number_is_an_id_before_it_is_a_place() -> None:
    numbered = tuple(Passage(id=str(n), text="x") for n in (0, 1, 2))
    assert [passage.id for passage in find_citations("So [1].", numbered)[0]] == ["1"]


def test_a_documents_id_cites_all_its_passages() -> None:
    parts = tuple(Passage(id=f"x{n}", doc_id="handbook.md", text="x") for n in (1, 2))
    assert [passage.id for passage in find_citations("So (handbook.md).", parts)[0]] == ["x1", "x2"]


def check(item: Item, scorer: ScriptedScorer | None = None) -> CitationsEvidence:
    found = CitationsCheck().run([item], evidence={}, engine=scorer or ScriptedScorer())[0]
    assert isinstance(found, CitationsEvidence)
    return found


def test_a_claim_cites_what_is_marked_inside_it_else_what_its_sentence_marks() -> None:
    item = make_item("The first room is red [1], and the second room is blue [2].", "first", "second")
    assert [statement.cited for statement in check(item).statements] == [("p1",), ("p2",)]
    item = make_item("The first room is red, and the second room is blue [2].", "first", "second")
    assert [statement.cited for statement in check(item).statements] == [("p2",), ("p2",)]


def test_without_marks_the_responses_own_list_holds_for_every_statement() -> None:
    item = make_item("A is one. B is two.", "first", "second")
    listed = Item(case=item.case, response=item.response.model_copy(update={"citations": ("p2",)}))
    assert [statement.cited for statement in check(listed).statements] == [("p2",), ("p2",)]
    assert [statement.cited for statement in check(item).statements] == [(), ()]


def test_each_cited_passage_is_asked_by_itself() -> None:
    item = make_item("图书馆九点开门【1】【2】。", "图书馆早上九点开放。", "图书馆在东门。")
    found = check(item, ScriptedScorer(supports(("九点", "九点")))).statements[0]
    assert [cell.entailment for cell in found.support] == [1.0, 0.0]


def test_chinese_citations_on_an_english_encoder_are_not_applicable() -> None:
    item = make_item("图书馆九点开门【1】。", "图书馆早上九点开放。")
    assert check(item, ScriptedScorer(languages=["en"])).status_reason == "language: zh"


def test_a_failed_call_stays_with_its_citation() -> None:
    scorer = ScriptedScorer(lambda p, h: Failure(reason="engine_error", detail="boom"))
    cell = check(make_item("A is one [1].", "first"), scorer).statements[0].support[0]
    assert cell.failure == "engine_error: boom"


def test_a_refusal_has_no_statements_to_cite_for() -> None:
    assert check(make_item("The documents do not say [1].", "first")).none_because == "refusal"
