"""Citations and relevance by reverse question, by hand."""

import json

import pytest

from offline_eval.core.protocols import GenerateRequest, Generation
from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedEngine, ScriptedScorer
from tests.support.claim_runs import check_all, make_item, score_of, supports, values


def test_citation_precision_and_recall_by_hand() -> None:
    item = make_item(
        "The first room is red [1]. The second room is blue [1][2]. The third room is green [7]. The fourth is white.",
        "red room",
        "blue room",
    )
    scorer = ScriptedScorer(supports(("red", "red"), ("blue", "blue")))
    # Citations: [1] right; [1] wrong, [2] right; [7] points nowhere. Statements: two supported of four.
    assert values(item, check_all(item, scorer=scorer), "citation_precision", "citation_recall") == {
        "citation_precision": 0.5,
        "citation_recall": 0.5,
    }


def test_a_chinese_answer_with_citations() -> None:
    item = make_item("图书馆九点开门【1】。周日闭馆【2】。", "图书馆早上九点开放。", "食堂在东门。", query="几点开门？")
    scorer = ScriptedScorer(supports(("九点", "九点")))
    assert values(item, check_all(item, scorer=scorer), "citation_precision", "citation_recall") == {
        "citation_precision": 0.5,
        "citation_recall": 0.5,
    }


def test_an_answer_that_cites_nothing_has_recall_zero_and_no_precision() -> None:
    item = make_item("The room is red.", "red room")
    assert values(item, check_all(item, scorer=ScriptedScorer()), "citation_precision", "citation_recall") == {
        "citation_precision": "no_citations",
        "citation_recall": 0.0,
    }


def test_a_refusal_has_no_citations_to_judge() -> None:
    item = make_item("The documents do not say.", "red room")
    assert set(values(item, check_all(item), "citation_precision", "citation_recall").values()) == {"refusal"}


def asks(*questions: str) -> ScriptedEngine:
    fields = {f"question_{number}": text for number, text in enumerate(questions, 1)}

    def script(request: GenerateRequest) -> Generation:
        return Generation(text=json.dumps(fields).removeprefix("{"), prompt_tokens=1, output_tokens=1)

    return ScriptedEngine(script)


def relevance(answer: str, *questions: str, answerable: bool | None = None) -> float | str | None:
    item = make_item(answer, query="when does it open", answerable=answerable)
    evidence = check_all(item, judge=asks(*questions), embedder=ScriptedEmbedder())
    score = score_of("reverse_question_relevance", item, evidence)
    return score.reason if score.value is None else score.value


def test_the_mean_cosine_of_three_questions() -> None:
    # The embedder counts words: the same four words have cosine 1, two of four in common 2/4, none in common 0.
    assert relevance("It opens at nine.", "when does it open", "when does lunch end", "red green blue") == (
        pytest.approx((1.0 + 0.5 + 0.0) / 3, abs=1e-6)
    )


def test_nothing_and_a_wrong_refusal_are_zero_and_a_right_refusal_is_left_out() -> None:
    assert relevance("", "a", "b", "c") == 0.0
    assert relevance("The documents do not say.", "a", "b", "c", answerable=True) == 0.0
    assert relevance("The documents do not say.", "a", "b", "c", answerable=False) == "refusal"
    assert relevance("The documents do not say.", "a", "b", "c") == "refusal"
