"""Agreement between two columns of labels, a judge's and a person's, because a raw share hides chance and class
balance.

Labels are text or numbers, one kind a column; rows without a label are left out beforehand. Every coefficient can be
given to `measured.measure` for its interval; number the labels first (`arrays.encode`) when speed matters.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.errors import DataError, UsageError
from offline_eval.stats.arrays import Floats, check_equal_lengths
from offline_eval.stats.undefined import Undefined

Labels = Sequence[str] | Sequence[int] | Sequence[float] | NDArray[Any]
Label = str | int | float


def accuracy(predicted: Labels, actual: Labels) -> float | Undefined:
    """Share of items on which both columns have the same label.

    Args:
        predicted: Shape (n,), the judge's labels.
        actual: Shape (n,), the person's labels.

    Returns:
        In [0, 1]; symmetric; Undefined without items.

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        Also called observed agreement.
    """
    _, table = _table(predicted, actual)
    return _ratio(float(np.trace(table)), float(table.sum()), "there are no items")


def balanced_accuracy(predicted: Labels, actual: Labels) -> float | Undefined:
    """Mean over the person's classes of the share the judge got right.

    Args:
        predicted: Shape (n,), the judge's labels.
        actual: Shape (n,), the person's labels.

    Returns:
        In [0, 1], 1 / number of classes for a constant judge; Undefined with fewer than two classes in `actual`.

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        Brodersen et al. (2010), ICPR, 3121-3124.
    """
    _, table = _table(predicted, actual)
    per_class = table.sum(axis=0)
    used = per_class > 0
    if used.sum() < 2:
        return Undefined(reason=f"needs two classes in the actual labels, here {int(used.sum())}")
    return float(np.mean(np.diag(table)[used] / per_class[used]))


def precision(predicted: Labels, actual: Labels, *, positive: Label) -> float | Undefined:
    """Share of the judge's positives that are positive.

    Args:
        predicted: Shape (n,), the judge's labels.
        actual: Shape (n,), the person's labels.
        positive: The label that counts as positive; every other label is negative.

    Returns:
        TP / (TP + FP) in [0, 1]; Undefined when the judge calls nothing positive.

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        Van Rijsbergen (1979), Information Retrieval, ch. 7.
    """
    tp, fp, _, _ = _binary(predicted, actual, positive)
    return _ratio(tp, tp + fp, f"nothing was predicted {positive!r}")


def sensitivity(predicted: Labels, actual: Labels, *, positive: Label) -> float | Undefined:
    """Share of the person's positives that the judge found; also called recall.

    Args:
        predicted: Shape (n,), the judge's labels.
        actual: Shape (n,), the person's labels.
        positive: The label that counts as positive; every other label is negative.

    Returns:
        TP / (TP + FN) in [0, 1]; Undefined when nothing is positive.

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        Van Rijsbergen (1979), Information Retrieval, ch. 7.
    """
    tp, _, fn, _ = _binary(predicted, actual, positive)
    return _ratio(tp, tp + fn, f"nothing is {positive!r}")


recall = sensitivity


def specificity(predicted: Labels, actual: Labels, *, positive: Label) -> float | Undefined:
    """Share of the person's negatives that the judge left negative.

    Args:
        predicted: Shape (n,), the judge's labels.
        actual: Shape (n,), the person's labels.
        positive: The label that counts as positive; every other label is negative.

    Returns:
        TN / (TN + FP) in [0, 1]; Undefined when everything is positive.

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        Yerushalmy (1947), Public Health Reports 62:1432-1449.
    """
    _, fp, _, tn = _binary(predicted, actual, positive)
    return _ratio(tn, tn + fp, f"everything is {positive!r}")


def false_support_rate(predicted: Labels, actual: Labels, *, positive: Label) -> float | Undefined:
    """Among what a person calls not supported, the share the judge calls supported: 1 - specificity.

    Args:
        predicted: Shape (n,), the judge's labels.
        actual: Shape (n,), the person's labels.
        positive: The label for "supported"; every other label is not.

    Returns:
        FP / (FP + TN) in [0, 1]; above .2 a judge is not fit for use. Undefined when everything is supported.

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        The false positive rate under the name of what it does here.
    """
    _, fp, _, tn = _binary(predicted, actual, positive)
    return _ratio(fp, tn + fp, f"everything is {positive!r}")


def f1(predicted: Labels, actual: Labels, *, positive: Label) -> float | Undefined:
    """Harmonic mean of precision and recall.

    Args:
        predicted: Shape (n,), the judge's labels.
        actual: Shape (n,), the person's labels.
        positive: The label that counts as positive; every other label is negative.

    Returns:
        2 TP / (2 TP + FP + FN) in [0, 1]; symmetric; Undefined when neither column has a positive.

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        Van Rijsbergen (1979), Information Retrieval, ch. 7.
    """
    tp, fp, fn, _ = _binary(predicted, actual, positive)
    return _ratio(2 * tp, 2 * tp + fp + fn, f"{positive!r} stands in neither column")


def macro_precision(predicted: Labels, actual: Labels) -> float | Undefined:
    """Mean precision over all classes of both columns.

    Args:
        predicted: Shape (n,), the judge's labels.
        actual: Shape (n,), the person's labels.

    Returns:
        In [0, 1]; Undefined without items, or when a class was never predicted (it is named).

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        Sokolova & Lapalme (2009), Inf. Process. Manag. 45:427-437.
    """
    classes, table = _table(predicted, actual)
    return _mean_share(classes, np.diag(table), table.sum(axis=1), "was never predicted")


def macro_recall(predicted: Labels, actual: Labels) -> float | Undefined:
    """Mean recall over all classes of both columns; the same as balanced accuracy when no class is missing.

    Args:
        predicted: Shape (n,), the judge's labels.
        actual: Shape (n,), the person's labels.

    Returns:
        In [0, 1]; Undefined without items, or when a predicted class never occurs (it is named).

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        Sokolova & Lapalme (2009), Inf. Process. Manag. 45:427-437.
    """
    classes, table = _table(predicted, actual)
    return _mean_share(classes, np.diag(table), table.sum(axis=0), "never occurs")


def macro_f1(predicted: Labels, actual: Labels) -> float | Undefined:
    """Mean F1 over all classes of both columns.

    Args:
        predicted: Shape (n,), the judge's labels.
        actual: Shape (n,), the person's labels.

    Returns:
        In [0, 1]; symmetric; Undefined without items. (The mean of F1 values, not F1 of the mean precision and recall.)

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        Opitz & Burst (2019), arXiv:1911.03347, "averaged F1".
    """
    classes, table = _table(predicted, actual)
    return _mean_share(classes, 2 * np.diag(table), table.sum(axis=0) + table.sum(axis=1), "stands in neither column")


def cohen_kappa(first: Labels, second: Labels) -> float | Undefined:
    """Cohen's kappa: agreement beyond what the two columns' own label shares give by chance.

    Args:
        first: Shape (n,), one rater's labels.
        second: Shape (n,), the other's.

    Returns:
        In [-1, 1]; 1 for identical columns, 0 for chance; symmetric. Undefined without items and when both columns hold
        one and the same label, where chance already explains everything.

    Raises:
        DataError: Columns of different length, missing or mixed labels.

    Source:
        Cohen (1960), Educ. Psychol. Meas. 20:37-46.
    """
    classes, table = _table(first, second)
    return _kappa(table, 1.0 - np.eye(len(classes)))


def weighted_kappa(first: Labels, second: Labels, *, weights: Literal["linear", "quadratic"]) -> float | Undefined:
    """Cohen's kappa where a disagreement counts by its distance on the scale.

    Args:
        first: Shape (n,), one rater's grades, numbers.
        second: Shape (n,), the other's.
        weights: Distance |a - b| or its square, between the grades' values (so a grade nobody gave still keeps its
            place).

    Returns:
        In [-1, 1]; symmetric. Undefined without items and when both columns hold one and the same grade.

    Raises:
        DataError: Columns of different length, or grades that are not finite numbers.
        UsageError: Unknown weights.

    Source:
        Cohen (1968), Psychol. Bull. 70:213-220.
    """
    if weights not in ("linear", "quadratic"):
        raise UsageError(f"weights must be 'linear' or 'quadratic', found {weights!r}")
    classes, table = _table(first, second)
    if classes.size and classes.dtype.kind not in "iufb":
        raise DataError("weighted kappa needs grades as numbers; give the labels their places on the scale first")
    values = classes.astype(np.float64)
    distance = np.abs(values[:, None] - values[None, :])
    return _kappa(table, distance if weights == "linear" else distance**2)


def _kappa(table: Floats, distance: Floats) -> float | Undefined:
    n = table.sum()
    if n == 0:
        return Undefined(reason="there are no items")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    by_chance = float(np.sum(distance * expected))
    if by_chance == 0:
        return Undefined(reason="both columns hold one and the same label, so agreement by chance is complete")
    return 1.0 - float(np.sum(distance * table)) / by_chance


def _table(rows: Labels, columns: Labels) -> tuple[NDArray[Any], Floats]:
    """The distinct labels, sorted, and how often each pair occurs, shape (k, k)."""
    a, b = _column(rows, "first"), _column(columns, "second")
    check_equal_lengths({"the first column": a.size, "the second column": b.size})
    if a.size and (a.dtype.kind in "US") != (b.dtype.kind in "US"):
        raise DataError("one column holds text and the other numbers; use the same labels in both")
    classes, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    k = classes.size
    pairs = codes[: a.size] * k + codes[a.size :]
    return classes, np.bincount(pairs, minlength=k * k).reshape(k, k).astype(np.float64)


def _column(labels: Labels, which: str) -> NDArray[Any]:
    column = np.asarray(labels)
    if column.ndim != 1 or column.dtype.kind not in "USiufb":
        raise DataError(f"the {which} column must be a plain list of texts or of numbers, with none missing")
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        raise DataError(f"the {which} column holds a number that is not finite; leave out rows without a label")
    return column


def _binary(predicted: Labels, actual: Labels, positive: Label) -> tuple[float, float, float, float]:
    """True positives, false positives, false negatives, true negatives."""
    classes, table = _table(predicted, actual)
    is_positive = classes == positive
    tp = float(table[is_positive][:, is_positive].sum())
    fp = float(table[is_positive].sum()) - tp
    fn = float(table[:, is_positive].sum()) - tp
    return tp, fp, fn, float(table.sum()) - tp - fp - fn


def _ratio(part: float, whole: float, reason: str) -> float | Undefined:
    return part / whole if whole else Undefined(reason=reason)


def _mean_share(classes: NDArray[Any], part: Floats, whole: Floats, missing: str) -> float | Undefined:
    if classes.size == 0:
        return Undefined(reason="there are no items")
    empty = np.flatnonzero(whole == 0)
    if empty.size:
        return Undefined(reason=f"{classes[empty[0]]!s} {missing}")
    return float(np.mean(part / whole))
