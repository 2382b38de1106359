"""Answering only when sure: the risk among the answers given, at every share of questions answered.

One number at one threshold hides the trade; the whole curve, and the area under it, is what two confidences are
compared by.
"""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from offline_eval.core.errors import DataError
from offline_eval.core.records import Record
from offline_eval.stats.arrays import Floats
from offline_eval.stats.calibration import read_outcomes
from offline_eval.stats.undefined import Undefined


class RiskPoint(Record):
    """What happens when everything with at least this confidence is answered.

    Attributes:
        threshold: Lowest confidence that is answered.
        coverage: Share of items answered, in (0, 1].
        risk: Share of wrong ones among those answered, in [0, 1].
        n: Items answered.
        wrong: Wrong ones among them.
    """

    threshold: float
    coverage: float
    risk: float
    n: int = Field(ge=1)
    wrong: int = Field(ge=0)


def risk_coverage(
    confidences: Sequence[float] | Floats, outcomes: Sequence[int] | Sequence[bool] | Floats
) -> list[RiskPoint]:
    """The risk–coverage curve, one point for each distinct confidence.

    Args:
        confidences: Shape (n,), in [0, 1]; higher is answered first.
        outcomes: Shape (n,), 1 where the answer is right, else 0.

    Returns:
        Points from the highest threshold to the lowest, so that coverage rises to 1; none without items.

    Raises:
        DataError: A confidence outside [0, 1], an outcome that is not 0 or 1, columns of different length.

    Source:
        El-Yaniv & Wiener (2010), JMLR 11:1605-1641.
    """
    p, y = read_outcomes(confidences, outcomes)
    values, answered, wrong = _steps(p, 1 - y)
    return [
        RiskPoint(threshold=float(v), coverage=float(k / p.size), risk=float(w / k), n=int(k), wrong=round(w))
        for v, k, w in zip(values, answered, wrong, strict=True)
    ]


def aurc(confidences: Sequence[float] | Floats, outcomes: Sequence[int] | Sequence[bool] | Floats) -> float | Undefined:
    """Area under the risk–coverage curve: the mean risk over answering the best 1, 2, … n items; lower is better.

    Items of equal confidence are in no order, so the mean over all their orders is taken; a constant confidence has
    the overall share of wrong items.

    Args:
        confidences: Shape (n,), in [0, 1].
        outcomes: Shape (n,), 1 where the answer is right, else 0.

    Returns:
        In [0, 1]; Undefined without items.

    Raises:
        DataError: As in `risk_coverage`.

    Source:
        Geifman, Uziel & El-Yaniv (2019), ICLR, sec. 3.
    """
    p, y = read_outcomes(confidences, outcomes)
    if not p.size:
        return Undefined(reason="there are no items")
    _, answered, wrong = _steps(p, 1 - y)
    count = np.arange(1.0, p.size + 1)
    # Inside a group of equals the expected number of wrong ones grows in a straight line.
    expected = np.interp(count, np.concatenate([[0.0], answered]), np.concatenate([[0.0], wrong]))
    return float(np.mean(expected / count))


def least_aurc(outcomes: Sequence[int] | Sequence[bool] | Floats) -> float | Undefined:
    """The smallest area any confidence could reach: every right item before every wrong one.

    Args:
        outcomes: Shape (n,), 1 where the answer is right, else 0.

    Returns:
        In [0, 1]; Undefined without items.
    """
    return aurc(outcomes, outcomes)


def largest_coverage(
    confidences: Sequence[float] | Floats, outcomes: Sequence[int] | Sequence[bool] | Floats, *, accuracy: float
) -> RiskPoint | Undefined:
    """The most that can be answered while the share of right answers stays at a target.

    Args:
        confidences: Shape (n,), in [0, 1].
        outcomes: Shape (n,), 1 where the answer is right, else 0.
        accuracy: Least share of right ones among those answered, in (0, 1].

    Returns:
        The point of the curve; Undefined when no threshold reaches the target.

    Raises:
        DataError: As in `risk_coverage`, or a target out of range.
    """
    if not 0 < accuracy <= 1:
        raise DataError(f"the target accuracy must be above 0 and at most 1, found {accuracy}")
    # Counted in whole items, so that a target of exactly 2 of 3 is not lost to rounding.
    reached = [
        point
        for point in risk_coverage(confidences, outcomes)
        if point.n - point.wrong >= accuracy * point.n - 1e-9 * point.n
    ]
    return reached[-1] if reached else Undefined(reason=f"no threshold reaches an accuracy of {accuracy:g}")


def _steps(p: Floats, bad: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct confidences, highest first, with the items and the wrong ones at or above each."""
    order = np.argsort(-p, kind="stable")
    falling, wrong = p[order], np.cumsum(bad[order])
    last = np.flatnonzero(np.append(falling[1:] != falling[:-1], True)) if p.size else np.zeros(0, dtype=np.int64)
    return falling[last], np.asarray(last + 1, dtype=np.float64), wrong[last]
