"""A JSON file: a list of objects, an object with `results`, or columns; lists are read one by one to know the lines."""

from collections.abc import Generator, Iterator
from json import JSONDecodeError
from typing import Any, BinaryIO

from offline_eval.formats.json_text import UTF8_BOM, JsonParser, broken, decode_utf8, skip_space
from offline_eval.formats.problems import Problems
from offline_eval.formats.row import Row
from offline_eval.formats.wording import described, quoted

LIST_KEY = "results"
_EXPECTED = f'expected a list of objects, {{"{LIST_KEY}": [...]}} or columns of one length'


def rows(stream: BinaryIO, problems: Problems) -> Iterator[Row]:
    """Yield one row an element; after a syntax error nothing behind it can be read, which is said."""
    try:
        text = decode_utf8(stream.read().removeprefix(UTF8_BOM))
    except ValueError as error:
        problems.add(None, str(error))
        return
    start = skip_space(text, 0)
    if start == len(text):
        return
    try:
        end = yield from _file(text, start, problems)
        if skip_space(text, end) < len(text):
            raise JSONDecodeError("more text after the end of the data", text, skip_space(text, end))
    except JSONDecodeError as error:
        problems.add(error.lineno, f"{broken(error)}; nothing after this place was read")
    except ValueError as error:
        problems.add(None, f"{error}; the rest was not read")


def _file(text: str, start: int, problems: Problems) -> Generator[Row, None, int]:
    """Yield the rows; return where the file's value ends."""
    if text[start] == "[":
        return (yield from _elements(text, start, problems))
    if text[start] == "{":
        return (yield from _wrapper(text, start, problems))
    value, end, _ = JsonParser().value_at(text, start)
    problems.add(1, f"the file is {described(value)}, {_EXPECTED}")
    return end


def _wrapper(text: str, start: int, problems: Problems) -> Generator[Row, None, int]:
    parser = JsonParser()
    keys: list[str] = []
    values: dict[str, Any] = {}
    faults: list[str] = []
    position = skip_space(text, start + 1)
    while not text.startswith("}", position):
        key, position, _ = parser.value_at(text, position)
        position = skip_space(text, position)
        if not isinstance(key, str) or not text.startswith(":", position):
            raise JSONDecodeError("expecting a key and ':'", text, position)
        position = skip_space(text, position + 1)
        if key == LIST_KEY and key not in keys and text.startswith("[", position):
            end = yield from _elements(text, position, problems)
        else:
            values[key], end, found = parser.value_at(text, position)
            faults += [f"{quoted(key)}: {fault}" for fault in found]
        keys.append(key)
        position = _after_comma(text, end, closing="}")
    if LIST_KEY not in keys and len(values) == len(keys) and is_columns(values):
        for fault in faults:
            problems.add(1, fault)
        yield from _column_rows(values)
    elif LIST_KEY not in keys:
        problems.add(1, f"the file is an object with {', '.join(map(quoted, keys)) or 'no keys'}, {_EXPECTED}")
    elif keys.count(LIST_KEY) > 1:
        problems.add(1, f"the key {quoted(LIST_KEY)} appears twice in one object, expected once")
    return position + 1


def is_columns(value: dict[str, Any]) -> bool:
    """Whether an object holds a table by columns: lists of one length, or objects with the same row names."""
    columns = list(value.values())
    if not columns or not all(columns):
        return False
    if all(isinstance(column, list) for column in columns):
        return len({len(column) for column in columns}) == 1
    return all(isinstance(column, dict) for column in columns) and len({tuple(column) for column in columns}) == 1


def _column_rows(columns: dict[str, Any]) -> Iterator[Row]:
    """Rows of a table by columns; a row's line is its number."""
    cells = [list(column.values()) if isinstance(column, dict) else column for column in columns.values()]
    for number, row in enumerate(zip(*cells, strict=True), start=1):
        yield Row(number, dict(zip(columns, row, strict=True)))


def _elements(text: str, start: int, problems: Problems) -> Generator[Row, None, int]:
    parser = JsonParser()
    line, counted = 1, 0
    position = skip_space(text, start + 1)
    while not text.startswith("]", position):
        line, counted = line + text.count("\n", counted, position), position
        value, end, faults = parser.value_at(text, position)
        for fault in faults:
            problems.add(line, fault)
        if not isinstance(value, dict):
            problems.add(line, f"the element is {described(value)}, expected a JSON object")
        elif not faults:
            yield Row(line, value)
        position = _after_comma(text, end, closing="]")
    return position + 1


def _after_comma(text: str, end: int, *, closing: str) -> int:
    """Where the next element starts, or the closing bracket."""
    position = skip_space(text, end)
    if text.startswith(closing, position):
        return position
    if not text.startswith(",", position):
        raise JSONDecodeError(f"expecting ',' or '{closing}'", text, position)
    position = skip_space(text, position + 1)
    if text.startswith(closing, position):
        raise JSONDecodeError(f"expecting a value before '{closing}'", text, position)
    return position
