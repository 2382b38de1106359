"""Intervals for means and for any statistic, because a number without one invites more belief than it earned.

One resampling method serves everywhere: the bootstrap over clusters with expanded percentiles. In a simulation (1,500
data sets a cell, 1,000 resamples, nominal .95) it covered .94-.96 on ordinal grades and on clustered 0/1 data with 10
to 200 clusters, where plain percentiles fell to .905; on strongly skewed bounded data .90 (n = 10), .93 (20), .94 (50
and more). BCa, widened in the same way, gained about one point on the skewed data, lost as much elsewhere, and needs a
jackknife beside the resamples.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import ceil, isfinite, log2, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.errors import DataError
from offline_eval.core.results import Interval
from offline_eval.stats.arrays import Clusters, Floats, Ints, check_equal_lengths, check_share, finite, numbered
from offline_eval.stats.undefined import Undefined

RESAMPLES = 2000
LEVEL = 0.95

_DRAWS_AT_ONCE = 60_000  # what is gathered for them stays in the processor's cache
_DRAWS_KEPT = 4_000_000  # 8 MB; a report takes hundreds of means over the same number of clusters with the same seed
_CLOSED_FORM_FROM = 2_000  # clusters; the two differ by less than the resampling's own chance error from here on
_UNDEFINED_SHARE = 0.05
_FLAT = 1e-12


def least_clusters(level: float = LEVEL) -> int:
    """Fewest independent cases from which resampling can give an interval of this level.

    No bootstrap interval reaches beyond the smallest and largest observation, and m observations all fall on one side
    of the median with probability 2^(1-m).

    Args:
        level: Coverage aimed at, in (0, 1).

    Returns:
        Smallest m with 2^(1-m) <= 1 - level: 6 for .95, 5 for .90, 8 for .99.
    """
    return max(2, ceil(1 + log2(1 / (1 - level))))


def wilson(k: float, n: int, *, level: float = LEVEL) -> Interval | Undefined:
    """Wilson's score interval for a proportion.

    Args:
        k: Successes, 0 to n.
        n: Independent trials.
        level: Coverage aimed at, in (0, 1).

    Returns:
        Bounds in [0, 1], never of zero width; Undefined for n = 0.

    Raises:
        DataError: k outside 0..n.

    Source:
        Wilson (1927), JASA 22:209-212, without continuity correction.
    """
    check_share(level, "level")
    if not 0 <= k <= n:
        raise DataError(f"successes must lie between 0 and the number of trials {n}, found {k}")
    if n == 0:
        return Undefined(reason="no trials")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = k / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if k == 0 else max(0.0, centre - half)
    high = 1.0 if k == n else min(1.0, centre + half)
    return Interval(low=low, high=high, level=level, method="Wilson")


def bootstrap_mean(
    values: Sequence[float] | Floats,
    *,
    clusters: Clusters | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval | Undefined:
    """Interval for a mean by resampling clusters; from 2,000 clusters on by the closed form it converges to.

    The result does not depend on the order of the values. Memory stays below about 50 MB beyond the input.

    Args:
        values: Shape (n,), finite, any range.
        clusters: Shape (n,), what is drawn together: the case id, or its place among all ids in their order; a list or
            an array of text, whole numbers or both. None when every value stands alone.
        seed: Seed of the resampling.
        resamples: Number of resamples, 100 or more.
        level: Coverage aimed at, in (0, 1).

    Returns:
        Bounds within the range of the cluster means; Undefined for fewer than `least_clusters(level)` clusters and
        where the cluster means do not differ, since resampling then cannot show the spread.

    Raises:
        DataError: A value that is not finite, a cluster without a name, columns of different length, or a setting out
            of range.

    Source:
        Efron & Tibshirani (1993), ch. 13; expanded percentiles: Hesterberg (2015), The American Statistician
        69:371-386; closed form: linearised ratio of cluster totals, Cochran (1977), ch. 9A, with a t quantile.
    """
    data = finite(values, "values")
    _check_settings(resamples, level)
    order, sizes = _in_clusters([data], clusters)
    m = len(sizes)
    refusal = _too_few(m, level)
    if refusal:
        return refusal
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(data[order], starts)
    if np.ptp(sums / sizes) <= _FLAT * float(np.abs(data).max()):
        return _flat(m)
    if m >= _CLOSED_FORM_FROM:
        return _closed_form(sums, sizes, level)
    alike = bool(np.all(sizes == sizes[0]))
    means: list[Floats] = []
    for drawn in _draws(m, seed=seed, resamples=resamples):
        n = m * sizes[0] if alike else np.take(sizes, drawn, mode="clip").sum(axis=1)
        means.append(np.take(sums, drawn, mode="clip").sum(axis=1) / n)
    return _from_resamples(np.concatenate(means), m, seed, resamples, level)


def mean_interval(
    values: Sequence[float] | Floats,
    *,
    low: float,
    high: float,
    clusters: Clusters | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval | Undefined:
    """Interval for the mean of a metric whose range is known.

    Values that stand alone and only take the two ends of the range are a proportion: Wilson. Values that all sit at one
    end are treated as that many successes in a row, one a cluster (the widest case among distributions on the range, so
    still valid): Wilson again, so that "all right" never claims zero width. Everything else: `bootstrap_mean`.

    Args:
        values: Shape (n,), each in [low, high].
        low: Lowest possible value; -inf where there is none.
        high: Highest possible value; inf where there is none.
        clusters: As in `bootstrap_mean`.
        seed: Seed of the resampling.
        resamples: Number of resamples, 100 or more.
        level: Coverage aimed at, in (0, 1).

    Returns:
        Bounds in [low, high]; Undefined without values, with too few clusters, or where all values are equal inside the
        range.

    Raises:
        DataError: A value outside the range, and as in `bootstrap_mean`.
    """
    data = finite(values, "values")
    if data.size == 0:
        return Undefined(reason="no values")
    outside = np.flatnonzero((data < low) | (data > high))
    if outside.size:
        raise DataError(f"value {outside[0]} is {data[outside[0]]}, outside the metric's range {low} to {high}")
    codes = None if clusters is None else numbered(clusters)
    if codes is not None:
        check_equal_lengths({"values": data.size, "clusters": codes.size})
    m = data.size if codes is None else int(codes.max()) + 1
    at_an_end = bool(np.all((data == low) | (data == high)))
    if isfinite(low) and isfinite(high) and at_an_end and (m == data.size or np.ptp(data) == 0):
        return _stretched(wilson(round(m * float(np.mean(data == high))), m, level=level), low, high)
    found = bootstrap_mean(data, clusters=codes, seed=seed, resamples=resamples, level=level)
    if isinstance(found, Undefined):
        return found
    return found.model_copy(update={"low": max(low, found.low), "high": min(high, found.high)})


def _stretched(share: Interval | Undefined, low: float, high: float) -> Interval | Undefined:
    """The interval of a share in [0, 1] on another range."""
    if isinstance(share, Undefined):
        return share
    width = high - low
    return share.model_copy(update={"low": low + width * share.low, "high": low + width * share.high})


def bootstrap(
    statistic: Callable[..., float | Undefined],
    arrays: Sequence[NDArray[np.generic]],
    *,
    clusters: Clusters | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval | Undefined:
    """Interval for any statistic of rows, by resampling clusters of rows.

    Args:
        statistic: Called with the resampled arrays; Undefined where it has no value.
        arrays: Each of shape (n, ...); row i of every array belongs to item i.
        clusters: As in `bootstrap_mean`.
        seed: Seed of the resampling.
        resamples: Number of resamples, 100 or more.
        level: Coverage aimed at, in (0, 1).

    Returns:
        Expanded percentiles over the resamples that had a value; how many had none stands in `method`. Undefined for
        fewer than `least_clusters(level)` clusters, when more than 5 % of the resamples have no value, and when all
        have the same value.

    Raises:
        DataError: Arrays of different length, a cluster without a name, or a setting out of range.

    Source:
        As `bootstrap_mean`.
    """
    _check_settings(resamples, level)
    check_equal_lengths({f"array {i}": len(array) for i, array in enumerate(arrays)})
    order, sizes = _in_clusters(arrays, clusters)
    m = len(sizes)
    refusal = _too_few(m, level)
    if refusal:
        return refusal
    ordered = [array[order] for array in arrays]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rng = np.random.default_rng(seed)
    found: list[float] = []
    stand_alone = m == len(order)
    for _ in range(resamples):
        drawn = rng.integers(0, m, m)
        rows = drawn if stand_alone else _rows_of(drawn, starts, sizes)
        value = statistic(*(array[rows] for array in ordered))
        if not isinstance(value, Undefined):
            found.append(value)
    return _from_resamples(np.array(found), m, seed, resamples, level)


def _draws(m: int, *, seed: int, resamples: int) -> Iterator[NDArray[np.uint16]]:
    """Numbers of the drawn clusters, shape (some, m) and (resamples, m) in all; m is below 2^16."""
    if m * resamples > _DRAWS_KEPT:
        yield from _fresh_draws(m, seed, resamples)
        return
    yield from _kept_draws(m, seed, resamples)


@lru_cache(maxsize=4)
def _kept_draws(m: int, seed: int, resamples: int) -> tuple[NDArray[np.uint16], ...]:
    return tuple(_fresh_draws(m, seed, resamples))


def _fresh_draws(m: int, seed: int, resamples: int) -> Iterator[NDArray[np.uint16]]:
    rng = np.random.default_rng(seed)
    step = max(1, _DRAWS_AT_ONCE // m)
    for at in range(0, resamples, step):
        yield rng.integers(0, m, (min(step, resamples - at), m)).astype(np.uint16)


def _check_settings(resamples: int, level: float) -> None:
    check_share(level, "level")
    if resamples < 100:
        raise DataError(f"resamples must be 100 or more, found {resamples}")


def _in_clusters(arrays: Sequence[NDArray[np.generic]], clusters: Clusters | None) -> tuple[Ints, Ints]:
    """Order of the rows by cluster, then by content (so the input's order cannot matter), and the clusters' sizes."""
    n = len(arrays[0])
    keys = [column for array in arrays for column in array.reshape(n, -1).T] if n else []
    if clusters is None:
        order = np.lexsort(keys) if keys else np.arange(n)
        return order.astype(np.int64), np.ones(n, dtype=np.int64)
    check_equal_lengths({"values": n, "clusters": len(clusters)})
    codes = numbered(clusters)
    sizes = np.bincount(codes).astype(np.int64)
    if sizes.size == n:  # every row alone: its code is its place
        order = np.empty(n, dtype=np.int64)
        order[codes] = np.arange(n)
        return order, sizes
    return np.lexsort([*keys, codes]).astype(np.int64), sizes


def _rows_of(drawn: Ints, starts: Ints, sizes: Ints) -> Ints:
    """Row numbers of the drawn clusters, one after the other."""
    lengths = sizes[drawn]
    ends = np.cumsum(lengths)
    return np.repeat(starts[drawn] - (ends - lengths), lengths) + np.arange(ends[-1])


def _too_few(m: int, level: float) -> Undefined | None:
    least = least_clusters(level)
    if m >= least:
        return None
    return Undefined(reason=f"a {level:.0%} interval needs at least {least} independent cases, here {m}")


def _flat(m: int) -> Undefined:
    return Undefined(reason=f"all {m} independent cases give the same value, so resampling cannot show the spread")


def _from_resamples(found: Floats, m: int, seed: int, resamples: int, level: float) -> Interval | Undefined:
    lost = resamples - found.size
    if lost > _UNDEFINED_SHARE * resamples:
        return Undefined(reason=f"the statistic has no value in {lost} of {resamples} resamples")
    if np.ptp(found) <= _FLAT * float(np.abs(found).max()):
        return Undefined(reason=f"all {found.size} resamples give the same value, so resampling cannot show the spread")
    tail = NormalDist().cdf(-_t_quantile(level, m) * sqrt(m / (m - 1)))
    low, high = np.quantile(found, [tail, 1 - tail])
    method = f"bootstrap over {m} clusters, expanded percentiles, {resamples} resamples"
    if lost:
        method += f" ({lost} without a value)"
    return Interval(low=float(low), high=float(high), level=level, method=method, seed=seed)


def _closed_form(sums: Floats, sizes: Ints, level: float) -> Interval:
    m = sums.size
    mean = float(sums.sum() / sizes.sum())
    error = sqrt(m / (m - 1) * float(np.sum((sums - mean * sizes) ** 2))) / float(sizes.sum())
    half = _t_quantile(level, m) * error
    return Interval(low=mean - half, high=mean + half, level=level, method=f"closed form over {m} clusters")


def _t_quantile(level: float, m: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(m - 1, (1 + level) / 2))
