"""Cuts text into search and comparison tokens by script: words, whole numbers and codes, Chinese words or bigrams.

Why: a tokenizer that only knows white space finds nothing in Chinese; one that cuts "v2.1-beta" or "3.5" finds noise.
"""

import re
from functools import lru_cache
from typing import Any, Literal

from offline_eval.text.normalize import normalize
from offline_eval.text.scripts import HAN, HANGUL, KANA

ChineseCut = Literal["bigram", "jieba"]

_EAST_ASIAN = f"{HAN}{KANA}{HANGUL}"
# Letters and digits, joined inside by marks that codes, numbers and contractions have.
_ASCII_CHUNK = re.compile(r"[a-z0-9]+(?:[-._/:@'+,][a-z0-9]+)*")
_CHUNK = re.compile(rf"[{_EAST_ASIAN}]+|[^\W_{_EAST_ASIAN}]+(?:[-._/:@'+,][^\W_{_EAST_ASIAN}]+)*")
_PART = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CODE = re.compile(r"[^\W_]+(?:[-._/:@+][^\W_]+)*")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_HAS_DIGIT = re.compile(r"\d")
_SCRIPT_RUN = re.compile(f"(?P<hangul>[{HANGUL}]+)|(?P<kana>[{HAN}{KANA}]*[{KANA}][{HAN}{KANA}]*)|(?P<han>[{HAN}]+)")


def tokenize(text: str, *, chinese: ChineseCut = "bigram") -> list[str]:
    """Cut a text into tokens.

    The rule: the text is normalised (`normalize`: width, case, quotes); words are runs of letters and digits, with an
    apostrophe inside. Parts joined by `-._/:@+` stay one token where one of them has a digit (`v2.1-beta`, `gpt-4o`,
    `2023-05-01`) or all are single letters (`u.s`), else they are separate words; a comma joins thousands and is
    dropped (`1,234` → `1234`). Chinese, Japanese and Korean runs give overlapping pairs of characters, a single
    character itself; with `jieba`, Chinese runs without kana are cut into words instead.

    Args:
        text: Any text.
        chinese: How Chinese is cut.

    Returns:
        Tokens in order; nothing for white space and marks.
    """
    if text.isascii():
        # Most English text: case and the backquote are all there is to normalise.
        return _words(_ASCII_CHUNK.findall(text.lower().replace("`", "'")))
    tokens: list[str] = []
    for chunk in _CHUNK.findall(normalize(text)):
        if _is_east_asian(chunk[0]):
            tokens.extend(_east_asian(chunk, chinese))
        else:
            tokens.extend(_words([chunk]))
    return tokens


def _words(chunks: list[str]) -> list[str]:
    tokens: list[str] = []
    for chunk in chunks:
        if chunk.isalnum():
            tokens.append(chunk)
        elif _HAS_DIGIT.search(chunk):
            tokens.extend(_CODE.findall(_THOUSANDS.sub("", chunk)))
        elif _INITIALS.fullmatch(chunk):
            tokens.append(chunk)
        else:
            tokens.extend(_PART.findall(chunk))
    return tokens


def _east_asian(chunk: str, chinese: ChineseCut) -> list[str]:
    tokens: list[str] = []
    for run in _SCRIPT_RUN.finditer(chunk):
        if run.lastgroup == "han" and chinese == "jieba":
            tokens.extend(_jieba().lcut(run.group()))
        else:
            tokens.extend(_pairs(run.group()))
    return tokens


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


_is_east_asian = re.compile(f"[{_EAST_ASIAN}]").match


@lru_cache(maxsize=1)
def _jieba() -> Any:
    """A tokenizer with the dictionary inside the installed package.

    The dictionary is read directly: jieba's own start-up would load a cache from the shared temporary folder, which
    anybody on the machine could have written.
    """
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba imports pkg_resources, which warns about itself
        import jieba

    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer
