"""How well a score tells two kinds apart, whatever threshold is chosen later."""

from collections.abc import Sequence

import numpy as np

from offline_eval.stats.arrays import Floats, check_equal_lengths, finite
from offline_eval.stats.undefined import Undefined


def auroc(scores: Sequence[float] | Floats, labels: Sequence[float] | Floats) -> float | Undefined:
    """Area under the ROC curve: the chance that a positive item scores above a negative one, ties counting half.

    Args:
        scores: Shape (n,), finite, higher for the positive kind.
        labels: Shape (n,), 0 or 1.

    Returns:
        In [0, 1]; Undefined unless both labels occur.

    Raises:
        DataError: Columns of different length or values that are not finite.

    Source:
        Hanley & McNeil (1982), Radiology 143:29-36, by Mann-Whitney mid-ranks.
    """
    x, y = finite(scores, "scores"), finite(labels, "labels")
    check_equal_lengths({"scores": x.size, "labels": y.size})
    positives = float(y.sum())
    negatives = y.size - positives
    if not positives or not negatives:
        return Undefined(reason="only one label occurs")
    _, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return float((ranks[y == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives))
