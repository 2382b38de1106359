"""Picks diverse queries: so many of each type, and within a type one from each cluster of alike ones.

Why clusters: users ask the same few things all day; a plain draw would test those alone.
"""

import hashlib
import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.errors import UsageError
from offline_eval.core.protocols import Embedder
from offline_eval.core.records import Record
from offline_eval.testset.query_log import LoggedQuery
from offline_eval.text.tokens import tokenize

Vectors = NDArray[np.float32]

_BUCKETS = 256  # numbers a text is described by where no embedder is installed
_ITERATIONS = 20
_CLOSE = 1e-9  # a share times a size, as .3 * 10, may be a hair below a whole number
_STARTS = 5


class TypeShare(Record):
    """What one type of query gave.

    Attributes:
        available: Different queries in the logs.
        wanted: By its quota, or its part of the rest.
        picked: Fewer than wanted only where there are no more.
    """

    query_type: str
    available: int
    wanted: int
    picked: int


class Sample(Record):
    """A sample.

    Attributes:
        method: `embedding`, or `words` where no embedder could be used.
        types: In the order of names.
    """

    queries: tuple[LoggedQuery, ...]
    types: tuple[TypeShare, ...]
    method: str


def draw_sample(
    queries: Sequence[LoggedQuery],
    *,
    size: int,
    quotas: Mapping[str, int] | None = None,
    embedder: Embedder | None = None,
    seed: int = 0,
) -> Sample:
    """Draw a diverse sample; the same for the same queries, whatever their order, and seed.

    Args:
        size: Queries wanted, 1 or more.
        quotas: Type to how many of it, together at most `size`; the other types share the rest by how many different
            queries they have.
        embedder: Describes queries by meaning; None by their words.

    Raises:
        UsageError: Quotas beyond the size, or of a type the logs do not have.
    """
    ordered = sorted(queries, key=lambda query: query.query)
    available = Counter(query.query_type for query in ordered)
    wanted = _wanted(available, size, quotas or {})
    vectors = word_vectors([query.query for query in ordered]) if embedder is None else _embedded(ordered, embedder)
    picked: list[int] = []
    for name in sorted(wanted):
        places = np.array([place for place, query in enumerate(ordered) if query.query_type == name])
        chosen = pick_diverse(vectors[places], wanted[name], seed=seed)
        picked += [int(places[place]) for place in chosen]
    counts = Counter(ordered[place].query_type for place in picked)
    types = [
        TypeShare(query_type=name, available=available[name], wanted=wanted.get(name, 0), picked=counts[name])
        for name in sorted(available)
    ]
    method = "words" if embedder is None else "embedding"
    return Sample(queries=tuple(ordered[place] for place in sorted(picked)), types=tuple(types), method=method)


def pick_diverse(vectors: Vectors, count: int, *, seed: int) -> list[int]:
    """One place from each of `count` clusters: the one nearest to its middle.

    Args:
        vectors: Shape (n, dimension), rows of length 1.
        count: Fewer than n, else all are taken.

    Returns:
        Places, ascending; `count` of them where there are as many.

    Source:
        k-means with k-means++ starts (Arthur & Vassilvitskii 2007), scipy's, the best of five; for an empty cluster
        the place farthest from all that are taken.
    """
    if count >= len(vectors):
        return list(range(len(vectors)))
    _, first = np.unique(vectors, axis=0, return_index=True)
    different = np.sort(first)  # equal rows would be two starts in one place
    taken = _middles(vectors[different].astype(np.float64), count, seed=seed) if 0 < count < len(different) else None
    places = [int(place) for place in (different if taken is None else different[taken])] if count > 0 else []
    return sorted(_filled_up(vectors.astype(np.float64), places, count))


def _middles(data: NDArray[np.float64], count: int, *, seed: int) -> list[int]:
    """The place nearest to each cluster's middle, of the closest clustering of several; an empty cluster has none."""
    from scipy.cluster.vq import kmeans2

    draw = np.random.default_rng(seed)
    best: tuple[float, list[int]] | None = None
    for _ in range(_STARTS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # says that a cluster is empty, which is made up for later
            middles, labels = kmeans2(data, count, iter=_ITERATIONS, minit="++", seed=draw)
        distances = np.linalg.norm(data - middles[labels], axis=1)
        spread = float((distances**2).sum())
        if best is None or spread < best[0]:
            nearest: dict[int, int] = {}
            for place in np.lexsort((np.arange(len(data)), distances)):
                nearest.setdefault(int(labels[place]), int(place))
            best = spread, sorted(nearest.values())
    return best[1] if best is not None else []


def _filled_up(data: NDArray[np.float64], taken: list[int], count: int) -> list[int]:
    """As many places as wanted: what is missing is taken farthest from everything that is there."""
    found = taken[:count]
    if not found or len(found) == count:
        return found
    nearest = np.min([np.linalg.norm(data - data[place], axis=1) for place in found], axis=0)
    nearest[found] = -1.0
    while len(found) < count:
        place = int(np.argmax(nearest))
        found.append(place)
        nearest = np.minimum(nearest, np.linalg.norm(data - data[place], axis=1))
        nearest[found] = -1.0
    return found


def word_vectors(texts: Sequence[str]) -> Vectors:
    """Texts by their words: hashed counts, rare words heavier, rows of length 1; Chinese by pairs of characters.

    A word that one text alone has tells it from no group of others and is left out, unless it has no other words.

    Returns:
        Shape (n_texts, 256).
    """
    tokens = [tokenize(text) for text in texts]
    frequency = Counter(token for found in tokens for token in set(found))
    vectors = np.zeros((len(texts), _BUCKETS), dtype=np.float32)
    for row, found in enumerate(tokens):
        for token in [token for token in found if frequency[token] > 1] or found:
            vectors[row, _bucket(token)] += math.log((1 + len(texts)) / frequency[token])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def parse_quotas(texts: Sequence[str], *, size: int) -> dict[str, int]:
    """Read `type=20` (so many) or `type=.3` (a share of the size).

    Shares become whole numbers by their largest remainders, the earlier type on a tie, so that shares which add up to
    1 give the size.

    Raises:
        UsageError: Neither, or a type named twice.
    """
    found: dict[str, int] = {}
    shares: dict[str, float] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        is_share = "." in value and 0 <= number <= 1
        if not name.strip() or name.strip() in found or not (is_share or (number >= 0 and number.is_integer())):
            raise UsageError(f"--quota {text}: expected TYPE=COUNT or TYPE=.SHARE, each type once, as factual=20")
        found[name.strip()] = 0 if is_share else int(number)
        if is_share:
            shares[name.strip()] = number * size
    return found | _whole(shares)


def _whole(exact: Mapping[str, float]) -> dict[str, int]:
    """Whole numbers that add up to the rounded sum."""
    found = {name: math.floor(value + _CLOSE) for name, value in exact.items()}
    order = sorted(exact, key=lambda name: -round(exact[name] - found[name], 9))
    for name in order[: round(math.fsum(exact.values())) - sum(found.values())]:
        found[name] += 1
    return found


def _wanted(available: Mapping[str, int], size: int, quotas: Mapping[str, int]) -> dict[str, int]:
    unknown = sorted(set(quotas) - set(available))
    if unknown:
        raise UsageError(f"no query in the logs is of type {', '.join(unknown)}; types: {', '.join(sorted(available))}")
    if sum(quotas.values()) > size:
        raise UsageError(f"the quotas add up to {sum(quotas.values())}, more than --size {size}")
    others = {name: count for name, count in available.items() if name not in quotas}
    missing = sum(max(0, wanted - available[name]) for name, wanted in quotas.items())
    rest = min(size - sum(quotas.values()) + missing, sum(others.values()))
    return {**quotas, **_shared_out(rest, others)}


def _shared_out(rest: int, counts: Mapping[str, int]) -> dict[str, int]:
    """Whole numbers in proportion to the counts: largest remainders first, then by name."""
    total = sum(counts.values())
    if not total:
        return {}
    exact = {name: rest * count / total for name, count in counts.items()}
    found = {name: math.floor(value) for name, value in exact.items()}
    order = sorted(exact, key=lambda name: (found[name] - exact[name], name))
    for name in order[: rest - sum(found.values())]:
        found[name] += 1
    return found


def _embedded(queries: Sequence[LoggedQuery], embedder: Embedder) -> Vectors:
    vectors: Any = embedder.embed([query.query for query in queries])
    return np.asarray(vectors, dtype=np.float32)


def _bucket(token: str) -> int:
    return int.from_bytes(hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()[:4], "big") % _BUCKETS
