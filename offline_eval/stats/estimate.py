"""A metric's scores to one Estimate: the mean, how far to trust it, what was left out; failures never look good."""

from collections import Counter
from collections.abc import Sequence
from math import fsum, isfinite

from offline_eval.core.errors import DataError
from offline_eval.core.results import Estimate, Interval, Score, Status
from offline_eval.stats.intervals import LEVEL, RESAMPLES, mean_interval
from offline_eval.stats.undefined import Undefined


def estimate(
    scores: Sequence[Score],
    *,
    low: float,
    high: float,
    seed: int,
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
        group: Which slice of the test set this is.
        resamples: Number of resamples, 100 or more.
        level: Coverage of the interval, in (0, 1).

    Returns:
        `value` is the mean of the scored items and None without any. `worst` is the mean if every failed item had
        `low`, None where `low` is infinite; `best` the same with `high`; both None when nothing was scored or failed.
        Items that do not apply count in none of them. The interval resamples clusters of scored items
        (`mean_interval`).

    Raises:
        DataError: No scores, scores of several metrics or systems, or values outside the range.
    """
    if not scores:
        raise DataError("there are no scores to take a mean of; check that the run has cases and this metric")
    metric, system = _only({score.metric for score in scores}, "metrics"), _only({s.system for s in scores}, "systems")
    scored = [score for score in scores if score.value is not None]
    values = [score.value for score in scored if score.value is not None]
    failed = sum(score.status is Status.FAILED for score in scores)
    interval = _interval(values, scored, low=low, high=high, seed=seed, resamples=resamples, level=level)
    return Estimate(
        metric=metric,
        system=system,
        group=group,
        value=_mean(values),
        interval=None if isinstance(interval, Undefined) else interval,
        interval_reason=interval.reason if isinstance(interval, Undefined) else None,
        n_scored=len(scored),
        n_not_applicable=len(scores) - len(scored) - failed,
        n_failed=failed,
        worst=_mean(values + [low] * failed) if isfinite(low) else None,
        best=_mean(values + [high] * failed) if isfinite(high) else None,
        reasons=_reasons(scores),
    )


def _only(names: set[str], what: str) -> str:
    if len(names) > 1:
        raise DataError(f"one mean over several {what}: {', '.join(sorted(names))}; estimate each on its own")
    return next(iter(names))


def _mean(values: list[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def _interval(
    values: list[float], scored: list[Score], *, low: float, high: float, seed: int, resamples: int, level: float
) -> Interval | Undefined:
    if not values:
        return Undefined(reason="nothing was scored")
    clusters = [score.cluster for score in scored]
    return mean_interval(values, low=low, high=high, clusters=clusters, seed=seed, resamples=resamples, level=level)


def _reasons(scores: Sequence[Score]) -> dict[str, int]:
    counts = Counter(score.reason for score in scores if score.status is not Status.SCORED and score.reason)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
