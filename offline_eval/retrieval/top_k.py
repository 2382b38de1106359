"""The best k of many scores under the one tie rule, because libraries leave the order of equal scores to chance.

Scores are rounded first (`decimals`), so that the noise of 32-bit sums cannot decide between equal passages.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def top_positive(
    scores: NDArray[Any], id_ranks: NDArray[np.int64], *, k: int, decimals: int
) -> list[tuple[int, float]]:
    """Positions of the k highest scores above zero.

    Args:
        scores: Shape (n_passages,), one query's scores.
        id_ranks: Shape (n_passages,), each passage's place when ids are sorted ascending.
        k: At most this many, from 1.
        decimals: Scores equal after rounding to this many places are a tie.

    Returns:
        `(position, rounded score)`, by score descending, then id ascending; fewer than k where fewer score above zero.
    """
    least = 0.5 * 10.0**-decimals
    if k < scores.size:
        # Everything that could round to the k-th score stays in, so that a tie at the edge is decided by id.
        kth = float(np.partition(scores, scores.size - k)[scores.size - k])
        least = max(least, kth - 10.0**-decimals)
    positions = np.flatnonzero(scores >= least)
    rounded = np.round(scores[positions].astype(np.float64), decimals)
    order = np.lexsort((id_ranks[positions], -rounded))[:k]
    return list(zip(positions[order].tolist(), rounded[order].tolist(), strict=True))
