"""Tells text that says something from what a weak model writes instead: loops, the prompt's own words, pieces cut off.

Why: such text is in the right form and language, and no encoder was trained to object to it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise

from offline_eval.testset.prompts import PromptLanguage, load_prompts
from offline_eval.testset.shared_runs import units

_GRAM = 3
_FEWEST_GRAMS = 4
_FEWEST_PAIRS = 3
_ENDS = re.compile(r"[.?!。？！…；;][\"'”’」』）)\]]*$")
_MARK = re.compile(r"={3}|(?<![0-9a-zA-Z])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{12}(?![0-9a-zA-Z])")
_SAME_MARK = re.compile(r"([^\w\s])\1{7,}")


def repeated_share(text: str) -> float:
    """Share of a text's runs of three words, or Chinese characters, that it had before, in [0, 1).

    1 − different runs / runs: seq-rep-n of Welleck et al. (2020) with n = 3. Texts of fewer than six words have 0.
    """
    found = units(text)
    grams = [tuple(found[at : at + _GRAM]) for at in range(len(found) - _GRAM + 1)]
    return 1 - len(set(grams)) / len(grams) if len(grams) >= _FEWEST_GRAMS else 0.0


def repeats_a_mark(text: str) -> bool:
    """Whether the same mark stands eight times in a row."""
    return _SAME_MARK.search(text) is not None


def echoed_share(text: str, language: PromptLanguage) -> float:
    """Share of a text's pairs of neighbouring words that stand in what the writer was told, in [0, 1].

    What it was told: tasks, form and worked examples, in the wording of `load_prompts`. Texts of fewer than four words
    have 0.
    """
    pairs = list(pairwise(units(text)))
    return sum(pair in _told(language) for pair in pairs) / len(pairs) if len(pairs) >= _FEWEST_PAIRS else 0.0


def has_mark(text: str, sources: Sequence[str]) -> bool:
    """Whether a text holds a line's mark from around the material, which stands in none of the sources."""
    return any(not any(found in source for source in sources) for found in _MARK.findall(text))


def is_cut_off(text: str, limit: int) -> bool:
    """Whether a text fills all the room it had and does not end like a sentence.

    Args:
        text: As it was written, white space included.
        limit: Most characters it could have.
    """
    return len(text) >= limit and _ENDS.search(text.rstrip()) is None


@cache
def _told(language: PromptLanguage) -> frozenset[tuple[str, str]]:
    return frozenset(chain.from_iterable(pairwise(units(text)) for text in _told_texts(language)))


def _told_texts(language: PromptLanguage) -> Iterator[str]:
    prompts = load_prompts(language)
    yield from (prompts.system, prompts.format, prompts.style, prompts.close, *prompts.words.values())
    yield from (prompts.about.replace("{angle}", angle) for angle in prompts.angles)
    yield from prompts.example_passages
    for step in (*prompts.steps.values(), *prompts.types.values()):
        yield from (step.task, *step.example.shown.values(), *step.example.output.values())
