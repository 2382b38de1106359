"""Context metrics over ids, entities, answerability, conflicts and alignment."""

import pytest

from offline_eval.core.protocols import Failure, Item
from offline_eval.core.records import Passage
from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedScorer
from tests.support.claim_runs import check_all, make_item, score_of, values


def test_precision_by_ids_is_the_share_that_was_expected() -> None:
    item = make_item("x", "a", "b", "c", "d", relevant_passages={"p1": 2, "p3": 1, "p4": 0, "p9": 1})
    # p1 and p3 of four; p4 was judged and is not relevant.
    assert score_of("context_precision_ids", item, []).value == 0.5
    assert score_of("context_precision_ids", make_item("x", relevant_passages={"p1": 1}), []).reason == "no_passages"
    assert score_of("context_precision_ids", make_item("x", "a"), []).reason == "no_expected_ids"


def test_precision_by_documents_counts_every_passage_of_an_expected_one() -> None:
    item = make_item("x", relevant_documents={"d1": 1})
    parts = tuple(Passage(id=f"p{n}", doc_id=doc, text="t") for n, doc in enumerate(("d1", "d1", "d2")))
    response = item.response.model_copy(update={"passages": parts})
    assert score_of("context_precision_ids", Item(case=item.case, response=response), []).value == pytest.approx(2 / 3)


def test_both_entity_recalls_are_one_for_paris_and_paris() -> None:
    item = make_item("The capital is Paris.", "the seine flows through paris", reference="Paris")
    assert values(item, check_all(item), "entity_recall_answer", "entity_recall_reference") == {
        "entity_recall_answer": 1.0,
        "entity_recall_reference": 1.0,
    }


def test_entity_recall_by_hand() -> None:
    item = make_item("张伟教授在北京大学任教，2019年3月5日入职，年薪30万元。", "2019-03-05，北京大学聘用了一位教授。")
    # 张伟, the date, 北京大学, the sum: the passage has the date and the university.
    assert score_of("entity_recall_answer", item, check_all(item)).value == 0.5


def test_no_entities_is_not_applicable() -> None:
    item = make_item("yes, always", "x")
    assert score_of("entity_recall_answer", item, check_all(item)).reason == "no_entities"
    assert score_of("entity_recall_reference", item, check_all(item)).reason == "no_reference"


def test_answerability_is_the_best_of_all_passages_and_of_the_whole() -> None:
    item = make_item("Nine.", "first part", "second part", query="When?")
    scorer = ScriptedScorer(lambda q, p: 0.9 if "first" in p and "second" in p else 0.2)
    assert score_of("context_answerability", item, check_all(item, scorer=scorer)).value == 0.9
    assert score_of("context_answerability", make_item("Nine."), check_all(make_item("Nine."))).value == 0.0
    broken = ScriptedScorer(lambda q, p: Failure(reason="engine_error", detail="boom"))
    assert score_of("context_answerability", item, check_all(item, scorer=broken)).reason == "engine_error: boom"


def test_one_of_three_pairs_in_conflict() -> None:
    item = make_item("x", "Leave is 15 days a year.", "Parking is free.", "Leave is 12 days a year.")
    assert score_of("context_conflict", item, check_all(item)).value == pytest.approx(1 / 3)
    alone = make_item("x", "Leave is 15 days a year.")
    assert score_of("context_conflict", alone, check_all(alone)).reason == "fewer_than_two_passages"


def test_alignment_is_the_best_passages() -> None:
    item = make_item("x", "nothing in common", "when does it open", query="When does it open?")
    assert score_of("context_alignment", item, check_all(item, embedder=ScriptedEmbedder())).value == 1.0
    empty = make_item("x", "", query="When?")
    assert score_of("context_alignment", empty, check_all(empty, embedder=ScriptedEmbedder())).reason == "no_passages"
