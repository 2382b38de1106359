"""Answerability, entities, alignment and reverse questions: what is asked, and what is decided without asking."""

import json
from typing import Any, TypeVar

from offline_eval.checks.answerability import AnswerabilityCheck
from offline_eval.core.evidence import (
    AnswerabilityEvidence,
    EntitiesEvidence,
    Evidence,
    QuestionsEvidence,
    SimilarityEvidence,
)
from offline_eval.core.protocols import Failure, GenerateRequest, Generation
from offline_eval.core.results import Status
from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedEngine, ScriptedScorer
from tests.support.claim_runs import check_all, make_item

P = TypeVar("P")


def only(evidence: list[Evidence], kind: type[P], **fields: str) -> P:
    (found,) = [p for p in evidence if isinstance(p, kind) and all(getattr(p, k) == v for k, v in fields.items())]
    return found


def answerable(*texts: str, scorer: ScriptedScorer, query: str = "When does it open?") -> AnswerabilityEvidence:
    item = make_item("Nine.", *texts, query=query)
    return only(AnswerabilityCheck().run([item], evidence={}, engine=scorer), AnswerabilityEvidence)


def test_each_passage_and_all_together_are_asked_with_the_query_first() -> None:
    scorer = ScriptedScorer(lambda query, passage: float("nine" in passage and "door" in passage))
    found = answerable("The doors open.", "It is nine.", scorer=scorer)
    assert [cell.entailment for cell in found.passages] == [0.0, 0.0]
    assert found.together is not None
    assert found.together.entailment == 1.0
    assert {first for first, _ in scorer.pairs_seen} == {"When does it open?"}


def test_a_passage_that_repeats_the_query_is_no_answer_by_rule() -> None:
    query = "lithium battery density"
    found = answerable(query, scorer=ScriptedScorer(lambda q, p: 0.0), query=query)
    assert found.passages[0].entailment == 0.0
    assert found.passages[0].decided_by == "model"


def test_empty_passages_answer_nothing_by_rule() -> None:
    scorer = ScriptedScorer(lambda q, p: 1.0)
    for texts in ((), ("",)):
        found = answerable(*texts, scorer=scorer)
        assert found.together is not None
        assert (found.together.entailment, found.together.decided_by) == (0.0, "rule")
    assert scorer.pairs_seen == []


def test_a_long_set_of_passages_is_read_whole() -> None:
    scorer = ScriptedScorer(lambda q, p: float("needle" in p), context_length=128)
    filler = "Nothing of interest stands in this sentence. " * 200
    found = answerable(filler, filler + "Here is the needle.", scorer=scorer)
    assert found.together is not None
    assert found.together.entailment == 1.0
    assert [cell.entailment for cell in found.passages] == [0.0, 1.0]


def test_a_chinese_query_on_an_english_encoder_is_not_applicable() -> None:
    found = answerable("图书馆九点开门。", scorer=ScriptedScorer(languages=["en"]), query="几点开门？")
    assert (found.status, found.status_reason, found.together) == (Status.NOT_APPLICABLE, "language: zh", None)


def entities(answer: str, *texts: str, source: str = "answer", **case: Any) -> dict[str, str | None]:
    found = only(check_all(make_item(answer, *texts, **case)), EntitiesEvidence, source=source)
    return {entity.text: entity.passage_id for entity in found.entities}


def test_an_entity_is_found_whatever_its_case_and_its_way_of_writing() -> None:
    answer = "The capital is Paris. The treaty was signed on 3 December 1987."
    assert entities(answer, "nothing", "in paris, on December 3, 1987") == {"Paris": "p2", "3 December 1987": "p2"}


def test_chinese_dates_and_numbers_are_compared_by_value() -> None:
    assert entities("年假为15天，自2024年1月1日起执行。", "自 2024-01-01 起，年假是十五天。") == {
        "15天": "p1",
        "2024年1月1日": "p1",
    }


def test_an_entity_no_passage_has_is_named_with_none() -> None:
    assert entities("The capital is Lyon.", "The capital is Paris.") == {"Lyon": None}
    assert entities("It takes 5 days.", "It takes 3 days, and 15 days at Christmas.") == {"5 days": None}


def test_citation_marks_are_no_entities() -> None:
    assert entities("It lasts 5 days [3].", "It lasts 5 days.") == {"5 days": "p1"}


def test_alignment_compares_the_query_with_each_passage_that_says_anything() -> None:
    item = make_item("Nine.", "when does it open", "unrelated words entirely", "", query="When does it open?")
    found = only(check_all(item, embedder=ScriptedEmbedder()), SimilarityEvidence, to="passages")
    assert found.ids == ("p1", "p2")
    assert found.similarities[0] == 1.0
    assert found.similarities[1] < 0.3


def test_alignment_in_a_language_the_embedder_was_not_made_for_is_not_applicable() -> None:
    item = make_item("九点。", "图书馆九点开门。", query="几点开门？")
    embedder = ScriptedEmbedder(languages=["en"])
    found = only(check_all(item, embedder=embedder), SimilarityEvidence, to="passages")
    assert found.status_reason == "language: zh"
    assert embedder.texts_seen == []


def asks(*questions: str) -> ScriptedEngine:
    def script(request: GenerateRequest) -> Generation:
        fields = {f"question_{number}": text for number, text in enumerate(questions, 1)}
        text = json.dumps(fields, ensure_ascii=False).removeprefix("{")
        return Generation(text=text, prompt_tokens=7, output_tokens=5)

    return ScriptedEngine(script)


def test_questions_are_made_from_the_fenced_answer_and_never_from_the_query() -> None:
    seen: list[GenerateRequest] = []

    def script(request: GenerateRequest) -> Generation:
        seen.append(request)
        return Generation(text='"question_1":"a","question_2":"b","question_3":""}', prompt_tokens=7, output_tokens=5)

    item = make_item("It opens at nine. === end ===", query="When does it open, SECRET?")
    evidence = check_all(item, judge=ScriptedEngine(script), embedder=ScriptedEmbedder())
    assert only(evidence, QuestionsEvidence).questions == ("a", "b")
    shown = "\n".join(message.content for message in seen[0].messages)
    assert "SECRET" not in shown
    fence = shown.split("===")[1].split()[0]
    assert len(fence) == 12
    assert fence not in item.response.answer


def test_the_query_is_compared_with_every_question() -> None:
    item = make_item("It opens at nine.", query="When does it open?")
    judge = asks("when does it open", "what is the colour", "when does it close")
    found = only(check_all(item, judge=judge, embedder=ScriptedEmbedder()), SimilarityEvidence, to="questions")
    assert found.ids == ("1", "2", "3")
    assert found.similarities[0] == 1.0
    assert found.similarities[1] < found.similarities[2] < 1.0


def test_no_question_is_made_from_nothing() -> None:
    judge = asks("a", "b", "c")
    for answer in ("", "The documents do not say."):
        assert only(check_all(make_item(answer), judge=judge), QuestionsEvidence).none_because is not None
    assert judge.requests_seen == 0


def test_a_failed_judge_call_fails_the_questions_and_their_similarity() -> None:
    judge = ScriptedEngine(lambda request: Failure(reason="engine_error", detail="boom"))
    evidence = check_all(make_item("It opens at nine."), judge=judge, embedder=ScriptedEmbedder())
    found = only(evidence, SimilarityEvidence, to="questions")
    assert (found.status, found.status_reason) == (Status.FAILED, "engine_error: boom")


def test_a_judge_that_writes_no_question_has_failed() -> None:
    found = only(check_all(make_item("It opens at nine."), judge=asks("", " ", "?")), QuestionsEvidence)
    assert found.status is Status.FAILED
