"""Which characters belong to which script, written as the inside of a regular expression's brackets.

Why: language, words, sentences and entities must all mean the same thing by "a Chinese character".
"""

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, also as used in Japanese and Korean."""

KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
"""Japanese syllables; the middle dot (U+30FB) is left out because Chinese text has it in names."""

HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
"""Korean syllables and letters."""

LATIN = "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
"""Latin letters with their accents."""
