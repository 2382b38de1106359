"""CSV as people save it: UTF-8 with or without a byte order mark, GB18030, UTF-16; comma, semicolon or tab."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from offline_eval.formats.encoding import chinese_text
from offline_eval.formats.json_text import UTF8_BOM
from offline_eval.formats.problems import Problems
from offline_eval.formats.row import Row
from offline_eval.formats.wording import quoted

DELIMITERS = (",", ";", "\t")


def rows(stream: BinaryIO, problems: Problems) -> Iterator[Row]:
    """Yield one row a record, all cells as text; records with too few or too many cells are noted."""
    text = decode(stream.read(), problems)
    if text is None or not text.strip():
        return
    with _long_fields():
        yield from _records(text, problems)


def decode(raw: bytes, problems: Problems) -> str | None:
    """Decode a file whose encoding nobody states.

    GB18030 accepts almost any bytes, so it is believed only when the result looks like Chinese and the file is not
    rather UTF-8 with a broken place; anything else is refused by name.

    Returns:
        The text; None when the encoding was refused (the problem is noted).
    """
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _decode_utf16(raw, problems)
    try:
        return raw.removeprefix(UTF8_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(UTF8_BOM) if raw.startswith(UTF8_BOM) else 0)
    if not raw.startswith(UTF8_BOM) and (text := chinese_text(raw)) is not None:
        return text
    line = raw.count(b"\n", 0, offset) + 1
    problems.add(line, f"invalid UTF-8 at byte offset {offset} (0x{raw[offset]:02x}), expected UTF-8 or GB18030")
    return None


def _decode_utf16(raw: bytes, problems: Problems) -> str | None:
    try:
        return raw.decode("utf-16")
    except UnicodeDecodeError as error:
        problems.add(None, f"invalid UTF-16 at byte offset {error.start}, expected UTF-8, GB18030 or UTF-16")
        return None


@contextmanager
def _long_fields() -> Iterator[None]:
    """Lift the csv module's limit while reading: too long a cell is refused later, by its column's name."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _records(text: str, problems: Problems) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add(line, f"broken quoting ({error}), expected quotes inside a quoted cell to be doubled")
            continue
        if not cells:
            continue
        if header is None:
            header = _header(cells, line, problems)
        elif len(cells) != len(header):
            problems.add(line, f"{_count(len(cells))}, expected {len(header)}: {', '.join(map(quoted, header))}")
        else:
            yield Row(line, dict(zip(header, cells, strict=True)), text_cells=True)


def _header(cells: list[str], line: int, problems: Problems) -> list[str]:
    names = [cell.strip() or f"column {place}" for place, cell in enumerate(cells, start=1)]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add(line, f"the header names {quoted(name)} {names.count(name)} times, expected once")
    return names


def _delimiter(text: str) -> str:
    """The delimiter that cuts the header into most cells; a comma when none does."""

    def cells(delimiter: str) -> int:
        try:
            return len(next(csv.reader(io.StringIO(text.lstrip(), newline=""), delimiter=delimiter), []))
        except csv.Error:
            return 0

    return max(DELIMITERS, key=cells)


def _count(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"
