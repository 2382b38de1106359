"""Words and content words for comparing two texts; standards such as "GB/T 7714" and percentages stay whole.

Why apart from `tokens`: an index wants every piece that can be searched, a comparison wants what carries meaning.
"""

import re
from functools import cache
from importlib.util import find_spec

from offline_eval.text.normalize import normalize
from offline_eval.text.tokens import ChineseCut, tokenize

# A standard's number, a percentage, a sum of money: one token each, in one spelling.
_WHOLE = re.compile(
    r"(?<![a-z0-9])(?P<body>[a-z]{1,5}/[a-z]{1,3}|gb|iso|iec|ieee|rfc|din|ansi|jb|yy|hj)[ -]?(?P<number>\d[\d.:-]*\d|"
    r"\d)(?![a-z0-9])"
    r"|(?<![0-9a-z.])(?P<percent>\d+(?:,\d{3})*(?:\.\d+)?) ?%"
)

_STOP_EN = """
    a an the this that these those it its he him his she her they them their we us our you your i me my and or but if
    then so as of at by for with about into to from in on off over under out up down is are was were be been being am
    has have had do does did will would can could may might shall should must not no nor than too very just also only
    own same such there here when where which who whom what how why all any both each more most other some s t don now
    please
"""
_STOP_ZH = """
    的 了 和 是 在 有 与 及 或 也 都 就 而 但 又 还 把 被 让 向 从 到 对 于 为 以 之 其 这 那 该 此 个 们 我 你 您 他
    她 它 我们 你们 他们 她们 它们 这个 那个 这些 那些 一个 一种 并 并且 而且 但是 因为 所以 如果 可以 以及 等 等等 吗
    呢 吧 啊 着 过 地 得 很 更 最 会 要 能 将 由 于是 关于 对于 根据 其中 什么 怎么 如何 哪些 哪个 没有 不 是否 进行
    通过 需要 应该 应当 请 请问 中 上 下 里
"""


def words(text: str) -> list[str]:
    """Cut a text into words, in order and normalised.

    English words in lower case; numbers, codes, percentages (`3.5%`) and standards (`gb/t 7714`) whole; Chinese by
    jieba where it is installed, else by pairs of characters; Japanese and Korean by pairs.

    Args:
        text: Any text.

    Returns:
        The words; nothing for white space and marks.
    """
    normal = normalize(text)
    found: list[str] = []
    start = 0
    for whole in _WHOLE.finditer(normal):
        found += tokenize(normal[start : whole.start()], chinese=_chinese())
        percent = whole["percent"]
        found.append(f"{whole['body']} {whole['number']}" if percent is None else percent.replace(",", "") + "%")
        start = whole.end()
    return found + tokenize(normal[start:], chinese=_chinese())


def content_words(text: str) -> list[str]:
    """The words without English and Chinese function words; negations are among those, see `negation` for them."""
    return [word for word in words(text) if word not in _stop_words()]


@cache
def _stop_words() -> frozenset[str]:
    return frozenset((_STOP_EN + _STOP_ZH).split())


@cache
def _chinese() -> ChineseCut:
    return "jieba" if find_spec("jieba") is not None else "bigram"
