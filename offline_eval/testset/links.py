"""Pairs of passages that belong together: they share a rare name, or are neighbours by meaning or by rare words.

Why: a question over two passages has an answer only if something leads from the one to the other.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from offline_eval.core.protocols import Embedder
from offline_eval.core.records import Passage
from offline_eval.testset.near_duplicates import likeness
from offline_eval.text.entities import find_entities
from offline_eval.text.words import content_words

_MOST_SHARERS = 12  # passages; a name in more of them leads nowhere in particular
_MOST_PER_NAME = 10  # pairs
_NEIGHBOURS = 3
_NEAR = 0.35  # cosine from which neighbours by meaning are linked
_WORDS_ALIKE = 0.12  # the same by words, weighted by rarity; words vary more than meaning
_THE_SAME = 0.7  # likeness of characters from which two passages are one text twice


class Link(NamedTuple):
    """Two passages that can be asked about together.

    Attributes:
        first: Position of the one that comes first in the corpus.
        shared: What leads from one to the other, in words; empty for neighbours.
        by: `name`, `meaning` or `words`.
    """

    first: int
    second: int
    shared: str
    by: str


def find_links(
    passages: Sequence[Passage], languages: Sequence[str], *, embedder: Embedder | None = None
) -> list[Link]:
    """Every link between passages of one language, those by name first.

    Args:
        passages: Up to a few thousand.
        languages: Of each passage.
        embedder: For neighbours by meaning, of the languages it was made for; the others are compared by words.
    """
    found: dict[tuple[int, int], Link] = {}
    for link in [*_by_name(passages), *_neighbours(passages, languages, embedder)]:
        pair = link.first, link.second
        if pair in found or languages[link.first] != languages[link.second]:
            continue
        if likeness(passages[link.first].text, passages[link.second].text) < _THE_SAME:
            found[pair] = link
    return list(found.values())


def _by_name(passages: Sequence[Passage]) -> list[Link]:
    holders: dict[str, dict[int, str]] = defaultdict(dict)
    for position, passage in enumerate(passages):
        for entity in find_entities(passage.text):
            if entity.kind != "quantity" and len(entity.key) > 1:
                holders[entity.key].setdefault(position, entity.text)
    links = []
    for key in sorted(holders, key=lambda key: (len(holders[key]), key)):
        if 2 <= len(holders[key]) <= _MOST_SHARERS:
            pairs = list(combinations(sorted(holders[key]), 2))[:_MOST_PER_NAME]
            links += [Link(first, second, holders[key][first], "name") for first, second in pairs]
    return links


def _neighbours(passages: Sequence[Passage], languages: Sequence[str], embedder: Embedder | None) -> list[Link]:
    links: list[Link] = []
    for language in dict.fromkeys(languages):
        places = [position for position, spoken in enumerate(languages) if spoken == language]
        texts = [passages[position].text for position in places]
        is_spoken = embedder is not None and _speaks(embedder, language)
        near = _near_by_meaning(texts, embedder) if embedder is not None and is_spoken else _near_by_words(texts)
        by = "meaning" if is_spoken else "words"
        for row, others in enumerate(near):
            for other in others:
                first, second = sorted((places[row], places[other]))
                links.append(Link(first, second, "", by))
    return links


def _speaks(embedder: Embedder, language: str) -> bool:
    named = getattr(embedder, "languages", None) or ("*",)
    return "*" in named or language in named


def _near_by_meaning(texts: Sequence[str], embedder: Embedder) -> list[list[int]]:
    import numpy as np

    vectors = np.asarray(embedder.embed(texts), dtype=np.float64)
    cosines = np.round(vectors @ vectors.T, 6)  # (n_texts, n_texts)
    np.fill_diagonal(cosines, -1.0)
    return [_best(dict(enumerate(row.tolist())), _NEAR) for row in cosines]


def _near_by_words(texts: Sequence[str]) -> list[list[int]]:
    """Neighbours by cosine over content words, each weighted by the logarithm of its rarity."""
    counted = [Counter(set(content_words(text))) for text in texts]
    spread = Counter(word for words in counted for word in words)
    weight = {word: math.log(len(texts) / n) for word, n in spread.items()}
    norms = [math.sqrt(math.fsum(weight[word] ** 2 for word in words)) for words in counted]
    holders: dict[str, list[int]] = defaultdict(list)
    for row, words in enumerate(counted):
        for word in words:
            holders[word].append(row)
    near = []
    for row, words in enumerate(counted):
        sums: dict[int, float] = defaultdict(float)
        for word in sorted(words):
            for other in holders[word] if len(holders[word]) <= _MOST_SHARERS * 4 else ():
                sums[other] += weight[word] ** 2
        sums.pop(row, None)
        cosines = {other: total / (norms[row] * norms[other]) for other, total in sums.items() if norms[other]}
        near.append(_best(cosines, _WORDS_ALIKE) if norms[row] else [])
    return near


def _best(values: Mapping[int, float], threshold: float) -> list[int]:
    kept = [other for other, value in values.items() if value >= threshold]
    return sorted(kept, key=lambda other: (-round(values[other], 6), other))[:_NEIGHBOURS]
