"""A megabyte of one character, or a long run of one short pattern: no input may hang a run."""

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


@pytest.mark.timeout(300)  # not a speed limit: quadratic work on these would take hours
@pytest.mark.parametrize("work", CHEAP, ids=lambda work: work.__name__)
def test_a_megabyte_of_one_character_ends(work: Callable[[str], object]) -> None:
    for character in ("a", " ", ".", "。", "中", "“"):
        work(character * 1_000_000)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("work", [*CHEAP, *COSTLY], ids=lambda work: work.__name__)
def test_long_runs_of_every_pattern_end(work: Callable[[str], object]) -> None:
    for pattern in PATTERNS:
        work(pattern * (40_000 // len(pattern)))
