"""Several people on the same items: their majority and how well they agree, the ceiling no judge need pass."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.records import Record
from offline_eval.stats.agreement import Labels
from offline_eval.stats.arrays import Floats
from offline_eval.stats.undefined import Undefined

Coefficient = Callable[[Labels, Labels], float | Undefined]


class Majority(Record):
    """What most raters said about one item.

    Attributes:
        label: None for a tie; then `tied` names the labels.
        tied: The labels with the most votes, sorted; one label when there is a majority.
        votes: Votes for the most frequent label, 1 or more.
        n: Raters, 1 or more.
    """

    label: str | None
    tied: tuple[str, ...]
    votes: int
    n: int


def majority(labels: Sequence[str]) -> Majority | Undefined:
    """The label most raters gave.

    Args:
        labels: One a rater.

    Returns:
        The most frequent label (a plurality is enough), or all of them when they tie; Undefined without labels.
    """
    if not labels:
        return Undefined(reason="nobody labelled this item")
    counts = Counter(labels)
    votes = max(counts.values())
    tied = tuple(sorted(label for label, count in counts.items() if count == votes))
    return Majority(label=tied[0] if len(tied) == 1 else None, tied=tied, votes=votes, n=len(labels))


def pairwise_ceiling(ratings: Floats, coefficient: Coefficient) -> float | Undefined:
    """Mean over all pairs of raters of a coefficient on the items both labelled.

    Args:
        ratings: Shape (n_items, n_raters), numbers, NaN where a rater gave no label (`alpha.ratings_table`).
        coefficient: Of two columns of labels, for example `agreement.cohen_kappa`.

    Returns:
        In the coefficient's range, each pair weighing the same; Undefined when no pair shares an item, or when the
        coefficient is undefined for a pair that does (the first is named).

    Source:
        Mean pairwise kappa: Light (1971), Psychol. Bull. 76:365-377.
    """
    values = []
    for i, j in combinations(range(ratings.shape[1]), 2):
        both = ~np.isnan(ratings[:, i]) & ~np.isnan(ratings[:, j])
        if not both.any():
            continue
        value = coefficient(ratings[both, i], ratings[both, j])
        if isinstance(value, Undefined):
            return Undefined(reason=f"raters {i + 1} and {j + 1}: {value.reason}")
        values.append(value)
    return sum(values) / len(values) if values else Undefined(reason="no two raters labelled the same item")


def leave_one_out_ceiling(ratings: Floats, coefficient: Coefficient) -> float | Undefined:
    """Mean over raters of a coefficient between each one and the majority of the others.

    Args:
        ratings: Shape (n_items, n_raters), numbers, NaN where a rater gave no label.
        coefficient: Of two columns of labels, for example `agreement.accuracy`.

    Returns:
        In the coefficient's range, each rater weighing the same; items on which the others tie are left out for that
        rater. Undefined with fewer than two raters on every item, or when the coefficient is undefined for a rater (the
        first is named).

    Source:
        The bar a judge is compared with when it is itself scored against the majority of people.
    """
    values = []
    for i in range(ratings.shape[1]):
        others = row_majority(np.delete(ratings, i, axis=1))
        both = ~np.isnan(ratings[:, i]) & ~np.isnan(others)
        if not both.any():
            continue
        value = coefficient(ratings[both, i], others[both])
        if isinstance(value, Undefined):
            return Undefined(reason=f"rater {i + 1} against the others: {value.reason}")
        values.append(value)
    return sum(values) / len(values) if values else Undefined(reason="no item was labelled by two raters")


def row_majority(ratings: Floats) -> Floats:
    """The most frequent label of each row.

    Args:
        ratings: Shape (n_items, n_raters), NaN where a rater gave no label.

    Returns:
        Shape (n_items,); NaN where nobody labelled the item or the leading labels tie.
    """
    grades = np.unique(ratings[~np.isnan(ratings)])
    if not grades.size:
        return np.full(ratings.shape[0], np.nan)
    counts: NDArray[np.int64] = np.stack([(ratings == grade).sum(axis=1) for grade in grades], axis=1)
    top = counts.max(axis=1)
    clear = (top > 0) & ((counts == top[:, None]).sum(axis=1) == 1)
    return np.where(clear, grades[counts.argmax(axis=1)], np.nan)
