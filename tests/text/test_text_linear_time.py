"""A megabyte of one character, or of one short pattern, must cost time in proportion: no input may hang a run."""

import time
from collections.abc import Callable

import pytest

from offline_eval.text.claims import split_claims
from offline_eval.text.contentless import is_contentless
from offline_eval.text.entities import find_entities
from offline_eval.text.language import detect_language
from offline_eval.text.negation import find_negations
from offline_eval.text.normalize import normalize
from offline_eval.text.numbers import find_quantities
from offline_eval.text.query_type import classify_query
from offline_eval.text.refusal import detect_refusal
from offline_eval.text.sentences import split_sentences

CHEAP: list[Callable[[str], object]] = [
    detect_language, normalize, split_sentences, is_contentless, detect_refusal, classify_query, find_negations,
]  # fmt: skip
COSTLY: list[Callable[[str], object]] = [find_quantities, split_claims, find_entities]
PATTERNS = [
    "a",
    " ",
    "\n",
    ".",
    "。",
    "“",
    "(",
    '"',
    "[",
    "一",
    "1",
    "A ",
    "，并且",
    "; a",
    " and the is",
    "1.\n",
    "的",
    "·中",
]


@pytest.mark.parametrize("work", CHEAP, ids=lambda work: work.__name__)
def test_a_megabyte_of_one_character_is_done_in_seconds(work: Callable[[str], object]) -> None:
    for character in ("a", " ", ".", "。", "中", "“"):
        start = time.perf_counter()
        work(character * 1_000_000)
        assert time.perf_counter() - start < 10, character


@pytest.mark.slow
@pytest.mark.parametrize("work", [*CHEAP, *COSTLY], ids=lambda work: work.__name__)
def test_ten_times_the_text_takes_no_hundred_times_the_time(work: Callable[[str], object]) -> None:
    def seconds(pattern: str, length: int) -> float:
        start = time.perf_counter()
        work(pattern * (length // len(pattern)))
        return time.perf_counter() - start

    for pattern in PATTERNS:
        assert seconds(pattern, 40_000) < 30 * max(seconds(pattern, 4_000), 0.02), pattern
