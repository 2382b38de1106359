"""How alike two short texts are by their characters and by their meaning, so that a set does not ask twice."""

from functools import lru_cache
from typing import Any

from offline_eval.checks._support import unspoken
from offline_eval.core.protocols import Embedder
from offline_eval.text.language import detect_language
from offline_eval.text.normalize import normalize_for_quote

_RUN = 3  # letters
_RUN_OF_CHARACTERS = 2  # of Chinese, Japanese or Korean, where one says about as much as two letters


def likeness(first: str, second: str) -> float:
    """Jaccard similarity of runs of letters and digits, in [0, 1]; 1 for texts that differ in marks alone.

    Runs are of three letters, or of two where the first text is Chinese, Japanese or Korean.
    """
    size = _RUN_OF_CHARACTERS if detect_language(first) in ("zh", "ja", "ko") else _RUN
    left, right = _runs(first, size), _runs(second, size)
    return len(left & right) / len(left | right) if left | right else 1.0


class Seen:
    """Texts that were kept so far.

    Args:
        embedder: Also compares the meaning of texts in its languages; None compares characters alone.
        like_from: Similarity of characters from which a text is a repetition, in [0, 1].
        near_from: Cosine from which it is one, in [-1, 1].
    """

    def __init__(self, embedder: Embedder | None = None, *, like_from: float = 0.7, near_from: float = 0.95) -> None:
        self._embedder = embedder
        self._like_from = like_from
        self._near_from = near_from
        self._kept: list[tuple[str, str, Any]] = []

    def empty(self) -> "Seen":
        """Another one with the same rule that has kept nothing."""
        return Seen(self._embedder, like_from=self._like_from, near_from=self._near_from)

    def repeated(self, text: str) -> tuple[str, float, float] | None:
        """The kept text that this one repeats: its name, how like it is and from where that counts; None for none."""
        for name, other, _ in self._kept:
            value = likeness(text, other)
            if value >= self._like_from:
                return name, value, self._like_from
        vector = self._vector(text) if self._kept else None
        for name, _, other_vector in self._kept if vector is not None else ():
            cosine = -1.0 if other_vector is None else float(vector @ other_vector)
            if cosine >= self._near_from:
                return name, round(cosine, 6), self._near_from
        return None

    def keep(self, name: str, text: str) -> None:
        """Remember a text under a name."""
        self._kept.append((name, text, self._vector(text)))

    def _vector(self, text: str) -> Any:
        """The text's meaning; None where nobody can tell it."""
        if self._embedder is None or unspoken([text], self._embedder) is not None:
            return None
        return self._embedder.embed([text])[0]


@lru_cache(maxsize=16_384)
def _runs(text: str, size: int) -> frozenset[str]:
    bare = "".join(filter(str.isalnum, normalize_for_quote(text)))
    return frozenset(bare[at : at + size] for at in range(max(1, len(bare) - size + 1))) if bare else frozenset()
