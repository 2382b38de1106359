"""One row of a file before anybody knows what its columns mean."""

from typing import Any, NamedTuple


class Row(NamedTuple):
    """What a file reader hands on.

    Attributes:
        line: Physical line where the row starts, from 1; in files without lines, the row's number.
        values: Column name to value.
        text_cells: Whether every value is text because the format has no types (CSV).
    """

    line: int
    values: dict[str, Any]
    text_cells: bool = False
