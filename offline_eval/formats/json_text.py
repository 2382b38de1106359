"""Strict JSON: what Python's reader lets pass silently (repeated keys, NaN, broken UTF-8) is named instead."""

import re
from json import JSONDecodeError, JSONDecoder
from typing import Any

from offline_eval.formats.wording import quoted

UTF8_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(r"[ \t\r\n]*")


class JsonParser:
    """Reads JSON values out of a text and remembers what is wrong with the last one."""

    def __init__(self) -> None:
        self._faults: list[str] = []
        self._decoder = JSONDecoder(object_pairs_hook=self._object, parse_constant=self._constant)

    def value_at(self, text: str, start: int) -> tuple[Any, int, list[str]]:
        """Read the value that begins at `start`.

        Returns:
            The value, where it ends, and its faults (then the value must not be used).

        Raises:
            ValueError: Broken JSON; a `JSONDecodeError` says where.
        """
        self._faults = []
        try:
            value, end = self._decoder.raw_decode(text, start)
        except RecursionError:
            raise ValueError("nested too deeply, expected at most 64 levels") from None
        return value, end, self._faults

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built: dict[str, Any] = {}
        for key, value in pairs:
            if key in built:
                self._faults.append(f"the key {quoted(key)} appears twice in one object, expected once")
            built[key] = value
        return built

    def _constant(self, word: str) -> None:
        self._faults.append(f"{word} is not JSON, expected a number or null")


def parse_json(text: str) -> Any:
    """Read a text that is one JSON value.

    Raises:
        ValueError: In plain words: what is wrong with it.
    """
    start = skip_space(text, 0)
    try:
        value, end, faults = JsonParser().value_at(text, start)
    except JSONDecodeError as error:
        raise ValueError(broken(error)) from None
    if faults:
        raise ValueError("; ".join(faults))
    end = skip_space(text, end)
    if end < len(text):
        raise ValueError(f"broken JSON at character {end + 1}: more text after the value, expected none")
    return value


def decode_utf8(raw: bytes) -> str:
    """Decode, with NUL bytes refused too.

    Raises:
        ValueError: In plain words, with the byte offset from the start of `raw`.
    """
    if (nul := raw.find(b"\x00")) >= 0:
        raise ValueError(f"NUL byte at byte offset {nul}, expected text")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"invalid UTF-8 at byte offset {error.start} (0x{raw[error.start]:02x}), expected UTF-8"
        ) from None


def skip_space(text: str, start: int) -> int:
    """The first position from `start` on that is no JSON white space."""
    match = _SPACE.match(text, start)
    return match.end() if match else start


def broken(error: JSONDecodeError) -> str:
    """Plain words for a syntax error."""
    return f"broken JSON at character {error.colno}: {error.msg[0].lower()}{error.msg[1:]}"
