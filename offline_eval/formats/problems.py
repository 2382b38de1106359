"""Collects everything that is wrong with a file, so that it is mended in one go instead of one error at a time.

All of it is shown. What keeps a file in another format from filling the terminal is that a problem of every row is said
once; what keeps a hundred thousand bad rows small is that rows with the same problem share its text.
"""

from collections import Counter
from collections.abc import Sequence

from offline_eval.core.errors import DataError

_ENOUGH_TO_GROUP = 10


class Problems:
    """What was found in one file.

    Args:
        name: The file as people know it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows = 0
        self._found: list[tuple[int | None, str]] = []
        self._texts: dict[str, str] = {}

    def add(self, line: int | None, text: str) -> None:
        """Note one problem.

        Args:
            line: Where, from 1; None for the file as a whole.
            text: What is wrong and what is expected.
        """
        self._found.append((line, self._texts.setdefault(text, text)))

    def __bool__(self) -> bool:
        return bool(self._found)

    def lines(self) -> list[str]:
        """One line a problem; a problem that every row has is said once, before the others."""
        shared = self._of_every_row()
        grouped = [
            f"{self.name}:{lines[0]}-{lines[-1]}: in each of {self.rows:,} rows: {text}"
            for text, lines in shared.items()
        ]
        return grouped + [
            f"{self.name}: {text}" if line is None else f"{self.name}:{line}: {text}"
            for line, text in self._found
            if text not in shared
        ]

    def _of_every_row(self) -> dict[str, list[int]]:
        """The problems that each of many rows has, with their lines; none beside lines that are no rows."""
        if self.rows < _ENOUGH_TO_GROUP or len({line for line, _ in self._found}) != self.rows:
            return {}
        counts = Counter(text for _, text in self._found)
        lines: dict[str, dict[int, None]] = {text: {} for text, count in counts.items() if count >= self.rows}
        for line, text in self._found:
            if line is not None and text in lines:
                lines[text][line] = None
        return {text: list(found) for text, found in lines.items() if len(found) == self.rows}


def refuse(files: Sequence[Problems]) -> None:
    """Raise when any file has a problem or no rows.

    Raises:
        DataError: With all problems of all files.
    """
    for problems in files:
        if not problems and not problems.rows:
            problems.add(None, "no rows; expected at least one")
    found = [line for problems in files for line in problems.lines()]
    if found:
        raise DataError(found)
