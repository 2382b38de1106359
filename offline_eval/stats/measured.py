"""A statistic with its interval, each with its own reason where it is missing, ready for a table."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from offline_eval.core.records import Record
from offline_eval.core.results import Interval
from offline_eval.stats.arrays import Clusters
from offline_eval.stats.intervals import LEVEL, RESAMPLES, bootstrap
from offline_eval.stats.undefined import Undefined


class Measured(Record):
    """A statistic's value and interval.

    Attributes:
        value: None when the statistic is undefined; then `reason` says why.
        interval: None when it is undefined; then `interval_reason` says why.
        n: Items it was computed from.
    """

    value: float | None
    reason: str | None = None
    interval: Interval | None = None
    interval_reason: str | None = None
    n: int = Field(ge=0)


def measured(value: float | Undefined, interval: Interval | Undefined, *, n: int) -> Measured:
    """Join a value and its interval; no interval without a value."""
    if isinstance(value, Undefined):
        return Measured(value=None, reason=value.reason, interval_reason=value.reason, n=n)
    if isinstance(interval, Undefined):
        return Measured(value=value, interval_reason=interval.reason, n=n)
    return Measured(value=value, interval=interval, n=n)


def measure(
    statistic: Callable[..., float | Undefined],
    arrays: Sequence[NDArray[np.generic]],
    *,
    clusters: Clusters | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Measured:
    """Compute a statistic of rows with its bootstrap interval.

    Args:
        statistic: Called with the arrays; Undefined where it has no value.
        arrays: Each of shape (n, ...); row i of every array belongs to item i.
        clusters: Shape (n,), what is drawn together (the query or case id); None when every row stands alone.
        seed: Seed of the resampling.
        resamples: Number of resamples, 100 or more.
        level: Coverage aimed at, in (0, 1).

    Returns:
        Value and interval; each has a reason where it is missing.

    Raises:
        DataError: As in `intervals.bootstrap`, and whatever the statistic raises.
    """
    n = len(arrays[0])
    value = statistic(*arrays)
    if isinstance(value, Undefined):
        return measured(value, value, n=n)
    found = bootstrap(statistic, arrays, clusters=clusters, seed=seed, resamples=resamples, level=level)
    return measured(value, found, n=n)
