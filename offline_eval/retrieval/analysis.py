"""Text to search terms: one analyzer for passages and queries, with a hash, since an index fits only its own terms."""

import re
from functools import cached_property
from typing import Literal

from offline_eval.core.errors import UsageError
from offline_eval.core.hashing import digest
from offline_eval.core.records import Record
from offline_eval.retrieval.stop_words import STOP_WORDS
from offline_eval.text.tokens import tokenize

# Tokens of this text go into the hash, so that a changed tokenizer makes an old index foreign.
_PROBE = (
    "The U.S. patients' running shoes cost $1,234.50 (v2.1-beta); naïve café, Größe, e-mail a@b.cn. "
    "报销需要什么材料？第3条规定：差旅费按照《办法》执行。 東京タワーは高い。 대한민국 서울 GPT-4o模型"
)
_DIGIT = re.compile(r"\d")
_MOST_STEMS = 2_000_000  # about 300 MB; a corpus of natural text has fewer words


class AnalyzerSettings(Record):
    """How text becomes terms.

    Attributes:
        chinese: `bigram` needs no dictionary; `jieba` cuts words.
        stemmer: Snowball language such as `english`, applied to terms of letters alone; None leaves words as they are.
        stop_words: Leave out function words of English and Chinese.
    """

    chinese: Literal["bigram", "jieba"] = "bigram"
    stemmer: str | None = "english"
    stop_words: bool = False


class Analyzer:
    """Turns text into terms.

    Args:
        settings: How.

    Raises:
        UsageError: No such stemmer.
    """

    def __init__(self, settings: AnalyzerSettings) -> None:
        self.settings = settings
        self._stems = None if settings.stemmer is None else _Stems(settings.stemmer)

    def tokens(self, text: str) -> list[str]:
        """The terms of a text, in order, repeated where they repeat."""
        words = tokenize(text, chinese=self.settings.chinese)
        if self.settings.stop_words:
            words = [word for word in words if word not in STOP_WORDS]
        return words if self._stems is None else [self._stems[word] for word in words]

    @cached_property
    def hash(self) -> str:
        """Hash of the settings and of what they make of a fixed text."""
        return digest("Analyzer", {"settings": self.settings.model_dump(), "probe": self.tokens(_PROBE)})


class _Stems(dict[str, str]):
    """Word to stem, filled as words are met: a corpus repeats its words, and a look-up is much faster than stemming.

    Numbers and codes ("v2s", "3.5") are their own stem; words of other scripts the stemmer leaves alone by itself.
    """

    def __init__(self, language: str) -> None:
        import Stemmer

        if language not in Stemmer.algorithms():
            raise UsageError(f"unknown stemmer {language!r}; known: {', '.join(Stemmer.algorithms())}")
        super().__init__()
        self._stem = Stemmer.Stemmer(language, 0).stemWord  # 0: no cache of its own beside this one

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_STEMS:
            self.clear()
        stem: str = word if _DIGIT.search(word) else self._stem(word)
        self[word] = stem
        return stem
