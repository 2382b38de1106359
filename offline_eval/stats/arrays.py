"""Turns sequences into checked arrays, so that every formula starts from finite numbers of equal length."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def finite(values: Sequence[float] | Floats, what: str) -> Floats:
    """Read a sequence of numbers.

    Returns:
        Array of shape (n,).

    Raises:
        DataError: Not one-dimensional, not numbers, or not finite; the first offending place is named.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what}: expected numbers, found {_first_odd(values)}") from None
    if array.ndim != 1:
        raise DataError(f"{what}: expected a plain list of numbers, found {array.ndim} dimensions")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise DataError(f"{what}: value {bad[0]} is {array[bad[0]]}; leave out what was not scored")
    return array


def check_equal_lengths(lengths: Mapping[str, int]) -> None:
    """Refuse columns that do not belong together.

    Raises:
        DataError: Two of the named lengths differ.
    """
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise DataError(f"columns must be equally long: {found}")


def check_share(value: float, what: str) -> None:
    """Refuse anything outside the open interval (0, 1).

    Raises:
        DataError: `value` is 0 or less, 1 or more, or not a number.
    """
    if not 0 < value < 1:
        raise DataError(f"{what} must lie between 0 and 1 (both excluded), found {value}")


def encode(*columns: Sequence[str]) -> tuple[list[str], tuple[Ints, ...]]:
    """Number the labels of several columns by one shared, sorted list.

    Returns:
        The distinct labels, sorted, and one array of codes a column.
    """
    names = sorted({label for column in columns for label in column})
    code = {name: index for index, name in enumerate(names)}
    return names, tuple(np.array([code[label] for label in column], dtype=np.int64) for column in columns)


def _first_odd(values: Sequence[float] | Floats) -> str:
    return next((f"{value!r} at place {i}" for i, value in enumerate(values) if not _is_number(value)), "a ragged list")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number)
