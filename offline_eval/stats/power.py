"""How large a difference a test set can show, so that nobody reads a verdict out of twenty cases."""

from collections.abc import Mapping
from math import isfinite, sqrt

from pydantic import Field

from offline_eval.core.errors import DataError
from offline_eval.core.records import Record
from offline_eval.stats.arrays import check_share
from offline_eval.stats.intervals import LEVEL
from offline_eval.stats.undefined import Undefined

POWER = 0.8
LEAST_PER_TYPE = 20
LEAST_IN_ALL = 100
LEAST_FOR_A_FORMAL_REPORT = 300


class SizeAdvice(Record):
    """What a number of cases can and cannot show.

    Attributes:
        scope: `all`, or the query type.
        wanted: The least number asked for.
        smallest_difference: Between two systems on the same cases, in the metric's unit; seen with power .8. None below
            2 cases.
        half_width: Of a 95 % interval for one system's mean, in the metric's unit. None below 2 cases.
    """

    scope: str
    n: int = Field(ge=0)
    wanted: int
    enough: bool
    smallest_difference: float | None
    half_width: float | None


def smallest_difference(n: int, sd: float, *, level: float = LEVEL, power: float = POWER) -> float | Undefined:
    """Smallest true mean difference that a paired comparison finds with the given power.

    Args:
        n: Independent cases.
        sd: Standard deviation of the differences between paired values, 0 or more.
        level: 1 less the two-sided error rate, in (0, 1).
        power: Chance of finding it, in (0, 1).

    Returns:
        0 or more, in the unit of `sd`; Undefined for fewer than 2 cases.

    Raises:
        DataError: A setting out of range.

    Source:
        (t(1-a/2) + t(power)) sd / sqrt(n) with n - 1 degrees of freedom; by the non-central t the
        power is within .012 of the one asked for from n = 10 on.
    """
    _check(sd, level, power)
    if n < 2:
        return Undefined(reason=f"a difference needs at least 2 cases, here {n}")
    return (_t((1 + level) / 2, n - 1) + _t(power, n - 1)) * sd / sqrt(n)


def cases_needed(difference: float, sd: float, *, level: float = LEVEL, power: float = POWER) -> int:
    """Fewest cases with which a paired comparison finds a difference of this size.

    Args:
        difference: True mean difference, more than 0.
        sd: Standard deviation of the differences between paired values, 0 or more.
        level: 1 less the two-sided error rate, in (0, 1).
        power: Chance of finding it, in (0, 1).

    Returns:
        2 or more.

    Raises:
        DataError: A setting out of range.

    Source:
        `smallest_difference`, solved for n.
    """
    _check(sd, level, power)
    if not difference > 0 or not isfinite(difference):
        raise DataError(f"the difference must be more than 0, found {difference}")
    low, high = 1, 2
    while not _sees(high, sd, difference, level, power):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _sees(middle, sd, difference, level, power) else (middle, high)
    return high


def half_width(n: int, sd: float, *, level: float = LEVEL) -> float | Undefined:
    """Half the width of an interval for a mean.

    Args:
        n: Independent cases.
        sd: Standard deviation of the values, 0 or more.
        level: Coverage, in (0, 1).

    Returns:
        t(1-a/2) sd / sqrt(n) with n - 1 degrees of freedom, in the unit of `sd`; Undefined for fewer than 2 cases.

    Raises:
        DataError: A setting out of range.

    Source:
        Student (1908), Biometrika 6:1-25.
    """
    _check(sd, level, POWER)
    if n < 2:
        return Undefined(reason=f"an interval needs at least 2 cases, here {n}")
    return _t((1 + level) / 2, n - 1) * sd / sqrt(n)


def size_advice(
    counts: Mapping[str, int],
    *,
    low: float,
    high: float,
    sd: float | None = None,
    sd_difference: float | None = None,
    formal: bool = False,
) -> list[SizeAdvice]:
    """Say what the test set's size allows, in all and for each query type.

    Without a measured spread it assumes the widest possible one: half the range for one system, and two unrelated
    systems of that kind for the difference (range / sqrt 2). A paired comparison of similar systems sees less than
    that.

    Args:
        counts: Query type to number of cases.
        low: The metric's lowest value, finite.
        high: The metric's highest value, finite.
        sd: Measured standard deviation of one system's scores.
        sd_difference: Measured standard deviation of the differences between two systems.
        formal: Whether the result goes into a formal report (300 cases wanted instead of 100).

    Returns:
        The whole set first (scope `all`), then each type in its order.

    Raises:
        DataError: A range that is not finite or is empty.
    """
    if not (isfinite(low) and isfinite(high) and low < high):
        raise DataError(f"advice on size needs a finite range, found {low} to {high}")
    spread = (high - low) / 2 if sd is None else sd
    spread_of_difference = (high - low) / sqrt(2) if sd_difference is None else sd_difference
    wanted_in_all = LEAST_FOR_A_FORMAL_REPORT if formal else LEAST_IN_ALL
    rows = [("all", sum(counts.values()), wanted_in_all), *((name, n, LEAST_PER_TYPE) for name, n in counts.items())]
    return [
        SizeAdvice(
            scope=scope,
            n=n,
            wanted=wanted,
            enough=n >= wanted,
            smallest_difference=_or_none(smallest_difference(n, spread_of_difference)),
            half_width=_or_none(half_width(n, spread)),
        )
        for scope, n, wanted in rows
    ]


def _check(sd: float, level: float, power: float) -> None:
    check_share(level, "level")
    check_share(power, "power")
    if not (isfinite(sd) and sd >= 0):
        raise DataError(f"a standard deviation must be 0 or more and finite, found {sd}")


def _sees(n: int, sd: float, difference: float, level: float, power: float) -> bool:
    smallest = smallest_difference(n, sd, level=level, power=power)
    return not isinstance(smallest, Undefined) and smallest <= difference


def _t(share: float, freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, share))


def _or_none(value: float | Undefined) -> float | None:
    return None if isinstance(value, Undefined) else value
