"""Shares and areas over responses, resampled case by case: what several measures of an evaluation are made of."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from offline_eval.assess.evaluate_policies import Decisions
from offline_eval.assess.evaluate_records import EvaluatedItem
from offline_eval.stats.arrays import Floats
from offline_eval.stats.intervals import mean_interval
from offline_eval.stats.measured import Measured, measure, measured
from offline_eval.stats.selective import aurc
from offline_eval.stats.splits import Labelled
from offline_eval.stats.undefined import Undefined

T = TypeVar("T")


class Base:
    """The assertions whose rightness is known: what every curve is drawn over.

    Attributes:
        places: Their positions among the items.
        right: Shape (n,), 1 or 0.
        clusters: Case ids.
    """

    def __init__(self, items: Sequence[EvaluatedItem]) -> None:
        self.places = [i for i, item in enumerate(items) if item.truth.asserts and item.truth.right is not None]
        self.right: Floats = np.array([float(bool(items[i].truth.right)) for i in self.places])
        self.clusters = [items[i].case_id for i in self.places]

    def confidences(self, values: Sequence[float]) -> Floats:
        """The assertions' part of one value an item; shape (n,)."""
        return np.array([values[i] for i in self.places], dtype=np.float64)

    def labelled(self, way: Decisions) -> Labelled:
        """A policy's confidences with what was right."""
        return Labelled(
            ids=tuple(self.clusters),
            probabilities=tuple(self.confidences(way.confidences).tolist()),
            outcomes=tuple(int(y) for y in self.right),
        )


def share_of(pairs: Sequence[tuple[EvaluatedItem | str, T]], holds: Callable[[T], bool], *, seed: int) -> Measured:
    """The share of pairs for which something holds.

    Args:
        pairs: An item or its case id, with what is asked about.
        holds: The question.
        seed: Of the resampling, where a case has several responses.
    """
    if not pairs:
        return measured(Undefined(reason="no response is of this kind"), Undefined(reason="no values"), n=0)
    values = [float(holds(value)) for _, value in pairs]
    clusters = [owner if isinstance(owner, str) else owner.case_id for owner, _ in pairs]
    interval = mean_interval(values, low=0.0, high=1.0, clusters=clusters, seed=seed)
    return measured(float(np.mean(values)), interval, n=len(pairs))


def measure_area(base: Base, confidences: Sequence[float], *, seed: int, resamples: int) -> Measured:
    """The area under the risk-coverage curve with its interval."""
    arrays = [base.confidences(confidences), base.right]
    return measure(aurc, arrays, clusters=base.clusters, seed=seed, resamples=resamples)
