"""Recognises GB18030, which nobody states and which Chinese spreadsheets still write.

GB18030 accepts almost any bytes, so it is believed only when the result looks like Chinese.
"""

# In Chinese text nearly every character outside ASCII is in the basic set of 1980; in Western text read as GB18030,
# where an accented letter swallows the letter behind it, nearly none is.
_LEAST_COMMON_SHARE = 0.5


def chinese_text(raw: bytes) -> str | None:
    """Decode bytes that are no UTF-8 as GB18030, where that makes Chinese of them.

    Returns:
        The text; None when it is no Chinese, or rather UTF-8 with a broken place.
    """
    if _mostly_utf8(raw):
        return None
    try:
        text = raw.decode("gb18030")
    except UnicodeDecodeError:
        return None
    foreign = "".join(char for char in text if not char.isascii())
    common = len(foreign.encode("gb2312", "ignore")) / 2
    return text if common >= _LEAST_COMMON_SHARE * len(foreign) else None


def _mostly_utf8(raw: bytes) -> bool:
    text = raw.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    return sum(not char.isascii() for char in text) - broken > broken
