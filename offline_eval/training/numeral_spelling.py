"""Writes whole numbers in digits, in Chinese numerals or in English words, the way another number is written.

Why: a claim may say 三十天 where its passage says 30天, and an edit of it must not be told by its spelling.
"""

import re
from typing import Literal, NamedTuple

from offline_eval.text.numbers import Quantity
from offline_eval.text.numerals import EN_NUMERAL, ZH_NUMERAL, read_numeral

Script = Literal["digits", "commas", "zh", "en"]

_DIGITS = "零一二三四五六七八九"
_EN_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES, _TENS = _EN_ONES.split(), _EN_TENS.split()
_NUMBER = re.compile(rf"\d[\d,]*(?:\.\d+)?|{ZH_NUMERAL}+|{EN_NUMERAL}", re.IGNORECASE)
_NAMING = re.compile(r"(?:[上下]|分机|extension )$")
_MOST = 100_000  # beyond it, words get longer than any handbook writes


class Spelling(NamedTuple):
    """A whole number as it stands in a text."""

    text: str
    value: int
    script: Script


def read_spelling(text: str) -> Spelling | None:
    """The first number of a text and how it is written; None when there is none or it is not whole."""
    found = _NUMBER.search(text)
    value = read_numeral(found.group()) if found else None
    if found is None or value is None or value != int(value):
        return None
    written = found.group()
    script: Script = "en" if written.isascii() else "zh"
    if written[0].isdecimal():
        script = "commas" if "," in written else "digits"
    return Spelling(written, int(value), script)


def stands_for_no_figure(text: str, quantity: Quantity) -> bool:
    """Whether a number only names something: 上一家 is the one before, an extension cannot be counted."""
    return _NAMING.search(text[: quantity.start]) is not None


def spell(value: int, *, like: Spelling) -> str:
    """Write a number in the script of another; in digits where words would be long."""
    if like.script == "commas":
        return f"{value:,}"
    if like.script == "zh" and 0 < value < _MOST:
        return chinese_numeral(value)
    if like.script == "en" and 1 < value < 100:  # "one" by itself is read as no number
        return english_numeral(value)
    return str(value)


def chinese_numeral(value: int) -> str:
    """Write 1 to 99,999 in Chinese numerals: 12 is 十二, 105 is 一百零五, 20000 is 二万."""
    if not 0 < value < _MOST:
        raise ValueError(f"{value} is not between 1 and {_MOST - 1}")
    written, gap = "", False
    for unit, power in (("万", 10_000), ("千", 1000), ("百", 100), ("十", 10), ("", 1)):
        digit = value // power % 10
        if digit == 0:
            gap = bool(written)
            continue
        written += ("零" if gap else "") + _DIGITS[digit] + unit
        gap = False
    return written.removeprefix("一") if written.startswith("一十") else written


def english_numeral(value: int) -> str:
    """Write 1 to 99 in English words."""
    if not 0 < value < 100:
        raise ValueError(f"{value} is not between 1 and 99")
    if value < len(_ONES):
        return _ONES[value]
    ten, one = divmod(value, 10)
    return _TENS[ten - 2] + (f"-{_ONES[one]}" if one else "")
