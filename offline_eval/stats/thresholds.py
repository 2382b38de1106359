"""Where to cut a probability into yes and no: chosen for a stated aim on one part, reported on another."""

from math import inf, nextafter
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.records import Record
from offline_eval.stats.arrays import Floats
from offline_eval.stats.splits import Labelled, refuse_overlap
from offline_eval.stats.undefined import Undefined


class Target(Record):
    """What a threshold is chosen for.

    Attributes:
        aim: `precision`: the most recall with at least this precision. `recall`: the most precision with at least this
            recall. `cost`: the least total cost.
        at_least: Wanted precision or recall, in (0, 1]; None for `cost`.
        false_positive: Cost of a wrong yes, 0 or more; read for `cost` only.
        false_negative: Cost of a wrong no, 0 or more; read for `cost` only.
    """

    aim: Literal["precision", "recall", "cost"]
    at_least: float | None = Field(default=None, gt=0, le=1)
    false_positive: float = Field(default=1.0, ge=0)
    false_negative: float = Field(default=1.0, ge=0)

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if (self.at_least is None) != (self.aim == "cost"):
            raise UsageError("`at_least` belongs to a precision or recall target and must be given there")
        return self


class Cut(Record):
    """What a threshold does to a set of items.

    Attributes:
        precision: None when nothing is above the threshold.
        recall: None when nothing is positive.
        cost: Mean cost an item.
    """

    n: int
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int
    precision: float | None
    recall: float | None
    cost: float


class Threshold(Record):
    """A threshold that knows what it was chosen on.

    Attributes:
        value: A probability of this or more is a yes; just above the highest one when "never yes" costs least.
        on_fit: What it does to the items it was chosen on, which flatters it.
        fitted_on: Ids of the fit part, sorted, each once.
    """

    value: float
    target: Target
    on_fit: Cut
    fitted_on: tuple[str, ...]

    def report(self, data: Labelled) -> Cut:
        """What the threshold does to other items.

        Raises:
            DataError: An id of the fit part stands in `data`.
        """
        refuse_overlap(self.fitted_on, data.ids)
        p, y = data.arrays()
        return _cut(p, y, self.value, self.target)


def choose_threshold(data: Labelled, *, target: Target) -> Threshold | Undefined:
    """Choose the threshold that serves the target best on the fit part.

    Args:
        data: The fit part.
        target: What to aim for.

    Returns:
        Among equally good thresholds the highest; Undefined without items, without positives (for precision and
        recall), or when no threshold reaches the wanted precision.

    Source:
        All distinct probabilities are tried; Elkan (2001), IJCAI, 973-978, for the cost.
    """
    p, y = data.arrays()
    if not p.size:
        return Undefined(reason="there are no items")
    if target.aim != "cost" and not y.any():
        return Undefined(reason="no item is positive")
    values, found, called = _candidates(p, y)
    best = _best(found, called, float(y.sum()), target)
    if best is None:
        return Undefined(reason=f"no threshold reaches {target.aim} {target.at_least}")
    value = float(values[best])
    return Threshold(
        value=value, target=target, on_fit=_cut(p, y, value, target), fitted_on=tuple(sorted(set(data.ids)))
    )


def _candidates(p: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Thresholds, highest first, with the positives found and the items called positive at each."""
    order = np.argsort(-p, kind="stable")
    falling, hits = p[order], np.cumsum(y[order])
    last = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))  # the last item of each distinct probability
    values = np.concatenate([[nextafter(float(falling[0]), inf)], falling[last]])
    return values, np.concatenate([[0.0], hits[last]]), np.concatenate([[0.0], last + 1.0])


def _best(found: Floats, called: Floats, positives: float, target: Target) -> int | None:
    if target.at_least is None:
        costs = (called - found) * target.false_positive + (positives - found) * target.false_negative
        return int(np.argmin(costs))
    # The first candidate calls nothing positive and has no precision.
    precision, recall = found[1:] / called[1:], found[1:] / positives
    wanted, other = (precision, recall) if target.aim == "precision" else (recall, precision)
    reached = np.flatnonzero(wanted >= target.at_least)
    if not reached.size:
        return None
    top = reached[other[reached] == other[reached].max()]
    return 1 + int(top[np.argmax(wanted[top])])


def _cut(p: Floats, y: Floats, value: float, target: Target) -> Cut:
    if not p.size:
        raise DataError("there are no items to report on")
    yes = p >= value
    tp, fp = int(y[yes].sum()), int((1 - y[yes]).sum())
    fn = int(y.sum()) - tp
    return Cut(
        n=p.size,
        true_positives=tp,
        false_positives=fp,
        false_negatives=fn,
        true_negatives=p.size - tp - fp - fn,
        precision=tp / (tp + fp) if tp + fp else None,
        recall=tp / (tp + fn) if tp + fn else None,
        cost=(fp * target.false_positive + fn * target.false_negative) / p.size,
    )
