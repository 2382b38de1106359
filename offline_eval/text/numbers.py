"""Finds numbers, percentages, money, dates, times and spans of time in English and Chinese, with comparable values.

Why: wrong numbers are the commonest invention; 12月3日 and "December 3" must be equal, 3 days and 5 days must not.
"""

import re
from decimal import Decimal
from typing import NamedTuple

from offline_eval.text.numerals import plain, read_numeral
from offline_eval.text.quantity_patterns import (
    ANOTHER,
    COUNTED,
    CURRENCIES,
    MEASURES,
    NOT_A_NUMBER,
    RULES,
    SPANS,
    Kind,
)


class Quantity(NamedTuple):
    """A quantity and where it stands.

    Attributes:
        value: Comparable form: a decimal number; dates as `2024-03-05`, `2024-03`, `2024`, `--03-05` (no year) or
            `--03`; times as `09:30`.
        unit: `%`; a currency code; `s` for seconds, minutes and hours; `day` for days and weeks; `working day`; `month`
            for months, quarters and years; a measure such as `km`; else empty.
    """

    kind: Kind
    value: str
    unit: str
    text: str
    start: int
    end: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What two equal quantities have in common, however they are written."""
        return self.kind, self.value, self.unit


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SUFFIXES = {"k": 10**3, "m": 10**6, "bn": 10**9}
_LIST_NUMBER = re.compile(r"(?m)^[^\S\n]*\(?\d{1,3}[.)、）．](?!\d)")

Reading = tuple[str, str]
"""A value with its unit."""


def find_quantities(text: str) -> list[Quantity]:
    """Find every quantity of a text.

    The rule: forms are tried in the order date, percentage, time, money, span of time, fraction, ordinal, number; no
    character is used twice. Left out are numbers joined to letters (`v2.1`, `COVID-19`), citation marks (`[1]`), list
    numbers at a line's start, "one" by itself, "a second" before what there is one more of ("a second factor"), and
    single Chinese numerals that are not followed by a measure word.

    Args:
        text: Any text.

    Returns:
        The quantities in order.
    """
    used = bytearray(len(text))
    for pattern in (_LIST_NUMBER, NOT_A_NUMBER, ANOTHER):
        for found in pattern.finditer(text):
            used[found.start() : found.end()] = b"\x01" * len(found.group())
    quantities: list[Quantity] = []
    for kind, pattern in RULES:
        for found in pattern.finditer(text):
            start, end = found.span()
            if any(used[start:end]):
                continue
            reading = _read(kind, found, text)
            if reading is None:
                continue
            used[start:end] = b"\x01" * (end - start)
            quantities.append(Quantity(kind, *reading, found.group().strip(), start, end))
    return sorted(quantities, key=lambda quantity: quantity.start)


def _read(kind: Kind, found: re.Match[str], text: str) -> Reading | None:
    group = found.groupdict()
    if kind == "date":
        return _date(group)
    if kind == "time":
        return _time(group)
    if kind == "duration":
        return _duration(group)
    value = _money_value(group["n"]) if kind == "money" else read_numeral(group["n"])
    if value is None:
        return None
    if kind == "percent":
        return plain(value), "%"
    if kind == "money":
        return plain(value), _name_of(CURRENCIES, group["c"])
    if kind == "ordinal":
        return plain(value), ""
    if group.get("den"):
        denominator = read_numeral(group["den"])
        return (plain(round(value / denominator, 6)), "") if denominator else None
    if group.get("measure"):
        return plain(value), _name_of(MEASURES, group["measure"])
    return (plain(value), "") if _stands_for_a_number(group["n"], text, found.end()) else None


def _date(group: dict[str, str | None]) -> Reading | None:
    year = _small(group.get("y"))
    month = _month(group.get("m"))
    day = _small(group.get("d"))
    if (group.get("m") and not 1 <= month <= 12) or (group.get("d") and not 1 <= day <= 31):
        return None
    first = f"{year:04d}" if group.get("y") else "-"
    rest = (f"-{month:02d}" if group.get("m") else "") + (f"-{day:02d}" if group.get("d") else "")
    return first + rest, ""


def _time(group: dict[str, str | None]) -> Reading | None:
    hour = _small(group["h"])
    minute_text = group.get("min") or ""
    minute = {"半": 30, "一刻": 15, "三刻": 45}.get(minute_text, _small(minute_text))
    if hour > 24 or minute > 59:
        return None
    half = (group.get("half") or "").lower()
    afternoon = half.startswith("p") or half in ("下午", "晚上") or (half == "中午" and hour < 3)
    if half.startswith("a") and hour == 12:
        hour = 0
    return f"{hour + 12 if afternoon and hour < 12 else hour:02d}:{minute:02d}", ""


def _duration(group: dict[str, str | None]) -> Reading | None:
    number, written = (group["n"] or "").lower(), (group["u"] or "").lower()
    unit, factor = next(key for key, words in SPANS.items() if re.fullmatch(words, written, re.IGNORECASE))
    if number in ("半", "half a", "half an"):
        value: Decimal | None = Decimal("0.5")
    else:
        value = Decimal(1) if number in ("a", "an") else read_numeral(number)
    if value is None:
        return None
    if group.get("half") or group.get("plus"):
        value += Decimal("0.5")
    if unit == "month" and factor == 12 and value >= 1000 and number.isdigit():
        return None  # "2024 year" is a date
    return plain(value * factor), unit


def _money_value(text: str) -> Decimal | None:
    lowered = text.lower()
    for suffix, factor in _SUFFIXES.items():
        if lowered.endswith(suffix) and lowered[-len(suffix) - 1].isdigit():
            value = read_numeral(lowered.removesuffix(suffix))
            return None if value is None else value * factor
    return read_numeral(text)


def _stands_for_a_number(written: str, text: str, end: int) -> bool:
    lowered = written.lower()
    if lowered == "one" or (written.isascii() and text[end : end + 1].isascii() and text[end : end + 1].isalpha()):
        return False
    single = len(written) == 1 and not written.isascii()
    return not single or text[end : end + 1] in tuple(COUNTED)


def _month(text: str | None) -> int:
    name = (text or "")[:3].lower()
    return _MONTHS.index(name) + 1 if name in _MONTHS else _small(text)


def _small(text: str | None) -> int:
    value = read_numeral(text or "")
    return int(value) if value is not None else 0


def _name_of(table: dict[str, str], written: str) -> str:
    return next(name for name, words in table.items() if re.fullmatch(words, written, re.IGNORECASE))
