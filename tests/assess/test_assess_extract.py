"""The generator without a model copies a sentence that shares words with the question, and cites its passage."""

import pytest

from offline_eval.assess.extract import ExtractGenerator
from offline_eval.assess.protocols import GenerationRequest
from offline_eval.core.records import Passage

PASSAGES = (
    Passage(id="a", text="The office is in Leeds. The warranty lasts three years."),
    Passage(id="b", text="年假共有26天。病假需要证明。"),
    Passage(id="c", text="The warranty lasts three years."),
)


@pytest.mark.parametrize(
    ("query", "answer", "source"),
    [
        ("How long does the warranty last, three years?", "The warranty lasts three years.", "a"),
        ("年假有几天？", "年假共有26天。", "b"),
        ("Something else entirely", "The office is in Leeds.", "a"),
    ],
)
def test_it_copies_the_closest_sentence_of_the_best_ranked_passage(query: str, answer: str, source: str) -> None:
    request = GenerationRequest(query=query, language="en", prompt="", passages=PASSAGES)
    found = ExtractGenerator().generate(request)
    assert (found.answer, found.citations) == (answer, (source,))


def test_without_passages_it_says_nothing() -> None:
    request = GenerationRequest(query="x", language="en", prompt="", passages=())
    assert ExtractGenerator().generate(request).answer == ""
