"""Tells a short text's language from its scripts.

Why: rules and encoders are made for some languages; text in another must be turned away, not scored as noise.
"""

import re
from typing import Literal

from offline_eval.text.scripts import HAN, HANGUL, KANA, LATIN

Language = Literal["zh", "ja", "ko", "en", "other"]

_HAN = re.compile(f"[{HAN}]")
_KANA = re.compile(f"[{KANA}]")
_HANGUL = re.compile(f"[{HANGUL}]")
_LATIN_WORD = re.compile(f"[{LATIN}]+")
_LETTER_RUN = re.compile(r"[^\W\d_]+")

_KANA_SHARE = 0.1  # Japanese prose is about half kana; a kanji-heavy title still has a tenth
_NOT_ENGLISH_LEAD = 2  # function words another language must be ahead by; "die", "a" and "in" exist in both

_ENGLISH_WORDS = """
    the of and to in is that it was for on are with as be this by have from or not you which at what how who a an do
    does did can will when where why there their they he she we has had were been if but
"""
_OTHER_LATIN_WORDS = """
    der die das und ist nicht ein eine mit von zu den dem des für auf auch sich wie wird sind
    le la les un une et est que qui dans pour pas sur avec au aux ce cette sont du
    el los las y en es por con una para como más del se su al qué está
    o os uma não em da dos das com mais são
    il lo gli di che è per non sono della nel
    het een van niet op te dat voor zijn deze
"""  # German, French, Spanish, Portuguese, Italian, Dutch; without words English has too
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_OTHER_LATIN = frozenset(_OTHER_LATIN_WORDS.split())


def detect_language(text: str) -> Language:
    """Name the language most of a text is written in.

    The rule: one Chinese, Japanese or Korean character weighs as much as one word of an alphabet; the heavier side
    wins, and the first wins a tie. Among the former, a tenth of kana makes it Japanese, a majority of Hangul Korean,
    the rest is Chinese. Latin words are English unless function words of other European languages lead. Text without
    letters and every other script is `other`.

    Args:
        text: Any text, also a single word.

    Returns:
        The language's two-letter code, or `other`.
    """
    han, kana, hangul = (len(pattern.findall(text)) for pattern in (_HAN, _KANA, _HANGUL))
    latin = _LATIN_WORD.findall(text)
    other = len(_LETTER_RUN.findall(_LATIN_WORD.sub(" ", _HAN.sub(" ", _KANA.sub(" ", _HANGUL.sub(" ", text))))))
    east_asian = han + kana + hangul
    if east_asian and east_asian >= max(len(latin), other):
        return _east_asian(han, kana, hangul)
    if latin and len(latin) >= other:
        return "en" if _is_english(latin) else "other"
    return "other"


def _east_asian(han: int, kana: int, hangul: int) -> Language:
    if hangul > han + kana:
        return "ko"
    return "ja" if kana >= _KANA_SHARE * (han + kana) and kana else "zh"


def _is_english(words: list[str]) -> bool:
    lowered = [word.lower() for word in words]
    english = sum(word in _ENGLISH for word in lowered)
    other = sum(word in _OTHER_LATIN for word in lowered)
    return other - english < _NOT_ENGLISH_LEAD
