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
    if not scores:
        raise DataError("there are no scores to take a mean of; check that the run has cases and this metric")
    metric, system = _only({score.metric for score in scores}, "metrics"), _only({s.system for s in scores}, "systems")
    scored = [score.value for score in scores if score.value is not None]
    failed = sum(score.status is Status.FAILED for score in scores)
    bad, good = (low, high) if higher_is_better else (high, low)
    counted = [score for score in scores if score.status is not Status.NOT_APPLICABLE]
    values = [bad if score.value is None else score.value for score in counted]
    is_defined = bool(scored) and (failed == 0 or isfinite(bad))
    interval: Interval | Undefined = Undefined(
        reason="nothing was scored" if not scored else "failed items have no value"
    )
    if is_defined:
        clusters = [score.cluster for score in counted]
        interval = mean_interval(
            values, low=low, high=high, clusters=clusters, seed=seed, resamples=resamples, level=level
        )
    return Estimate(
        metric=metric,
        system=system,
        group=group,
        value=_mean(values) if is_defined else None,
        mean_scored=_mean(scored),
        interval=None if isinstance(interval, Undefined) else interval,
        interval_reason=interval.reason if isinstance(interval, Undefined) else None,
        n_scored=len(scored),
        n_not_applicable=len(scores) - len(scored) - failed,
        n_failed=failed,
        best=_mean(scored + [good] * failed) if scored and isfinite(good) else None,
        reasons=_reasons(scores),
    )


def _only(names: set[str], what: str) -> str:
    if len(names) > 1:
        raise DataError(f"one mean over several {what}: {', '.join(sorted(names))}; estimate each on its own")
    return next(iter(names))


def _mean(values: list[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def _reasons(scores: Sequence[Score]) -> dict[str, int]:
    counts = Counter(score.reason for score in scores if score.status is not Status.SCORED and score.reason)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
