"""Numbers that say how far a claim's words, figures and names stand in a text, without a model and in any language.

Why: a small encoder misses a wrong figure or name that counting finds at once; together they see more than either.
"""

from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import pairwise
from math import log1p
from typing import NamedTuple

from offline_eval.text.entities import find_entities
from offline_eval.text.negation import is_negated
from offline_eval.text.normalize import normalize
from offline_eval.text.numbers import find_quantities
from offline_eval.text.sentences import split_sentences
from offline_eval.text.words import content_words, words

LEXICAL = (
    "content_words",
    "stems",
    "bigrams",
    "best_sentence",
    "common_order",
    "characters",
    "figures_missing",
    "has_figures",
    "names_missing",
    "has_names",
    "negation_differs",
    "stems_missing",
    "sentence_covered",
    "is_question",
    "claim_length",
    "text_length",
)
"""Names of the features, in their order.

content_words, stems, bigrams, characters: share of the claim's content words, their first five letters, its pairs of
words and its runs of four characters (two in Chinese) that stand in the text, each in [0, 1]. best_sentence: largest
share of content words in one sentence. common_order: longest common subsequence of words with that sentence, as a share
of the claim. figures_missing, names_missing: how many do not stand in the text. negation_differs: 1 when one of claim
and best sentence denies and the other does not; a bound such as 不超过 counts as a denial, as it did when the shipped
weights were fitted. stems_missing: log(1 + count). sentence_covered: share of the best
sentence's content words in the claim. The lengths are log(1 + content words).
"""

_STEM = 5
_LONGEST = 400  # words compared in order; beyond them the quadratic comparison would cost more than it tells


class _Text(NamedTuple):
    """A text taken apart once, since many claims meet the same text."""

    words: tuple[str, ...]
    content: tuple[str, ...]
    sentences: tuple[str, ...]
    sentence_words: tuple[frozenset[str], ...]
    normal: str
    figures: frozenset[str]


def lexical_features(text: str, claim: str) -> tuple[float, ...]:
    """Compare a claim with a text.

    Args:
        text: The evidence; for answerability, the passage.
        claim: The claim; for answerability, the query.

    Returns:
        One finite number for each name of `LEXICAL`; a share of nothing is 1.
    """
    whole, part = _taken_apart(text), _taken_apart(claim)
    best = _best_sentence(whole, part.content)
    sentence = whole.sentences[best] if whole.sentences else ""
    stems, known = [_stem(word) for word in part.content], {_stem(word) for word in whole.content}
    missing = sum(stem not in known for stem in stems)
    names = {entity.key for entity in find_entities(claim) if entity.kind != "quantity"}
    return (
        _share(part.content, set(whole.content)),
        _share(stems, known),
        _share(_pairs(part.words), set(_pairs(whole.words))),
        _share(part.content, whole.sentence_words[best]) if whole.sentences else _share(part.content, set()),
        _common_order(part.words, words(sentence)),
        _share(_runs(part.normal), set(_runs(whole.normal))),
        float(len(part.figures - whole.figures)),
        float(bool(part.figures)),
        float(sum(name not in whole.normal for name in names)),
        float(bool(names)),
        float(is_negated(claim, bounds=True) != is_negated(sentence, bounds=True)),
        log1p(missing),
        _share(content_words(sentence), set(part.content)),
        float("?" in claim or "？" in claim),
        log1p(len(part.content)),
        log1p(len(whole.content)),
    )


def best_sentence(text: str, claim: str) -> str:
    """The sentence that holds most of the claim's content words, the first on a tie; empty for an empty text."""
    whole = _taken_apart(text)
    return whole.sentences[_best_sentence(whole, _taken_apart(claim).content)] if whole.sentences else ""


@lru_cache(maxsize=2048)
def _taken_apart(text: str) -> _Text:
    sentences = tuple(sentence.text for sentence in split_sentences(text))
    return _Text(
        words=tuple(words(text)),
        content=tuple(content_words(text)),
        sentences=sentences,
        sentence_words=tuple(frozenset(content_words(sentence)) for sentence in sentences),
        normal=normalize(text),
        figures=frozenset(quantity.value for quantity in find_quantities(text)),
    )


def _best_sentence(text: _Text, claim: Sequence[str]) -> int:
    shares = [_share(claim, known) for known in text.sentence_words]
    return shares.index(max(shares)) if shares else 0


def _share(wanted: Sequence[object], known: Set[object]) -> float:
    return sum(item in known for item in wanted) / len(wanted) if wanted else 1.0


def _stem(word: str) -> str:
    return word[:_STEM] if word.isascii() else word


def _pairs(items: Sequence[str]) -> list[tuple[str, str]]:
    return list(pairwise(items))


def _runs(normal: str) -> list[str]:
    length = 4 if normal.isascii() or sum(map(str.isascii, normal)) > len(normal) / 2 else 2
    return [normal[at : at + length] for at in range(len(normal) - length + 1)]


def _common_order(claim: Sequence[str], sentence: Sequence[str]) -> float:
    """Length of the longest common subsequence, as a share of the claim."""
    rows, columns = claim[:_LONGEST], sentence[:_LONGEST]
    if not rows:
        return 1.0
    above = [0] * (len(columns) + 1)
    for word in rows:
        here = [0]
        for place, other in enumerate(columns):
            here.append(above[place] + 1 if word == other else max(above[place + 1], here[-1]))
        above = here
    return above[-1] / len(rows)
