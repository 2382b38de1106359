"""A metric's scores to one Estimate: the mean, how far to trust it, what was left out; failures never look good."""

from collections.abc import Sequence
from math import fsum, isfinite

import numpy as np

from offline_eval.core.results import Estimate, Interval, Score
from offline_eval.stats.arrays import Floats
from offline_eval.stats.intervals import LEVEL, RESAMPLES, mean_interval
from offline_eval.stats.score_column import ScoreColumn
from offline_eval.stats.undefined import Undefined


def estimate(
    scores: Sequence[Score] | ScoreColumn,
    *,
    low: float,
    high: float,
    seed: int,
    higher_is_better: bool = True,
    group: str = "all",
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Estimate:
    """Mean of one metric over one system's responses.

    Args:
        scores: Of one metric and one system, at least one; scored values in [low, high].
        low: The metric's lowest possible value; -inf where there is none.
        high: The metric's highest possible value; inf where there is none.
        seed: Seed of the interval's resampling.
        higher_is_better: Which end of the range is the bad one; failed items are counted there.
        group: Which slice of the test set this is.
        resamples: Number of resamples, 100 or more.
        level: Coverage of the interval, in (0, 1).

    Returns:
        `value` is the mean with every failed item counted at the bad end of the range, so that a crash can never make a
        system look better; `mean_scored` leaves them out. Both are None when nothing was scored. Without a finite bad
        end nothing can be counted there, and a mean with failures is undefined: `value` is None. `best` is the mean if
        every failed item had the good end's value. The interval belongs to `value` and resamples clusters
        (`mean_interval`).

    Raises:
        DataError: No scores, scores of several metrics or systems, or values outside the range.
    """
    column = scores if isinstance(scores, ScoreColumn) else ScoreColumn.of(scores)
    bad, good = (low, high) if higher_is_better else (high, low)
    counted = np.where(column.failed, bad, column.values)[column.applies]
    missing = _missing(column, bad)
    if missing is not None:
        return _filled(column, None, missing, good=good, group=group)
    clusters = column.clusters[column.applies]
    interval = mean_interval(
        counted, low=low, high=high, clusters=clusters, seed=seed, resamples=resamples, level=level
    )
    return _filled(column, _mean(counted), interval, good=good, group=group)


def _missing(column: ScoreColumn, bad: float) -> Undefined | None:
    """Why there is no mean; None when there is one."""
    if not (column.applies & ~column.failed).any():
        return Undefined(reason="nothing was scored")
    if column.failed.any() and not isfinite(bad):
        return Undefined(reason="failed items have no value")
    return None


def _filled(
    column: ScoreColumn, mean: float | None, interval: Interval | Undefined, *, good: float, group: str
) -> Estimate:
    """The mean and its interval with the counts behind them, and what it could be at best."""
    failed = int(column.failed.sum())
    scored = column.values[column.applies & ~column.failed]
    return Estimate(
        metric=column.metric,
        system=column.system,
        group=group,
        value=mean,
        mean_scored=_mean(scored),
        interval=None if isinstance(interval, Undefined) else interval,
        interval_reason=interval.reason if isinstance(interval, Undefined) else None,
        n_scored=scored.size,
        n_not_applicable=int((~column.applies).sum()),
        n_failed=failed,
        best=_mean(np.append(scored, [good] * failed)) if scored.size and isfinite(good) else None,
        reasons=column.reason_counts(),
    )


def _mean(values: Floats) -> float | None:
    return fsum(values.tolist()) / values.size if values.size else None
