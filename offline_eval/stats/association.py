"""Correlations, undefined rather than NaN on constant data: do two dimensions, or a judge and a person, rank alike?"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from math import hypot
from typing import Literal

import numpy as np

from offline_eval.core.errors import UnknownNameError
from offline_eval.core.records import Record
from offline_eval.core.results import Interval
from offline_eval.stats.arrays import Clusters, Floats, Ints, check_equal_lengths, finite
from offline_eval.stats.intervals import LEVEL, RESAMPLES, bootstrap
from offline_eval.stats.measured import Measured, measure, measured
from offline_eval.stats.undefined import Undefined

REDUNDANT_ABOVE = 0.8
HEALTHY_FROM, HEALTHY_TO = 0.3, 0.5

_LEAST_PAIRS = 3


class PairCorrelation(Record):
    """How two columns move together.

    Attributes:
        correlation: Over the `correlation.n` items that have a value in both columns.
        reading: `redundant` above .8 (the second column buys little), `healthy` from .3 to .5, `other` elsewhere,
            `undefined`.
    """

    first: str
    second: str
    correlation: Measured
    reading: Literal["redundant", "healthy", "other", "undefined"]


def pearson(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | Undefined:
    """Pearson's product-moment correlation.

    Args:
        x: Shape (n,), finite.
        y: Shape (n,), finite.

    Returns:
        In [-1, 1]; Undefined for fewer than 3 pairs or a constant column.

    Raises:
        DataError: Columns of different length or values that are not finite.

    Source:
        Pearson (1895), Proc. R. Soc. 58:240-242.
    """
    a, b, refusal = _pairs(x, y)
    return refusal or _product_moment(a, b)


def spearman(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | Undefined:
    """Spearman's rank correlation: Pearson's on mid-ranks.

    Args:
        x: Shape (n,), finite.
        y: Shape (n,), finite.

    Returns:
        In [-1, 1]; Undefined for fewer than 3 pairs or a constant column.

    Raises:
        DataError: Columns of different length or values that are not finite.

    Source:
        Spearman (1904), Am. J. Psychol. 15:72-101; ties by mid-ranks.
    """
    a, b, refusal = _pairs(x, y)
    return refusal or _product_moment(_mid_ranks(a), _mid_ranks(b))


def kendall(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float | Undefined:
    """Kendall's tau-b: concordant less discordant pairs, corrected for ties.

    Args:
        x: Shape (n,), finite.
        y: Shape (n,), finite.

    Returns:
        In [-1, 1]; Undefined for fewer than 3 pairs or a constant column.

    Raises:
        DataError: Columns of different length or values that are not finite.

    Source:
        Kendall (1945), Biometrika 33:239-251.
    """
    from scipy.stats import kendalltau

    a, b, refusal = _pairs(x, y)
    if refusal:
        return refusal
    return _bounded(float(kendalltau(a, b, method="asymptotic").statistic))


COEFFICIENTS = {"kendall": kendall, "pearson": pearson, "spearman": spearman}


def correlation_matrix(
    columns: Mapping[str, Sequence[float | None]],
    *,
    method: str = "spearman",
    clusters: Clusters | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> list[PairCorrelation]:
    """Correlate every pair of columns over the items that have both.

    Args:
        columns: Name to values, all of shape (n,); None where an item was not scored.
        method: `pearson`, `spearman` or `kendall`.
        clusters: Shape (n,), the case ids; None when every item stands alone.
        seed: Seed of the resampling.
        resamples: Number of resamples, 100 or more.
        level: Coverage of the intervals, in (0, 1).

    Returns:
        One entry a pair of columns, in the columns' order.

    Raises:
        DataError: Columns of different length or values that are not finite.
        UnknownNameError: No such method.
    """
    if method not in COEFFICIENTS:
        raise UnknownNameError("correlation", method, list(COEFFICIENTS))
    lengths = {name: len(values) for name, values in columns.items()}
    check_equal_lengths(lengths if clusters is None else {**lengths, "clusters": len(clusters)})
    measured_by = _spearman_measured if method == "spearman" else partial(measure, COEFFICIENTS[method])
    entries = []
    for first, second in combinations(columns, 2):
        both = [i for i, (a, b) in enumerate(zip(columns[first], columns[second], strict=True)) if None not in (a, b)]
        arrays = [np.array([columns[name][i] for i in both], dtype=np.float64) for name in (first, second)]
        kept = None if clusters is None else [clusters[i] for i in both]
        found = measured_by(arrays, clusters=kept, seed=seed, resamples=resamples, level=level)
        entries.append(PairCorrelation(first=first, second=second, correlation=found, reading=_reading(found.value)))
    return entries


def _spearman_measured(
    arrays: Sequence[Floats], *, clusters: Clusters | None, seed: int, resamples: int, level: float
) -> Measured:
    """As `measure(spearman, …)`; the values' places among them stand for the values, so that ranking is counting."""
    value = spearman(*arrays)
    if isinstance(value, Undefined):
        return measured(value, value, n=arrays[0].size)
    places = [np.unique(array, return_inverse=True)[1].astype(np.int64) for array in arrays]
    found = bootstrap(_spearman_of_places, places, clusters=clusters, seed=seed, resamples=resamples, level=level)
    return measured(value, found, n=arrays[0].size)


def _spearman_of_places(a: Ints, b: Ints) -> float | Undefined:
    first, second = _ranks_of_places(a), _ranks_of_places(b)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return Undefined(reason="a column is constant")
    return _product_moment(first, second)


def _ranks_of_places(places: Ints) -> Floats:
    counts = np.bincount(places)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return ranks


def correlation_change(earlier: Measured, later: Measured) -> Interval | Undefined:
    """Interval for the change of a correlation between two independent samples.

    Args:
        earlier: A correlation with its interval.
        later: The same on other items; its interval has the same level.

    Returns:
        Of later less earlier; Undefined when one of the two has no interval.

    Source:
        Zou (2007), Psychological Methods 12:399-413: the distances of both intervals' ends, added as variances are.
    """
    if earlier.value is None or later.value is None or earlier.interval is None or later.interval is None:
        return Undefined(reason="one of the two correlations has no interval")
    before, after, change = earlier.interval, later.interval, later.value - earlier.value
    down = hypot(later.value - after.low, before.high - earlier.value)
    up = hypot(after.high - later.value, earlier.value - before.low)
    return Interval(low=change - down, high=change + up, level=after.level, method="Zou's combination of two intervals")


def _pairs(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> tuple[Floats, Floats, Undefined | None]:
    a, b = finite(x, "first column"), finite(y, "second column")
    check_equal_lengths({"the first column": a.size, "the second column": b.size})
    if a.size < _LEAST_PAIRS:
        return a, b, Undefined(reason=f"a correlation needs at least {_LEAST_PAIRS} pairs, here {a.size}")
    for name, column in (("first", a), ("second", b)):
        if np.ptp(column) == 0:
            return a, b, Undefined(reason=f"the {name} column is constant ({column[0]:g})")
    return a, b, None


def _product_moment(a: Floats, b: Floats) -> float | Undefined:
    # Scaled by the largest deviation first: squares of tiny or huge values would underflow or overflow.
    da, db = a - a.mean(), b - b.mean()
    top_a, top_b = np.abs(da).max(), np.abs(db).max()
    if top_a == 0 or top_b == 0:
        return Undefined(reason="a column is constant to within rounding")
    da, db = da / top_a, db / top_b
    return _bounded(float(np.dot(da, db) / np.sqrt(np.dot(da, da) * np.dot(db, db))))


def _mid_ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _bounded(value: float) -> float:
    return min(1.0, max(-1.0, value))


def _reading(value: float | None) -> Literal["redundant", "healthy", "other", "undefined"]:
    if value is None:
        return "undefined"
    if value > REDUNDANT_ABOVE:
        return "redundant"
    return "healthy" if HEALTHY_FROM <= value <= HEALTHY_TO else "other"
