"""Reads number words: 三千五百, 两万, 百分之五 without its sign, "two hundred and fifty", "1,200", "3.5 million".

Why: a reference says 15 and an answer says 十五; comparing them as strings finds a contradiction that is none.
"""

import re
from decimal import Decimal

_ZH_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "壹": 1,
    "贰": 2,
    "叁": 3,
    "肆": 4,
    "伍": 5,
    "陆": 6,
    "柒": 7,
    "捌": 8,
    "玖": 9,
}
_ZH_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_ZH_BIG = {"万": 10**4, "亿": 10**8}

_EN_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_EN_SMALL = {word: value for value, word in enumerate(_EN_ONES.split())} | {
    word: 10 * (value + 2) for value, word in enumerate(_EN_TENS.split())
}
_EN_BIG = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SCALES = {**_ZH_BIG, "千": 10**3, "百": 10**2, "十万": 10**5, "百万": 10**6, "千万": 10**7, **_EN_BIG}

ZH_NUMERAL = "[零〇一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟]"
# Every repetition is bounded: a page of digits must not be read again from each of them.
DIGITS = r"(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,20})(?:\.\d{1,20})?"
SCALE = r"(?:十万|百万|千万|[万亿]|百|千| ?(?:thousand|million|billion|trillion)\b)"
_EN_WORD = f"(?:{'|'.join((*_EN_SMALL, 'hundred', *_EN_BIG))})"
EN_NUMERAL = rf"\b(?:an? (?=hundred|thousand|million))?{_EN_WORD}(?:(?: and |[ -]){_EN_WORD}){{0,9}}\b"
NUMERAL = rf"(?:{DIGITS}{SCALE}?|{ZH_NUMERAL}{{1,20}}(?:点{ZH_NUMERAL}{{1,9}})?|{EN_NUMERAL})"
"""A number in any of the three spellings, to be read by `read_numeral`; match it ignoring case."""

_DIGITS_AND_SCALE = re.compile(rf"({DIGITS}) ?({'|'.join(sorted(_SCALES, key=len, reverse=True))})?", re.IGNORECASE)
_LONGEST = 60  # characters; longer runs of number words are no number


def read_numeral(text: str) -> Decimal | None:
    """Read one number.

    Args:
        text: Digits with an optional scale, a Chinese numeral, or English number words.

    Returns:
        Its value; None when the words are no number, such as 万千.
    """
    text = text.strip().lower()
    if not text or len(text) > _LONGEST:
        return None
    digits = _DIGITS_AND_SCALE.fullmatch(text)
    if digits is not None:
        return Decimal(digits[1].replace(",", "")) * _SCALES.get((digits[2] or "").strip(), 1)
    return _read_english(text) if text.isascii() else _read_chinese(text)


def plain(value: Decimal) -> str:
    """Write a number without exponent and trailing zeros, so that equal numbers are equal strings."""
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def _read_chinese(text: str) -> Decimal | None:
    whole, _, fraction = text.partition("点")
    value = _read_chinese_whole(whole)
    if value is None or not fraction:
        return None if value is None else Decimal(value)
    if any(character not in _ZH_DIGITS for character in fraction):
        return None
    return Decimal(f"{value}." + "".join(str(_ZH_DIGITS[character]) for character in fraction))


def _read_chinese_whole(text: str) -> int | None:
    if all(character in _ZH_DIGITS for character in text):
        return int("".join(str(_ZH_DIGITS[character]) for character in text)) if text else None  # 二〇二四
    total, section, digit = 0, 0, None
    last_unit = 10**9
    for character in text:
        if character in _ZH_DIGITS:
            if digit not in (None, 0):
                return None
            digit = _ZH_DIGITS[character]
        elif character in _ZH_UNITS:
            section += (1 if digit is None and character in "十拾" else digit or 0) * _ZH_UNITS[character]
            last_unit, digit = _ZH_UNITS[character], None
        elif character in _ZH_BIG:
            section += digit or 0
            if section == 0:
                return None
            total = (
                (total + section) * _ZH_BIG[character]
                if _ZH_BIG[character] > total > 0
                else (total + section * _ZH_BIG[character])
            )
            section, digit, last_unit = 0, None, _ZH_BIG[character]
        else:
            return None
    if digit and last_unit in (100, 1000, 10**4, 10**8) and text[-2] not in "零〇":
        digit *= last_unit // 10  # 三千五 is 3500
    value = total + section + (digit or 0)
    return value if value or "零" in text or "〇" in text else None


def _read_english(text: str) -> Decimal | None:
    total, section = 0, 0
    words = re.split(r"[ -]+", text)
    for word in words:
        if word in _EN_SMALL:
            section += _EN_SMALL[word]
        elif word == "hundred":
            section = (section or 1) * 100
        elif word in _EN_BIG:
            total += (section or 1) * _EN_BIG[word]
            section = 0
        elif word not in ("a", "an", "and"):
            return None
    return Decimal(total + section)
