"""Collects everything that is wrong with a file, so that it is mended in one go instead of one error at a time."""

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

    def add(self, line: int | None, text: str) -> None:
        """Note one problem.

        Args:
            line: Where, from 1; None for the file as a whole.
            text: What is wrong and what is expected.
        """
        self._found.append((line, text))

    def __bool__(self) -> bool:
        return bool(self._found)

    def lines(self) -> list[str]:
        """One line a problem; a problem that every row has is said once."""
        texts = {text for _, text in self._found}
        if len(texts) == 1 and len(self._found) == self.rows >= _ENOUGH_TO_GROUP:
            first, last = self._found[0][0], self._found[-1][0]
            return [f"{self.name}:{first}-{last}: in each of {self.rows:,} rows: {texts.pop()}"]
        return [f"{self.name}: {text}" if line is None else f"{self.name}:{line}: {text}" for line, text in self._found]


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
