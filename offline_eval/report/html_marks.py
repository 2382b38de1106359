"""A text and what points into it → pieces in reading order, each with the marks that cover it.

Why pieces: marks overlap (a quote inside a sentence that supports two claims), and markup cannot.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from offline_eval.core.response_detail import Mark

LONGEST_TEXT = 20_000
"""Characters of one text that a report shows; what is left out is counted in its place."""


class Piece(NamedTuple):
    """A stretch of a text under the same marks.

    Attributes:
        ending: The marks that end with this piece; their labels are written after it.
    """

    text: str
    marks: tuple[Mark, ...]
    ending: tuple[Mark, ...]


def pieces(text: str, marks: Sequence[Mark]) -> list[Piece]:
    """Cut a text at its marks.

    Args:
        marks: In any order; empty ones and those beyond the text are left out, longer ones end with it.

    Returns:
        Pieces that make up the text when put together.
    """
    if not marks:
        return [Piece(text, (), ())] if text else []
    inside = [_within(mark, len(text)) for mark in marks if mark.start < min(mark.end, len(text))]
    opening = sorted(inside, key=lambda mark: mark.start)
    cuts = sorted({0, len(text), *(mark.start for mark in inside), *(mark.end for mark in inside)})
    found: list[Piece] = []
    active: list[Mark] = []
    coming = 0
    for start, end in pairwise(cuts):
        while coming < len(opening) and opening[coming].start == start:
            active.append(opening[coming])
            coming += 1
        ending = tuple(mark for mark in active if mark.end == end)
        found.append(Piece(text[start:end], tuple(active), ending))
        active = [mark for mark in active if mark.end > end]
    return found


def cut(text: str, limit: int = LONGEST_TEXT) -> tuple[str, int]:
    """The text's beginning and how many characters were left out."""
    return (text, 0) if len(text) <= limit else (text[:limit], len(text) - limit)


def _within(mark: Mark, length: int) -> Mark:
    return mark if mark.end <= length else mark._replace(end=length)
