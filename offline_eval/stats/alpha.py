"""Krippendorff's alpha, the one coefficient for any number of raters, any scale and missing labels."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from offline_eval.core.errors import DataError, UsageError
from offline_eval.stats.arrays import Floats, Ints
from offline_eval.stats.undefined import Undefined

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def ratings_table(
    items: Sequence[Mapping[str, str | float]], *, scale: Sequence[str] | None = None
) -> tuple[list[str], Floats]:
    """Lay out labels given by named raters as a table of numbers.

    Args:
        items: One mapping an item, rater to label; a rater who did not label it is left out.
        scale: Text labels from lowest to highest; None for numbers, or for text whose order does not matter.

    Returns:
        The raters, sorted, and an array of shape (n_items, n_raters), NaN where there is no label. Text becomes its
        place on the scale, from 0.

    Raises:
        DataError: A label outside the scale, text mixed with numbers, or a number that is not finite.
    """
    raters = sorted({rater for item in items for rater in item})
    labels = {label for item in items for label in item.values()}
    texts = sorted(label for label in labels if isinstance(label, str))
    if texts and len(texts) < len(labels):
        raise DataError(f"labels mix text and numbers, for example {texts[0]!r}; use one kind")
    order = list(scale) if scale is not None else texts
    unknown = [text for text in texts if text not in order]
    if unknown:
        raise DataError(f"labels outside the scale {order}: {unknown}")
    place = {text: float(index) for index, text in enumerate(order)}
    table = np.full((len(items), len(raters)), np.nan)
    column = {rater: index for index, rater in enumerate(raters)}
    for row, item in enumerate(items):
        for rater, label in item.items():
            table[row, column[rater]] = place[label] if isinstance(label, str) else label
    if np.isinf(table).any() or np.isnan(table).sum() != table.size - sum(len(item) for item in items):
        raise DataError("a label is not a finite number; leave out what was not labelled")
    return raters, table


def krippendorff_alpha(ratings: Floats, *, level: Level) -> float | Undefined:
    """Krippendorff's alpha: 1 less observed over expected disagreement.

    Args:
        ratings: Shape (n_items, n_raters), numbers; NaN where a rater gave no label. Items with fewer than two labels
            are left out, as the definition has it.
        level: `nominal` (equal or not), `ordinal` (distance in ranks) or `interval` (squared difference).

    Returns:
        At most 1; 0 for chance, below 0 for systematic disagreement. Undefined when no item has two labels or all
        labels that count are the same.

    Raises:
        DataError: Not a table of numbers.
        UsageError: Unknown level.

    Source:
        Krippendorff (2019), Content Analysis, 4th ed., ch. 12. The ordinal distance there, the labels between two
        grades plus half of both, is the difference of their mid-ranks, so ordinal alpha is interval alpha of the
        mid-ranks.
    """
    if level not in LEVELS:
        raise UsageError(f"level must be one of {', '.join(LEVELS)}, found {level!r}")
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise DataError("ratings must be a table of finite numbers, one row an item and one column a rater")
    per_item = np.sum(~np.isnan(table), axis=1)
    table, per_item = table[per_item >= 2], per_item[per_item >= 2]
    if not per_item.size:
        return Undefined(reason="no item was labelled by two raters")
    present = ~np.isnan(table)
    grades, codes, counts = np.unique(table[present], return_inverse=True, return_counts=True)
    if grades.size < 2:
        return Undefined(reason="all labels are the same, so chance already explains the agreement")
    rows = np.nonzero(present)[0]
    if level == "nominal":
        return _nominal(rows, codes, counts, per_item)
    if level == "ordinal":
        grades = np.cumsum(counts) - (counts - 1) / 2
    return _interval(rows, grades[codes], per_item)


def _nominal(
    rows: Ints,
    codes: Ints,
    counts: Ints,
    per_item: Ints,
) -> float:
    n, k = float(codes.size), counts.size
    # Ordered pairs of equal labels within an item: sum of squared counts; only the (item, grade) pairs that occur are
    # held.
    pairs, times = np.unique(rows * k + codes, return_counts=True)
    equal = np.bincount(pairs // k, weights=times.astype(np.float64) ** 2, minlength=per_item.size)
    observed = float(np.sum((per_item.astype(np.float64) ** 2 - equal) / (per_item - 1)))
    expected = (n * n - float(np.sum(counts.astype(np.float64) ** 2))) / (n - 1)
    return 1.0 - observed / expected


def _interval(
    rows: Ints,
    values: Floats,
    per_item: Ints,
) -> float:
    # The sum of squared differences over ordered pairs is 2 m times the sum of squared deviations from the mean.
    n, m = values.size, per_item.astype(np.float64)
    item_means = np.bincount(rows, weights=values, minlength=m.size) / m
    within = np.bincount(rows, weights=(values - item_means[rows]) ** 2, minlength=m.size)
    observed = float(np.sum(2 * m * within / (m - 1)))
    expected = 2 * n * float(np.sum((values - values.mean()) ** 2)) / (n - 1)
    return 1.0 - observed / expected
