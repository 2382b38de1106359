"""Weights that combine several grades into a total close to a wanted one; never negative, summing to 1."""

import numpy as np

from offline_eval.core.errors import DataError
from offline_eval.stats.arrays import Floats
from offline_eval.stats.undefined import Undefined

_SUM_WEIGHT = 1e4  # how hard the sum is held at 1, against the data's own scale


def fit_weights(grades: Floats, totals: Floats) -> Floats | Undefined:
    """Least squares over the weights that are 0 or more and sum to 1.

    Args:
        grades: Shape (n, d), one column a dimension, all on the totals' scale.
        totals: Shape (n,), what the weighted mean should be.

    Returns:
        Shape (d,); Undefined with fewer rows than columns, and when columns move together exactly, since many weights
        then fit alike.

    Raises:
        DataError: Shapes that do not fit or values that are not finite.

    Source:
        Lawson & Hanson (1995), Solving Least Squares Problems, ch. 23: non-negative least squares, with the sum as a
        heavily weighted equation.
    """
    from scipy.optimize import nnls

    if grades.ndim != 2 or totals.shape != grades.shape[:1]:
        raise DataError(f"grades of shape {grades.shape} and totals of shape {totals.shape} do not fit together")
    if not (np.isfinite(grades).all() and np.isfinite(totals).all()):
        raise DataError("grades and totals must be finite; leave out what was not scored")
    n, d = grades.shape
    if n < d:
        return Undefined(reason=f"needs at least {d} rows, here {n}")
    # On the simplex only differences between columns matter.
    if d > 1 and np.linalg.matrix_rank(grades[:, 1:] - grades[:, :1]) < d - 1:
        return Undefined(reason="the dimensions move together exactly, so that many weights fit alike")
    heavy = _SUM_WEIGHT * max(1.0, float(np.abs(grades).max())) * np.sqrt(n)
    found, _ = nnls(np.vstack([grades, np.full((1, d), heavy)]), np.append(totals, heavy))
    return np.asarray(found / found.sum(), dtype=np.float64)
