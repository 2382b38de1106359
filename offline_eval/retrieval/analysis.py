"""Text to search terms: one analyzer for passages and queries, with a hash, since an index fits only its own terms."""

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
        self._stemmer = None
        if settings.stemmer is not None:
            import Stemmer

            if settings.stemmer not in Stemmer.algorithms():
                known = ", ".join(Stemmer.algorithms())
                raise UsageError(f"unknown stemmer {settings.stemmer!r}; known: {known}")
            self._stemmer = Stemmer.Stemmer(settings.stemmer)

    def tokens(self, text: str) -> list[str]:
        """The terms of a text, in order, repeated where they repeat."""
        words = tokenize(text, chinese=self.settings.chinese)
        if self.settings.stop_words:
            words = [word for word in words if word not in STOP_WORDS]
        if self._stemmer is None:
            return words
        # Numbers and codes ("v2s", "3.5") stay whole; words of other scripts the stemmer leaves alone by itself.
        stems = self._stemmer.stemWords(words)
        return [
            stem if word.isalpha() or word.replace("'", "").isalpha() else word
            for word, stem in zip(words, stems, strict=True)
        ]

    @cached_property
    def hash(self) -> str:
        """Hash of the settings and of what they make of a fixed text."""
        return digest("Analyzer", {"settings": self.settings.model_dump(), "probe": self.tokens(_PROBE)})
