"""Turns sequences into checked arrays, so that every formula starts from finite numbers of equal length."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Clusters = Sequence[str | int] | NDArray[Any]
"""Names of what is drawn together, shape (n,): text, whole numbers or both, in a list or an array."""

_FEW_GAPS = 16  # numbers up to this many times as large as there are numbers are counted, others sorted


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


def numbered(clusters: Clusters) -> Ints:
    """Number clusters from 0 in the order of their names.

    Args:
        clusters: Shape (n,). Names of one kind keep their own order; where text and numbers are mixed, a number is the
            same name as its digits, as ids are that are read from files.

    Returns:
        Shape (n,); every number from 0 to the highest occurs.

    Raises:
        DataError: Not one-dimensional, or a name that is neither text nor a whole number; its place is named.
    """
    if isinstance(clusters, np.ndarray) and clusters.ndim != 1:
        raise DataError(f"clusters: expected a plain list of names, found {clusters.ndim} dimensions")
    if isinstance(clusters, np.ndarray) and np.issubdtype(clusters.dtype, np.integer):
        return _numbered_places(clusters)
    names: list[str | int] = clusters.tolist() if isinstance(clusters, np.ndarray) else list(clusters)
    are_text = {isinstance(name, str) for name in names}
    if are_text != {True}:
        odd = next((place for place, name in enumerate(names) if not _is_name(name)), None)
        if odd is not None:
            raise DataError(f"clusters: expected text or whole numbers, found {names[odd]!r} at place {odd}")
    if len(are_text) > 1:
        names = [str(name) for name in names]
    code = {name: place for place, name in enumerate(sorted(set(names)))}
    return np.array([code[name] for name in names], dtype=np.int64)


def _numbered_places(places: NDArray[Any]) -> Ints:
    close = bool(places.size) and places.min() >= 0 and places.max() < _FEW_GAPS * places.size
    if not close:
        return np.unique(places, return_inverse=True)[1].astype(np.int64)
    there = np.bincount(places.astype(np.int64)) > 0  # half the time of sorting
    numbers: Ints = (np.cumsum(there) - 1)[places]
    return numbers


def _is_name(value: object) -> bool:
    return isinstance(value, str | int | np.integer) and not isinstance(value, bool)


def _first_odd(values: Sequence[float] | Floats) -> str:
    return next((f"{value!r} at place {i}" for i, value in enumerate(values) if not _is_number(value)), "a ragged list")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number)
