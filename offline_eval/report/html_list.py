"""Every response → the rows of the list that a report's script pages through, and the details it opens.

Details are drawn here, by the same template as the worst cases, and carried compressed in blocks that the script
unpacks when one is opened: thousands of cases stay a small file, and there is one way to draw a case, with everything
escaped.
"""

import base64
import json
import zlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from offline_eval.core.response_detail import ResponseDetail
from offline_eval.report.html_case import fault_text, short
from offline_eval.report.html_marks import cut
from offline_eval.report.html_texts import Words
from offline_eval.report.visible import visible

BLOCK = 50
"""Responses whose details are packed together."""

MOST_BYTES = 12_000_000
"""Of all packed details; together with the rest a report stays below 15 MB."""

_QUERY, _ANSWER, _NAME = 300, 120, 90  # characters of each that a row holds, and that the search sees
_COMPRESSION = 6


class ResponseList(NamedTuple):
    """What the script needs.

    Attributes:
        rows: JSON.
        blocks: Base64 of deflated JSON lists of HTML.
        left_out: Responses without details, since the file would have become too large.
        filters: Name of a filter to its choices.
    """

    rows: str
    blocks: list[str]
    left_out: int
    filters: dict[str, list[str]]


def response_list(
    details: Iterable[ResponseDetail], t: Words, *, draw: Callable[[ResponseDetail], str], most_bytes: int = MOST_BYTES
) -> ResponseList:
    """Draw and pack every response.

    Args:
        details: In the order of the list; taken one at a time.
        draw: Detail to HTML, everything escaped.
        most_bytes: Of all blocks together; the details that come after are left out and counted.
    """
    packer = _Packer(most_bytes)
    choices = _Choices()
    rows = []
    for detail in details:
        place = packer.add(draw(detail)) if packer.has_room else None
        rows.append(_row(detail, t, choices, place))
    blocks = packer.finish()
    packed = len(blocks) * BLOCK
    for row in rows:
        if row[-1] is not None and row[-1] >= packed:
            row[-1] = None
    left_out = sum(row[-1] is None for row in rows)
    return ResponseList(_json(rows), blocks, left_out, choices.lists)


class _Packer:
    """Collects pieces of HTML into compressed blocks, until there is no room."""

    def __init__(self, most_bytes: int) -> None:
        self._room = most_bytes
        self._waiting: list[str] = []
        self._blocks: list[str] = []
        self._added = 0
        self.has_room = True

    def add(self, html: str) -> int:
        """The piece's number."""
        self._waiting.append(html)
        self._added += 1
        if len(self._waiting) == BLOCK:
            self._pack()
        return self._added - 1

    def finish(self) -> list[str]:
        if self._waiting:
            self._pack()
        return self._blocks

    def _pack(self) -> None:
        data = zlib.compress(json.dumps(self._waiting, ensure_ascii=False).encode(), _COMPRESSION)
        block = base64.b64encode(data).decode("ascii")
        self._waiting = []
        self._room -= len(block)
        self.has_room = self._room > 0
        if self.has_room:
            self._blocks.append(block)


class _Choices:
    """Gives every value of a filter a number, so that a row holds a number instead of a text."""

    def __init__(self) -> None:
        self.lists: dict[str, list[str]] = {"system": [], "type": [], "language": [], "tag": [], "fault": []}
        self._numbers: dict[tuple[str, str], int] = {}

    def number(self, name: str, value: str) -> int:
        key = (name, value)
        if key not in self._numbers:
            self._numbers[key] = len(self.lists[name])
            self.lists[name].append(short(value, _NAME))
        return self._numbers[key]


def _row(detail: ResponseDetail, t: Words, choices: _Choices, place: int | None) -> list[Any]:
    """Key, question, answer's beginning, value, grades, filters' numbers, review, place; the script knows the order."""
    view, fault = detail.view, fault_text(detail, t)
    grades = " · ".join(f"{t.named('dimensions', name)} {grade:.3g}" for name, grade in view.grades.items())
    return [
        visible(short(view.response_key, _NAME)),
        visible(_beginning(view.query, _QUERY)),
        visible(_beginning(view.answer, _ANSWER)),
        view.total,
        grades,
        choices.number("system", view.system),
        choices.number("type", view.query_type),
        choices.number("language", view.language),
        [choices.number("tag", tag) for tag in detail.tags],
        choices.number("fault", fault) if fault else None,
        int(bool(view.review_reasons)),
        place,
    ]


def _beginning(text: str, limit: int) -> str:
    shown, left = cut(text, limit)
    return " ".join(shown.split()) + "…" * bool(left)


def _json(rows: list[list[Any]]) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
