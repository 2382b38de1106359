"""Brings spellings that mean the same to one form: width, case, quotes, dashes, white space.

Why: "ＮＬＩ" and "nli", “是” and "是" are the same words; comparing them must not depend on a keyboard.
"""

import re
import unicodedata

from offline_eval.text.scripts import HAN, HANGUL, KANA

_QUOTES = {
    ord(character): '"' if character in '“”„‟«»「」『』〝〞〟″＂"' else "'"
    for character in '“”„‟«»「」『』〝〞〟″＂"‘’‚‛‹›′＇`´'
}
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－─"), "-")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e"))
_TABLE = {**_QUOTES, **_DASHES, **_INVISIBLE}

_SPACE = re.compile(r"\s+")
_EAST_ASIAN = f"{HAN}{KANA}{HANGUL}\u3001\u3002"
_SPACE_BESIDE_EAST_ASIAN = re.compile(f"(?<=[{_EAST_ASIAN}]) | (?=[{_EAST_ASIAN}])")

# More marks on one letter than any language writes; sorting long runs of them takes quadratic time.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
_TOO_MANY_MARKS = re.compile(f"([{_MARKS}\u3099\u309a\ufe20-\ufe2f]{{20}})[{_MARKS}\u3099\u309a\ufe20-\ufe2f]+")

_LATIN_OR_DIGIT = re.compile(r"[0-9a-z\u00df-\u024f]")
_INSIDE_NUMBER_BEFORE = re.compile(r"[0-9][.,]")
_INSIDE_NUMBER_AFTER = re.compile(r"[0-9]|[.,][0-9]")


def normalize(text: str) -> str:
    """Give the form used for comparing words.

    Unicode NFKC (full width to half, compatibility forms), case folded, every quotation mark to `"` or `'`, every dash
    to `-`, invisible characters removed, white space to one space, none at the ends.

    Args:
        text: Any text.

    Returns:
        The form; normalising it again changes nothing.
    """
    while (changed := _once(text)) != text:
        text = changed
    return text


def normalize_for_quote(text: str) -> str:
    """`normalize`, and no white space beside Chinese, Japanese or Korean characters, where line breaks put it."""
    return _SPACE_BESIDE_EAST_ASIAN.sub("", normalize(text))


def contains_verbatim(quote: str, text: str) -> bool:
    """Tell whether a quotation stands in a text word for word.

    The rule: differences in white space, case, width, quotation marks and dashes are forgiven, as are quotation marks
    and an ellipsis around the quotation; no other character may differ. A quotation starts at the start of a word and
    may end inside one (a judge's output has a longest length), but it cannot start or end inside a number.

    Args:
        quote: The words said to be quoted.
        text: Where they should stand.

    Returns:
        False for a quotation without any letter or digit.
    """
    wanted = _stripped(normalize_for_quote(quote))
    if not any(character.isalnum() for character in wanted):
        return False
    where = normalize_for_quote(text)
    at = where.find(wanted)
    while at >= 0:
        if _starts_clean(where, at) and _ends_clean(where, at + len(wanted)):
            return True
        at = where.find(wanted, at + 1)
    return False


def _once(text: str) -> str:
    text = unicodedata.normalize("NFKC", _TOO_MANY_MARKS.sub(r"\1", text)).casefold().translate(_TABLE)
    return _SPACE.sub(" ", text).strip()


def _stripped(quote: str) -> str:
    quote = quote.strip("\"' ").removesuffix("...").removeprefix("...")
    return quote.strip("\"' ")


def _starts_clean(text: str, at: int) -> bool:
    if text[at].isdigit() and _INSIDE_NUMBER_BEFORE.fullmatch(text[max(0, at - 2) : at]):
        return False
    return not (_LATIN_OR_DIGIT.match(text[at]) and _LATIN_OR_DIGIT.match(text[max(0, at - 1) : at]))


def _ends_clean(text: str, end: int) -> bool:
    return not (text[end - 1].isdigit() and _INSIDE_NUMBER_AFTER.match(text[end : end + 2]))
