"""Makes characters that are not seen visible, so that data cannot drive a terminal or turn a line around."""

import unicodedata

# White space of other widths, such as the Chinese full-width space, is text.
_SHOWN = ("Zs",)


def visible(text: str) -> str:
    r"""Text with control, direction, zero-width and unassigned characters written as `\x1b` or `\u202e`."""
    if text.isprintable():  # nearly every text, and long ones are many
        return text
    return "".join(char if _is_shown(char) else _written(char) for char in text)


def _is_shown(char: str) -> bool:
    return char.isprintable() or unicodedata.category(char) in _SHOWN


def _written(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
