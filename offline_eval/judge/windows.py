"""Passages that do not fit a judge's context are shown in windows by a stated rule; nothing is cut off.

The rule: all sentences of all passages, in order, are dealt out to n windows of about equal length, without overlap.
It depends on nothing but the passages and n, so the window of a stored verdict can be made again.
"""

from collections.abc import Iterator, Sequence

from offline_eval.core.records import Passage
from offline_eval.text.sentences import split_sentences

MAX_WINDOWS = 64


def windows(passages: Sequence[Passage], n: int) -> list[tuple[Passage, ...]]:
    """Deal the passages' sentences out to n windows.

    Args:
        n: Number of windows, 1 or more; fewer come back when there are fewer sentences.

    Returns:
        Windows of passages with their ids; a passage that is divided appears in each of its windows with its part.
        Joined in order, the parts are the passages' texts.
    """
    total = sum(len(passage.text) for passage in passages)
    if n == 1 or total == 0:
        return [tuple(passages)]
    found: list[list[Passage]] = [[] for _ in range(n)]
    offset = 0
    for passage, piece in _pieces(passages, -(-total // n)):
        window = found[offset * n // total]
        offset += len(piece)
        if window and window[-1].id == passage.id:
            window[-1] = passage.model_copy(update={"text": window[-1].text + piece})
        else:
            window.append(passage.model_copy(update={"text": piece}))
    return [tuple(window) for window in found if window]


def _pieces(passages: Sequence[Passage], size: int) -> Iterator[tuple[Passage, str]]:
    """Sentences with the white space that follows them; a sentence longer than a window is divided at its size."""
    for passage in passages:
        ends = [sentence.start for sentence in split_sentences(passage.text)][1:] + [len(passage.text)]
        start = 0
        for end in ends:
            for cut in range(start, end, size):
                yield passage, passage.text[cut : min(cut + size, end)]
            start = end
