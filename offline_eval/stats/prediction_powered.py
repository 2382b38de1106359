"""Prediction-powered means: a few labels put right what a judge says about many items, however poor the judge."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from offline_eval.core.errors import DataError
from offline_eval.core.records import Record
from offline_eval.core.results import Interval
from offline_eval.stats.arrays import Floats, check_equal_lengths, check_share, finite
from offline_eval.stats.intervals import LEVEL
from offline_eval.stats.undefined import Undefined

_LEAST_LABELS = 30  # simulated coverage of a 95 % interval: .914 with 20 labels, .934 with 30, .944 with 50


class PredictionPowered(Record):
    """A mean from labels and judged items together.

    Attributes:
        value: In the labels' unit; with a bounded label it may fall slightly outside the bounds.
        interval: None when undefined; then `interval_reason` says why.
        weight: How much the judge is listened to, in [0, 1]; 0 is the labels' own mean.
        judged_mean: The judge's mean over all items, uncorrected.
        labelled_mean: The labels' own mean.
        labels_equivalent: Labels that would give the same width without the judge; None when undefined.
    """

    value: float
    interval: Interval | None
    interval_reason: str | None = None
    weight: float
    judged_mean: float
    labelled_mean: float
    n_labelled: int
    n_unlabelled: int
    labels_equivalent: float | None


def prediction_powered_mean(
    labels: Sequence[float] | Floats,
    judged: Sequence[float] | Floats,
    judged_unlabelled: Sequence[float] | Floats,
    *,
    weight: float | None = None,
    level: float = LEVEL,
) -> PredictionPowered | Undefined:
    """Mean label over the system's items, from a random labelled part and the judge's grades on all.

    The labelled items must be a random part of the system's items, and items independent: where a case has several,
    give the case's mean.

    Args:
        labels: Shape (n,), what people said; numbers.
        judged: Shape (n,), the judge on the same items.
        judged_unlabelled: Shape (N,), the judge on the items without labels.
        weight: 1 gives plain prediction-powered inference; None (PPI++) takes the weight with the least variance, in
            [0, 1].
        level: Coverage aimed at, in (0, 1).

    Returns:
        The mean with its interval; Undefined without labels or unlabelled items. The interval is undefined below 30
        labels or 2 unlabelled items and without any spread.

    Raises:
        DataError: Columns of different length, values that are not finite, or a setting out of range.

    Source:
        Angelopoulos et al. (2023), Science 382:669-674; Angelopoulos, Duchi & Zrnic (2023), PPI++, arXiv:2311.01453,
        sec. 6. The interval uses sample variances (n - 1) and a t quantile with n - 1 degrees of freedom, which matter
        below 100 labels.
    """
    check_share(level, "level")
    y, f, more = _columns(labels, judged, judged_unlabelled)
    if weight is not None and not 0 <= weight <= 1:
        raise DataError(f"the weight must lie between 0 and 1, found {weight}")
    if not (y.size and more.size):
        return Undefined(reason="needs labelled and unlabelled items")
    return _powered(y, f, more, lam=_best_weight(y, f, more) if weight is None else weight, level=level)


def _powered(y: Floats, f: Floats, more: Floats, *, lam: float, level: float) -> PredictionPowered:
    """The estimate under a given weight."""
    value = lam * float(more.mean()) + float((y - lam * f).mean())
    interval, error = _interval(y, f, more, lam, value, level)
    return PredictionPowered(
        value=value,
        interval=interval if isinstance(interval, Interval) else None,
        interval_reason=interval.reason if isinstance(interval, Undefined) else None,
        weight=lam,
        judged_mean=float(np.concatenate([f, more]).mean()),
        labelled_mean=float(y.mean()),
        n_labelled=y.size,
        n_unlabelled=more.size,
        labels_equivalent=float(y.var(ddof=1)) / error**2 if error else None,
    )


def labels_to_halve(
    labels: Sequence[float] | Floats, judged: Sequence[float] | Floats, judged_unlabelled: Sequence[float] | Floats
) -> int | Undefined:
    """Labels in all that would halve the interval of the prediction-powered mean, taken from the unlabelled items.

    Args:
        labels: Shape (n,), what people said so far.
        judged: Shape (n,), the judge on the same items.
        judged_unlabelled: Shape (N,), the judge on the items without labels.

    Returns:
        More than n, at most n + N; Undefined below 30 labels, without spread, and when labelling every item would not
        do.

    Raises:
        DataError: Columns of different length or values that are not finite.

    Source:
        Variance at the best weight: s^2 / n (1 - r^2 N / (n + N)), with the labels' variance s^2 and r their
        correlation with the judge; the planning step keeps s, r and n + N and moves n.
    """
    y, f, more = _columns(labels, judged, judged_unlabelled)
    if y.size < _LEAST_LABELS:
        return Undefined(reason=f"needs at least {_LEAST_LABELS} labels, here {y.size}")
    if np.ptp(y) == 0:
        return Undefined(reason="all labels are the same, so the spread is unknown")
    r = float(np.corrcoef(y, f)[0, 1]) if np.ptp(f) else 0.0
    items = y.size + more.size
    gain = max(0.0, r) ** 2  # the weight is never negative

    def width(n: int) -> float:
        return (1 - gain * (items - n) / items) / n

    wanted = width(y.size) / 4
    if width(items) > wanted:
        return Undefined(reason=f"labelling all {items} items would not halve it; judge and label more items")
    low, high = y.size, items
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width(middle) <= wanted else (middle, high)
    return high


def _columns(
    labels: Sequence[float] | Floats, judged: Sequence[float] | Floats, judged_unlabelled: Sequence[float] | Floats
) -> tuple[Floats, Floats, Floats]:
    y, f, more = finite(labels, "labels"), finite(judged, "judged"), finite(judged_unlabelled, "judged, unlabelled")
    check_equal_lengths({"labels": y.size, "judged": f.size})
    return y, f, more


def _best_weight(y: Floats, f: Floats, more: Floats) -> float:
    spread = float(np.concatenate([f, more]).var(ddof=1))
    if spread == 0:
        return 0.0
    together = float(np.mean((y - y.mean()) * (f - f.mean())))
    return min(1.0, max(0.0, together / ((1 + y.size / more.size) * spread)))


def _interval(
    y: Floats, f: Floats, more: Floats, lam: float, value: float, level: float
) -> tuple[Interval | Undefined, float]:
    from scipy.special import stdtrit

    if y.size < _LEAST_LABELS or more.size < 2:
        found = f"here {y.size} and {more.size}"
        return Undefined(reason=f"needs at least {_LEAST_LABELS} labels and 2 unlabelled items, {found}"), 0.0
    variance = lam**2 * float(more.var(ddof=1)) / more.size + float((y - lam * f).var(ddof=1)) / y.size
    if variance == 0:
        return Undefined(reason="labels and judge show no spread, so its size is unknown"), 0.0
    error = sqrt(variance)
    half = float(stdtrit(y.size - 1, (1 + level) / 2)) * error
    method = f"prediction-powered, {y.size} labels"
    return Interval(low=value - half, high=value + half, level=level, method=method), error
