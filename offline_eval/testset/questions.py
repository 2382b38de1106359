"""Questions inside running text, and questions that ask the same in other words or in another order.

Why questions alone: that a passage states an answer is what a corpus is for; that it asks the test's question is
a leak.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from offline_eval.testset.shared_runs import Shared, units
from offline_eval.text.tokens import tokenize

LEAST_LIKENESS = 0.9
_NEARLY_WHOLE = 0.95
_SHORTEST_PLURAL = 3
_FUNCTION_WORDS_TEXT = """
    a an the of to in on at for by with and or is are was were be do does did has have will would can could may please
    tell me 的 了 吗 呢 啊 吧 呀 请 问 是 在 和 与 及 或 也 都 就 被 把 其
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS_TEXT.split())
_ASKING_TEXT = "who whom whose what which when where why how 谁 什 么 多 少 哪 几 何 怎 吗"
_ASKING_UNITS = frozenset(_ASKING_TEXT.split())
_SENTENCE = re.compile(r"[^。！？!?\n]+?(?:[。！？!?\n]|\.(?=\s)|$)")
_ENDS = re.compile(r"[?？]\W*$")
_ASKS = re.compile(
    r"^\W*(?:q\s*[:.]\s*)?(?:what|who|whom|whose|which|when|where|why|how)\b|"
    r"什么|多少|如何|怎么|怎样|哪|是否|能否|可否|可不可以|多久|多长|几[天年月个次岁]|为何|谁|吗",
    re.IGNORECASE,
)
_ANY = re.compile(rf"[?？]|{_ASKS.pattern}", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"^\W*(?:q(?:uestion)?|问题?)\s*\d{0,3}\s*[:：.]\s*", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
# What is asked for, where the words say it; two questions that ask for different things are never the same.
_ASKED_FOR = {
    "person": re.compile(r"\bwho(?:m|se)?\b|\bwhich (?:person|people)\b|谁|哪位|何人", re.IGNORECASE),
    "time": re.compile(
        r"\bwhen\b|\b(?:what|which) (?:year|month|day|date|time)\b|什么时候|何时|哪[一]?[年天月日]|几[月点]",
        re.IGNORECASE,
    ),
    "place": re.compile(r"\bwhere\b|哪里|哪儿|何处|什么地方", re.IGNORECASE),
    "reason": re.compile(r"\bwhy\b|为什么|为何|原因", re.IGNORECASE),
}


def is_question(text: str) -> bool:
    """Whether a sentence asks: it ends with a question mark, or has a word that asks where such words stand."""
    return bool(_ENDS.search(text) or _ASKS.search(text))


def questions_in(text: str) -> list[str]:
    """The sentences of a text that ask something, without a `Q:` or `问：` before them."""
    if not _ANY.search(text):
        return []
    sentences = (match.group().strip() for match in _SENTENCE.finditer(text))
    return [_LABEL.sub("", sentence) for sentence in sentences if is_question(sentence)]


class AlikeQuestion(NamedTuple):
    """A question that asks the same, with its likeness in [0, 1]."""

    key: str
    likeness: float


class Questions:
    """Questions to look for.

    Two are alike when they say the same words (in Chinese characters), in whatever order: the Dice overlap of their
    words, function words aside, is at least `least`, only one of them says something that the other does not, and
    `may_ask_the_same` holds. One word put in another's place makes another question.

    Args:
        texts: Key to question.
        least: Overlap from which two ask the same, in (0, 1].
    """

    def __init__(self, texts: Mapping[str, str], *, least: float = LEAST_LIKENESS) -> None:
        self._least = least
        self._texts = texts
        self._words = {key: _telling_words(text) for key, text in texts.items()}
        self._with: defaultdict[str, list[str]] = defaultdict(list)
        for key, said in self._words.items():
            for word in said:
                self._with[word].append(key)

    def alike(self, question: str) -> list[AlikeQuestion]:
        """Those that ask the same as a given one, most alike first, then by key."""
        said = _telling_words(question)
        shared = Counter(key for word in said for key in self._with.get(word, ()))
        found = []
        for key, count in shared.items():
            other = self._words[key]
            likeness = 2 * count / (len(said) + len(other))
            if likeness < self._least or count < min(len(said), len(other)):
                continue
            if may_ask_the_same(question, self._texts[key]):
                found.append(AlikeQuestion(key, likeness))
        return sorted(found, key=lambda item: (-item.likeness, item.key))


def is_whole_question(shared: Shared, *, least: float) -> bool:
    """Whether a passage holds a question and not only most of its words.

    `least` of it stands in runs, the words that ask are among them (else the passage states what is asked), and of the
    rest nothing is left but function words unless that is less than a twentieth.
    """
    if shared.share < least or shared.left & _ASKING_UNITS:
        return False
    return shared.share >= _NEARLY_WHOLE or shared.left <= FUNCTION_WORDS


def may_ask_the_same(first: str, second: str) -> bool:
    """Whether no number differs between two questions, and neither asks for a person, time, place or reason that the
    other does not ask for.

    A question that says none of these ("what", "how") may be the same as any.
    """
    if _numbers(first) != _numbers(second):
        return False
    left, right = ({name for name, asks in _ASKED_FOR.items() if asks.search(text)} for text in (first, second))
    return not left or not right or bool(left & right)


def _telling_words(text: str) -> frozenset[str]:
    """Words, an English plural as its singular, and Chinese characters; function words only where nothing else is."""
    found = frozenset(_singular(unit) for unit in units(text))
    return found - FUNCTION_WORDS or found


def _singular(word: str) -> str:
    is_plural = len(word) > _SHORTEST_PLURAL and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural else word


def _numbers(text: str) -> frozenset[str]:
    return frozenset(token for token in tokenize(text) if _DIGIT.search(token))
