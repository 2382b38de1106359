"""Whether a judge's probabilities mean what they say: reliability bins, calibration error, Brier score, its parts."""

from collections.abc import Sequence
from math import sqrt
from typing import Literal

import numpy as np
from pydantic import Field

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.records import Record
from offline_eval.stats.arrays import Floats, Ints, check_equal_lengths, finite
from offline_eval.stats.undefined import Undefined

Binning = Literal["equal_width", "equal_mass"]

BINS = 10


class ReliabilityBin(Record):
    """The items whose probability falls between two edges.

    Attributes:
        low: Lower edge, excluded (included in the first bin).
        high: Upper edge, included.
        mean_probability: What the judge says, in [0, 1].
        share: What happened, in [0, 1].
    """

    low: float
    high: float
    n: int = Field(ge=1)
    mean_probability: float
    share: float


class BrierParts(Record):
    """The Brier score and where it comes from; `score = reliability - resolution + uncertainty + within_bins`.

    Attributes:
        score: Mean squared error of the probabilities, in [0, 1]; lower is better.
        reliability: Cost of probabilities that are off, 0 or more.
        resolution: Gain from telling items apart, 0 or more.
        uncertainty: What a forecast of the overall share would score, in [0, .25].
        within_bins: Left over because probabilities inside a bin differ; 0 when they do not.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float


def reliability_bins(
    probabilities: Sequence[float] | Floats,
    outcomes: Sequence[int] | Sequence[bool] | Floats,
    *,
    bins: int = BINS,
    binning: Binning = "equal_width",
) -> list[ReliabilityBin]:
    """Group items by the judge's probability and compare it with what happened.

    Args:
        probabilities: Shape (n,), in [0, 1].
        outcomes: Shape (n,), 0 or 1.
        bins: How many, 1 or more.
        binning: `equal_width` cuts [0, 1] evenly; `equal_mass` cuts at quantiles, equal probabilities staying together.

    Returns:
        The bins that hold an item, lowest first (so fewer than `bins` are possible); none without items.

    Raises:
        DataError: A probability outside [0, 1], an outcome that is not 0 or 1, columns of different length, no bins.
        UsageError: Unknown binning.

    Source:
        Murphy & Winkler (1977), Appl. Statist. 26:41-47.
    """
    p, y = read_outcomes(probabilities, outcomes)
    edges, place = _places(p, bins, binning)
    found = []
    for index in np.unique(place):
        inside = place == index
        found.append(
            ReliabilityBin(
                low=float(edges[index]),
                high=float(edges[index + 1]),
                n=int(inside.sum()),
                mean_probability=float(p[inside].mean()),
                share=float(y[inside].mean()),
            )
        )
    return found


def calibration_error(
    probabilities: Sequence[float] | Floats,
    outcomes: Sequence[int] | Sequence[bool] | Floats,
    *,
    bins: int = BINS,
    binning: Binning = "equal_width",
) -> float | Undefined:
    """Expected calibration error (ECE): mean distance between probability and share, bins weighted by their items.

    It is biased upwards, the more so with few items a bin; see `debiased_calibration_error`.

    Args:
        probabilities: Shape (n,), in [0, 1].
        outcomes: Shape (n,), 0 or 1.
        bins: How many, 1 or more.
        binning: As in `reliability_bins`.

    Returns:
        In [0, 1], 0 is best; Undefined without items.

    Raises:
        DataError: As in `reliability_bins`.
        UsageError: Unknown binning.

    Source:
        Naeini, Cooper & Hauskrecht (2015), AAAI, 2901-2907.
    """
    p, y = read_outcomes(probabilities, outcomes)
    _, place = _places(p, bins, binning)
    if not p.size:
        return Undefined(reason="there are no items")
    # A bin's size times its distance is the distance between its sums.
    return float(np.abs(np.bincount(place, weights=p) - np.bincount(place, weights=y)).sum()) / p.size


def debiased_calibration_error(
    probabilities: Sequence[float] | Floats,
    outcomes: Sequence[int] | Sequence[bool] | Floats,
    *,
    bins: int = BINS,
    binning: Binning = "equal_mass",
) -> float | Undefined:
    """Root mean squared calibration error with the part that chance alone gives taken out.

    Each bin's squared distance is reduced by the sampling variance of its share, so a calibrated judge is near 0 at any
    size.

    Args:
        probabilities: Shape (n,), in [0, 1].
        outcomes: Shape (n,), 0 or 1.
        bins: How many, 1 or more.
        binning: As in `reliability_bins`.

    Returns:
        In [0, 1], 0 is best (a negative square is reported as 0); Undefined when some bin holds fewer than two items.

    Raises:
        DataError: As in `reliability_bins`.
        UsageError: Unknown binning.

    Source:
        Kumar, Liang & Ma (2019), NeurIPS 32, sec. 5.
    """
    groups = reliability_bins(probabilities, outcomes, bins=bins, binning=binning)
    if not groups:
        return Undefined(reason="there are no items")
    if min(group.n for group in groups) < 2:
        return Undefined(reason="a bin holds a single item; use fewer bins or equal mass")
    n = sum(group.n for group in groups)
    square = sum(
        group.n / n * ((group.mean_probability - group.share) ** 2 - group.share * (1 - group.share) / (group.n - 1))
        for group in groups
    )
    return sqrt(max(0.0, square))


def brier(
    probabilities: Sequence[float] | Floats,
    outcomes: Sequence[int] | Sequence[bool] | Floats,
    *,
    bins: int = BINS,
    binning: Binning = "equal_width",
) -> BrierParts | Undefined:
    """Brier score with Murphy's decomposition over bins.

    Args:
        probabilities: Shape (n,), in [0, 1].
        outcomes: Shape (n,), 0 or 1.
        bins: How many, 1 or more.
        binning: As in `reliability_bins`.

    Returns:
        The score and its parts, which add up exactly; Undefined without items.

    Raises:
        DataError: As in `reliability_bins`.
        UsageError: Unknown binning.

    Source:
        Murphy (1973), J. Appl. Meteorol. 12:595-600; the remainder: Stephenson, Coelho & Jolliffe (2008), Weather and
        Forecasting 23:752-757.
    """
    p, y = read_outcomes(probabilities, outcomes)
    groups = reliability_bins(p, y, bins=bins, binning=binning)
    if not groups:
        return Undefined(reason="there are no items")
    base = float(y.mean())
    score = float(np.mean((p - y) ** 2))
    reliability = sum(group.n * (group.mean_probability - group.share) ** 2 for group in groups) / p.size
    resolution = sum(group.n * (group.share - base) ** 2 for group in groups) / p.size
    uncertainty = base * (1 - base)
    return BrierParts(
        score=score,
        reliability=reliability,
        resolution=resolution,
        uncertainty=uncertainty,
        within_bins=score - (reliability - resolution + uncertainty),
    )


def read_outcomes(
    probabilities: Sequence[float] | Floats, outcomes: Sequence[int] | Sequence[bool] | Floats
) -> tuple[Floats, Floats]:
    """Check probabilities and what happened.

    Args:
        probabilities: Shape (n,), in [0, 1].
        outcomes: Shape (n,), 0 or 1.

    Returns:
        Both as arrays of shape (n,).

    Raises:
        DataError: A probability outside [0, 1], an outcome that is not 0 or 1, or columns of different length.
    """
    p, y = finite(probabilities, "probabilities"), finite(outcomes, "outcomes")
    check_equal_lengths({"probabilities": p.size, "outcomes": y.size})
    outside = np.flatnonzero((p < 0) | (p > 1))
    if outside.size:
        raise DataError(f"probability {outside[0]} is {p[outside[0]]}, expected a number from 0 to 1")
    odd = np.flatnonzero((y != 0) & (y != 1))
    if odd.size:
        raise DataError(f"outcome {odd[0]} is {y[odd[0]]}, expected 0 or 1")
    return p, y


def _places(p: Floats, bins: int, binning: Binning) -> tuple[Floats, Ints]:
    """The bins' edges, and each probability's bin, numbered from 0."""
    if bins < 1:
        raise DataError(f"bins must be 1 or more, found {bins}")
    edges = _edges(p, bins, binning) if p.size else np.array([0.0, 1.0])
    return edges, np.clip(np.searchsorted(edges, p, side="left") - 1, 0, edges.size - 2)


def _edges(p: Floats, bins: int, binning: Binning) -> Floats:
    if binning == "equal_width":
        return np.linspace(0.0, 1.0, bins + 1)
    if binning == "equal_mass":
        inner = np.unique(np.quantile(p, np.arange(1, bins) / bins, method="inverted_cdf"))
        return np.concatenate([[0.0], inner[(inner > 0) & (inner < 1)], [1.0]])
    raise UsageError(f"binning must be 'equal_width' or 'equal_mass', found {binning!r}")
