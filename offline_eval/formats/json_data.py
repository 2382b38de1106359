"""Checks that a value is clean JSON data, because a giant, a NUL or half a character would break a later step."""

import math
from typing import Any

from offline_eval.formats.wording import described, place, quoted

MAX_CHARACTERS = 1 << 20
MAX_DEPTH = 64
_MAX_INTEGER_BITS = 1024

Path = tuple[str | int, ...]


def faults_in(value: Any, path: Path) -> list[str]:
    """What keeps a value from being JSON data we can store, as `field is …, expected …`.

    Args:
        value: Anything, also what a callable under test returned.
        path: Where it stands in its row.
    """
    if len(path) > MAX_DEPTH:
        return [f"{place(path[:1])} is nested too deeply, expected at most {MAX_DEPTH} levels"]
    if value is None or isinstance(value, bool):
        return []
    if isinstance(value, str):
        return [f"{place(path)} {fault}" for fault in _text_faults(value)]
    if isinstance(value, int):
        too_large = value.bit_length() > _MAX_INTEGER_BITS
        return [f"{place(path)} is {described(value)}, expected a smaller one"] if too_large else []
    if isinstance(value, float):
        return [] if math.isfinite(value) else [f"{place(path)} is {value}, expected a finite number"]
    if isinstance(value, list | tuple):
        return [fault for i, item in enumerate(value) for fault in faults_in(item, (*path, i))]
    if isinstance(value, dict):
        return [fault for key, item in value.items() for fault in _entry_faults(key, item, path)]
    return [f"{place(path)} is {described(value)}, expected JSON data"]


def _entry_faults(key: Any, value: Any, path: Path) -> list[str]:
    if not isinstance(key, str):
        return [f"{place(path) or 'the row'} has a key that is {described(key)}, expected text"]
    faults = [f"a column name or key ({quoted(key)}) {fault}" for fault in _text_faults(key)]
    return faults + faults_in(value, (*path, key))


def _text_faults(text: str) -> list[str]:
    if len(text) > MAX_CHARACTERS:
        return [f"has {len(text):,} characters, expected at most {MAX_CHARACTERS:,}"]
    faults = []
    if "\x00" in text:
        faults.append(f"holds a NUL character (character {text.index(chr(0)) + 1}), expected text")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            faults.append(f"holds half a surrogate pair (character {error.start + 1}), expected whole characters")
    return faults
