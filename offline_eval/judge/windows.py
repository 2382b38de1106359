"""Passages that do not fit a judge's context are shown in windows by a stated rule; nothing is cut off.

The rule: all sentences of all passages, in order, are dealt out to n windows of about equal length, without overlap.
It depends on nothing but the passages and n, so the window of a stored verdict can be made again.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from offline_eval.core.records import Passage
from offline_eval.text.sentences import split_sentences

MAX_WINDOWS = 64


def windows(passages: Sequence[Passage], n: int) -> list[tuple[Passage, ...]]:
    """Deal the passages' sentences out to n windows.

    Args:
        n: Number of windows, 1 or more; fewer come back when a window would be empty.

    Returns:
        Windows of passages with their ids; a passage that is divided appears in each of its windows with its part.
        Joined in order, the parts are the passages' texts.
    """
    total = sum(len(passage.text) for passage in passages)
    if n == 1 or total == 0:
        return [tuple(passages)]
    parts: list[dict[int, str]] = [{} for _ in range(n)]  # of each window: place of a passage to its text there
    offset = 0
    for place, piece in _pieces(passages, -(-total // n)):
        window = parts[offset * n // total]
        window[place] = window.get(place, "") + piece
        offset += len(piece)
    return [
        tuple(passages[place].model_copy(update={"text": text}) for place, text in window.items())
        for window in parts
        if window
    ]


def _pieces(passages: Sequence[Passage], size: int) -> Iterator[tuple[int, str]]:
    """Place of a passage and a sentence of it, with the white space that follows; one longer than `size` is divided."""
    for place, passage in enumerate(passages):
        starts = [sentence.start for sentence in split_sentences(passage.text)][1:]
        for start, end in pairwise([0, *starts, len(passage.text)]):
            for cut in range(start, end, size):
                yield place, passage.text[cut : min(cut + size, end)]
