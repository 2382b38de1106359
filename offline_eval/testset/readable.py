"""Tells text that says something from what a weak model writes instead: loops, the prompt's own words, pieces cut off.

Why: such text is in the right form and language, and no encoder was trained to object to it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise

from offline_eval.testset.prompts import PromptLanguage, load_prompts
from offline_eval.testset.questions import is_question
from offline_eval.testset.shared_runs import units

_GRAM = 3
_FEWEST_GRAMS = 4
_FEWEST_PAIRS = 3
_ENDS = re.compile(r"[.?!。？！…；;][\"'”’」』）)\]]*$")
_MARK = re.compile(r"={3}|(?<![0-9a-zA-Z])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{12}(?![0-9a-zA-Z])")
_CLAUSE_ASKS = re.compile(
    r"(?:^\W*|[,;:.!?—]\s+)(?:(?:and|but|or|so|then)\s+)?(?:(?:(?:in|on|at|by|to|for|from|of|with|until|till|under|after)"
    r"\s+)?(?:what|who|whom|whose|which|when|where|why|how)\b|(?:is|are|was|were|am|do|does|did|has|have|had|can|could|may|"
    r"might|must|shall|should|will|would|need)\s+(?:an?|the|any|all|each|every|some|no|i|you|he|she|it|we|they|there|this|"
    r"that|these|those|my|your|his|her|its|our|their|one|somebody|someone|anybody|anyone)\b)|"
    r"\b(?:which|what|whom|how (?:many|much|long|often))\b(?:\s{1,9}\S{1,40}){0,3}\W{0,9}$|"
    r"有没有|是不是|会不会|能不能|要不要|可不可以|何[时地处人]",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^\W*(?:(?:please|kindly)\s+)?(?:list|name|give|state|explain|describe|tell|compare|contrast|show|identify|"
    r"summari[sz]e|outline|define|calculate|compute|find|determine|specify|mention|discuss|provide|suggest)\b|"
    r"请|列[出举]|说明|解释|描述|介绍|比较|概括|总结|简述|指出|说出|写出|给出|告诉|计算|分析|举例|谈谈",
    re.IGNORECASE,
)


def asks(text: str) -> bool:
    """Whether a text asks for something: a question, with or without its mark, or a request ("List the …", 请列出)."""
    return is_question(text) or any(pattern.search(text) for pattern in (_CLAUSE_ASKS, _REQUEST))


def repeated_share(text: str) -> float:
    """Share of a text's runs of three words, or Chinese characters, that it had before, in [0, 1).

    1 − different runs / runs: seq-rep-n of Welleck et al. (2020) with n = 3. Texts of fewer than six words have 0.
    """
    found = units(text)
    grams = [tuple(found[at : at + _GRAM]) for at in range(len(found) - _GRAM + 1)]
    return 1 - len(set(grams)) / len(grams) if len(grams) >= _FEWEST_GRAMS else 0.0


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
