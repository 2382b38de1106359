"""Finds personal data by pattern in English and Chinese text: e-mail, phone, identity number, bank card, bank account.

Why patterns with check digits and not a model: what is removed from a log must be explainable number by number, and a
date, an order number or an amount must stay.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Literal, NamedTuple

Kind = Literal["email", "identity_number", "bank_account", "bank_card", "phone"]

_MASKS: dict[Kind, tuple[str, str]] = {
    "email": ("[e-mail]", "[邮箱]"),
    "identity_number": ("[identity number]", "[证件号]"),
    "bank_account": ("[bank account]", "[银行账号]"),
    "bank_card": ("[bank card]", "[银行卡号]"),
    "phone": ("[phone]", "[电话]"),
}

# Full-width forms, one character for one, so that places in the text stay what they are.
_ASCII = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
_HAN = re.compile("[\u4e00-\u9fff]")

_NO_DIGIT_BEFORE = r"(?<![0-9A-Za-z_.])(?<![0-9][-/])"
_NO_DIGIT_AFTER = r"(?![0-9A-Za-z_])(?![-./][0-9])"
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9_%+][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}"
    r"[A-Za-z]{2,24}(?![A-Za-z0-9])"
)
_CHINESE_ID = re.compile(
    _NO_DIGIT_BEFORE + r"[1-9]\d{5}[ -]?(?:19|20)\d{2}[ -]?\d{4}[ -]?\d{3}[0-9Xx]" + _NO_DIGIT_AFTER
)
_SOCIAL_SECURITY = re.compile(_NO_DIGIT_BEFORE + r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}" + _NO_DIGIT_AFTER)
_SOCIAL_SECURITY_CUE = re.compile(r"(?:\bssn\b|social security)[^0-9\n]{0,30}$", re.IGNORECASE)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")
_CARD = re.compile(_NO_DIGIT_BEFORE + r"\d(?:[ -]?\d){12,18}" + _NO_DIGIT_AFTER)
# Issuer's first digits and the lengths its cards have.
_CARD_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|3[47]\d{13}|"
    r"3[068]\d{12}|35\d{14}|62\d{14,17}|(?:6011|64[4-9]\d|65\d{2})\d{12}"
)
_PHONES = (
    # China: mobile, then an area code in brackets or before a separator.
    r"(?:(?:\+|00)?86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}",
    r"(?:(?:\+|00)?86[ -]?)?(?:\(0(?:10|2\d|[3-9]\d{2})\)[ -]?|0(?:10|2\d|[3-9]\d{2})[ -])"
    r"[2-9]\d{6,7}(?:(?:-|转)\d{1,5})?",
    # With a country code; North America, but no free service line; the United Kingdom.
    r"\+[1-9]\d{0,2}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,5}",
    r"(?:1[ .-])?(?!\(?(?:400|8(?:00|33|44|55|66|77|88)))(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[.-])[2-9]\d{2}[.-]\d{4}",
    r"0(?:\d{2} \d{4} \d{4}|\d{3} \d{3} \d{4}|\d{4} \d{6}|7\d{3} ?\d{3} ?\d{3})",
)
_PHONE = re.compile(r"(?<![0-9A-Za-z_.+])(?<![0-9][-/])(?:" + "|".join(_PHONES) + ")" + _NO_DIGIT_AFTER)
# After a word for a telephone, a plainer number is one as well.
_NAMED_PHONE = re.compile(
    r"(?:电话|手机|座机|联系方式|\b(?:tel|telephone|phone|mobile|cell|whatsapp)\b)"
    r"(?:号码|号|\s*(?:number|no\.?|is|为|是))*[^0-9+\n]{0,4}(?P<number>\+?\d(?:[ -]?\d){6,14})" + _NO_DIGIT_AFTER,
    re.IGNORECASE,
)
_DATE = re.compile(r"(?:19|20)\d{2}[ -]?(?:0[1-9]|1[0-2])[ -]?(?:0[1-9]|[12]\d|3[01])(?:[ -]?\d{2}){0,3}")
# Numbers that say what they are.
_NAMED_OTHERWISE = re.compile(
    r"(?:订单|单号|运单|快递|发票|流水|编号|工单|批次|版本|(?<![A-Za-z])(?:order|invoice|tracking|ticket|reference|ref|"
    r"item|sku|isbn|serial|batch|case|po|no)\b)[^0-9\n]{0,8}$|[¥￥$€£]\s?$",
    re.IGNORECASE,
)
_AMOUNT_AFTER = re.compile(
    r"\s?(?:[.,]\d{2}\b|元|块|万|亿|美元|欧元|%|％|(?:rmb|cny|usd|eur|gbp|dollars|yuan)\b)", re.IGNORECASE
)
_LOOKED_BACK = 48

_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_CHECKS = "10X98765432"


class PersonalData(NamedTuple):
    """Where something personal stands; never what it is.

    Attributes:
        start: First character, from 0.
        end: The character after the last.
    """

    kind: Kind
    start: int
    end: int


def find_personal_data(text: str) -> list[PersonalData]:
    """Find personal data.

    The rule: e-mail addresses; Chinese identity numbers (18 places, a real date, the check digit of ISO 7064 MOD 11-2)
    and US social security numbers after a word that names them; IBANs (MOD 97); bank cards (an issuer's range and
    length, Luhn); phone numbers in the forms of China, North America, the United Kingdom and E.164, or any number
    after a word for a telephone. A number stays that is called an order, an invoice or the like, that is an amount,
    or that reads as a date. Service lines (400, 800) are nobody's and stay.

    Args:
        text: Any text, full-width digits included.

    Returns:
        In the order of the text, without overlap.
    """
    plain = text.translate(_ASCII)
    found: list[PersonalData] = []
    taken = bytearray(len(plain))
    for kind, start, end in _candidates(plain):
        if not any(taken[start:end]):
            taken[start:end] = b"\x01" * (end - start)
            found.append(PersonalData(kind, start, end))
    return sorted(found, key=lambda item: item.start)


def mask_personal_data(text: str) -> tuple[str, list[PersonalData]]:
    """Put the kind of personal data in its place.

    Args:
        text: Any text.

    Returns:
        The text with `[phone]`, in Chinese text `[电话]`, and so on; and what was found, by place in the given text.
    """
    found = find_personal_data(text)
    at_chinese = int(bool(_HAN.search(text)))
    pieces, last = [], 0
    for item in found:
        pieces += [text[last : item.start], _MASKS[item.kind][at_chinese]]
        last = item.end
    return "".join([*pieces, text[last:]]), found


def _candidates(text: str) -> Iterator[tuple[Kind, int, int]]:
    """Everything that is some kind of personal data, the surest kinds first."""
    for match in _EMAIL.finditer(text):
        yield "email", *match.span()
    yield from _numbers(text, "identity_number", _CHINESE_ID, _is_chinese_id)
    for match in _SOCIAL_SECURITY.finditer(text):
        if _SOCIAL_SECURITY_CUE.search(_before(text, match.start())):
            yield "identity_number", *match.span()
    yield from _numbers(text, "bank_account", _IBAN, _is_iban)
    yield from _numbers(text, "bank_card", _CARD, _is_card)
    yield from _numbers(text, "phone", _PHONE, _is_phone)
    for match in _NAMED_PHONE.finditer(text):
        start, end = match.span("number")
        if not _DATE.fullmatch(match["number"]) and not _AMOUNT_AFTER.match(text, end):
            yield "phone", start, end


def _numbers(
    text: str, kind: Kind, pattern: re.Pattern[str], is_valid: Callable[[str], bool]
) -> Iterator[tuple[Kind, int, int]]:
    for match in pattern.finditer(text):
        start, end = match.span()
        if not is_valid(match.group()):
            continue
        if _NAMED_OTHERWISE.search(_before(text, start)) or _AMOUNT_AFTER.match(text, end):
            continue
        yield kind, start, end


def _before(text: str, start: int) -> str:
    return text[max(0, start - _LOOKED_BACK) : start]


def _digits(text: str) -> str:
    return re.sub(r"[ -]", "", text)


def _is_chinese_id(text: str) -> bool:
    number = _digits(text).upper()
    try:
        date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], _ID_WEIGHTS, strict=True))
    return _ID_CHECKS[total % 11] == number[17]


def _is_iban(text: str) -> bool:
    number = text.replace(" ", "")
    if not 15 <= len(number) <= 34:
        return False
    return int("".join(str(int(character, 36)) for character in number[4:] + number[:4])) % 97 == 1


def _is_card(text: str) -> bool:
    number = _digits(text)
    if not _CARD_ISSUERS.fullmatch(number):
        return False
    doubled = (int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(number)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _is_phone(text: str) -> bool:
    digits = sum(character.isdigit() for character in text)
    return 8 <= digits <= 20 and not _DATE.fullmatch(text)
