"""A system's true rate from a judge whose error rates are known (Rogan-Gladen), because the raw rate is off."""

from math import sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np
from pydantic import Field

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.records import Record
from offline_eval.core.results import Interval
from offline_eval.stats.arrays import Floats, check_share
from offline_eval.stats.intervals import LEVEL, RESAMPLES
from offline_eval.stats.undefined import Undefined

Method = Literal["lang_reiczigel", "delta", "bootstrap"]

_LOST_SHARE = 0.05


class JudgedCounts(Record):
    """What the judge said about the system, and how it did on labelled items that are not among those.

    The labelled items must be like the system's items of the same class; they give the judge's error rates.

    Attributes:
        positive: The system's items the judge called positive.
        n: The system's items.
        true_positive: Labelled positives the judge called positive.
        n_positive: Labelled positives.
        true_negative: Labelled negatives the judge called negative.
        n_negative: Labelled negatives.
    """

    positive: int = Field(ge=0)
    n: int = Field(ge=0)
    true_positive: int = Field(ge=0)
    n_positive: int = Field(ge=0)
    true_negative: int = Field(ge=0)
    n_negative: int = Field(ge=0)


class CorrectedRate(Record):
    """A rate corrected for the judge's errors.

    Attributes:
        raw: Share the judge called positive.
        value: Corrected share, in [0, 1]; a result outside is set to the nearer end.
        interval: Of the corrected share, in [0, 1]; None when undefined, then `interval_reason` says why.
        sensitivity: Of the judge, on the labelled positives.
        specificity: Of the judge, on the labelled negatives.
    """

    raw: float
    value: float
    interval: Interval | None
    interval_reason: str | None = None
    sensitivity: float
    specificity: float


def rogan_gladen(
    counts: JudgedCounts,
    *,
    method: Method = "lang_reiczigel",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> CorrectedRate | Undefined:
    """Correct a judged rate: (raw + specificity - 1) / (sensitivity + specificity - 1).

    Args:
        counts: The judged items and the labelled ones.
        method: Of the interval. `lang_reiczigel` adds pseudo-counts and shifts the centre, so it holds with perfect or
            few labels too; `delta` is the plain normal approximation; `bootstrap` redraws all three counts.
        seed: Seed of the bootstrap.
        resamples: Number of bootstrap resamples, 100 or more.
        level: Coverage aimed at, in (0, 1).

    Returns:
        The corrected rate; Undefined without items or labels of both kinds, and when sensitivity + specificity is at
        most 1: a judge no better than chance carries nothing to correct with.

    Raises:
        DataError: Counts that do not fit together or a setting out of range.
        UsageError: Unknown method.

    Source:
        Rogan & Gladen (1978), Am. J. Epidemiol. 107:71-76; intervals: the same (delta), Lang & Reiczigel (2014), Prev.
        Vet. Med. 113:13-22.
    """
    check_share(level, "level")
    _check_counts(counts)
    if not (counts.n and counts.n_positive and counts.n_negative):
        return Undefined(reason="needs judged items, labelled positives and labelled negatives")
    raw = counts.positive / counts.n
    sensitivity = counts.true_positive / counts.n_positive
    specificity = counts.true_negative / counts.n_negative
    if sensitivity + specificity <= 1:
        found = f"sensitivity {sensitivity:.3g} + specificity {specificity:.3g}"
        return Undefined(reason=f"{found} is not above 1: the judge is no better than chance")
    interval = _interval(counts, method, seed, resamples, level)
    return CorrectedRate(
        raw=raw,
        value=_inside((raw + specificity - 1) / (sensitivity + specificity - 1)),
        interval=None if isinstance(interval, Undefined) else interval,
        interval_reason=interval.reason if isinstance(interval, Undefined) else None,
        sensitivity=sensitivity,
        specificity=specificity,
    )


def labels_factor_to_halve(counts: JudgedCounts) -> float | Undefined:
    """How many times as many labels would halve the interval of the corrected rate (same mix, same judged items).

    Args:
        counts: The judged items and the labels so far.

    Returns:
        4 or more; Undefined where `rogan_gladen` is, when the labels show no error at all, and when the number of
        judged items alone already keeps the interval wider than half.

    Raises:
        DataError: Counts that do not fit together.

    Source:
        The delta variance is A / items + B / labels; solved for B / (factor labels) = variance / 4 - A / items.
    """
    corrected = rogan_gladen(counts, method="delta")
    if isinstance(corrected, Undefined):
        return corrected
    from_items, from_labels = _variance_parts(
        raw=corrected.raw,
        sensitivity=corrected.sensitivity,
        specificity=corrected.specificity,
        sizes=(counts.n, counts.n_positive, counts.n_negative),
    )
    if from_labels == 0:
        return Undefined(reason="the labels show no judge error, so their share of the width cannot be estimated")
    room = (from_items + from_labels) / 4 - from_items
    if room <= 0:
        return Undefined(reason="more labels cannot halve it; judge more items as well")
    return from_labels / room


def _interval(counts: JudgedCounts, method: Method, seed: int, resamples: int, level: float) -> Interval | Undefined:
    if method == "lang_reiczigel":
        return _lang_reiczigel(counts, level)
    if method == "delta":
        return _delta(counts, level)
    if method == "bootstrap":
        return _bootstrap(counts, seed, resamples, level)
    raise UsageError(f"method must be 'lang_reiczigel', 'delta' or 'bootstrap', found {method!r}")


def _lang_reiczigel(counts: JudgedCounts, level: float) -> Interval | Undefined:
    z = NormalDist().inv_cdf((1 + level) / 2)
    sizes = (counts.n + z * z, counts.n_positive + 2.0, counts.n_negative + 2.0)
    raw = (counts.positive + z * z / 2) / sizes[0]
    sensitivity, specificity = (counts.true_positive + 1) / sizes[1], (counts.true_negative + 1) / sizes[2]
    youden = sensitivity + specificity - 1
    if youden <= 0:
        return Undefined(reason="with so few labels the judge cannot be told from chance")
    rate = (raw + specificity - 1) / youden
    of_positives = rate * sensitivity * (1 - sensitivity) / sizes[1]
    of_negatives = (1 - rate) * specificity * (1 - specificity) / sizes[2]
    shift = 2 * z * z * (of_positives - of_negatives)
    variance = sum(_variance_parts(raw=raw, sensitivity=sensitivity, specificity=specificity, sizes=sizes))
    half = z * sqrt(variance)
    return _clipped(rate + shift - half, rate + shift + half, level, "Rogan-Gladen, Lang-Reiczigel")


def _delta(counts: JudgedCounts, level: float) -> Interval | Undefined:
    raw = counts.positive / counts.n
    sensitivity, specificity = counts.true_positive / counts.n_positive, counts.true_negative / counts.n_negative
    sizes = (counts.n, counts.n_positive, counts.n_negative)
    variance = sum(_variance_parts(raw=raw, sensitivity=sensitivity, specificity=specificity, sizes=sizes))
    if variance == 0:
        return Undefined(reason="no error and no spread was seen; the delta method would claim zero width")
    rate = (raw + specificity - 1) / (sensitivity + specificity - 1)
    half = NormalDist().inv_cdf((1 + level) / 2) * sqrt(variance)
    return _clipped(rate - half, rate + half, level, "Rogan-Gladen, delta")


def _bootstrap(counts: JudgedCounts, seed: int, resamples: int, level: float) -> Interval | Undefined:
    if resamples < 100:
        raise DataError(f"resamples must be 100 or more, found {resamples}")
    rng = np.random.default_rng(seed)
    raw = _redraw(rng, counts.positive, counts.n, resamples)
    sensitivity = _redraw(rng, counts.true_positive, counts.n_positive, resamples)
    specificity = _redraw(rng, counts.true_negative, counts.n_negative, resamples)
    youden = sensitivity + specificity - 1
    usable = youden > 0
    lost = resamples - int(usable.sum())
    if lost > _LOST_SHARE * resamples:
        return Undefined(reason=f"in {lost} of {resamples} resamples the judge is no better than chance")
    rates = np.clip((raw[usable] + specificity[usable] - 1) / youden[usable], 0, 1)
    low, high = np.quantile(rates, [(1 - level) / 2, (1 + level) / 2])
    if low == high:
        return Undefined(reason="all resamples give the same value, so resampling cannot show the spread")
    method = f"Rogan-Gladen, parametric bootstrap, {resamples} resamples"
    return Interval(low=float(low), high=float(high), level=level, method=method, seed=seed)


def _variance_parts(
    *, raw: float, sensitivity: float, specificity: float, sizes: tuple[float, float, float]
) -> tuple[float, float]:
    """Variance of the corrected rate from the judged items and from the labels."""
    youden = sensitivity + specificity - 1
    rate = (raw + specificity - 1) / youden
    from_items = raw * (1 - raw) / sizes[0]
    from_labels = (
        rate**2 * sensitivity * (1 - sensitivity) / sizes[1]
        + (1 - rate) ** 2 * specificity * (1 - specificity) / sizes[2]
    )
    return from_items / youden**2, from_labels / youden**2


def _check_counts(counts: JudgedCounts) -> None:
    pairs = (
        ("positive", counts.positive, "n", counts.n),
        ("true_positive", counts.true_positive, "n_positive", counts.n_positive),
        ("true_negative", counts.true_negative, "n_negative", counts.n_negative),
    )
    problems = [f"{name} {part} exceeds {total} {whole}" for name, part, total, whole in pairs if part > whole]
    if problems:
        raise DataError(problems)


def _redraw(rng: np.random.Generator, part: int, whole: int, resamples: int) -> Floats:
    shares: Floats = rng.binomial(whole, part / whole, resamples) / whole
    return shares


def _clipped(low: float, high: float, level: float, method: str) -> Interval | Undefined:
    if high <= 0 or low >= 1:
        return Undefined(reason="the raw rate lies outside what the judge's error rates allow; are the items alike?")
    return Interval(low=_inside(low), high=_inside(high), level=level, method=method)


def _inside(value: float) -> float:
    return min(1.0, max(0.0, value))
