"""Cuts a long premise into overlapping chunks of whole sentences, so that a small encoder reads all of it.

An encoder that is handed too much drops the end without a word; what is read in chunks is read whole.
"""

import math
import re
from collections.abc import Callable
from itertools import pairwise

from offline_eval.text.scripts import HAN, HANGUL, KANA
from offline_eval.text.sentences import split_sentences

Span = tuple[int, int]
"""First character and the one after the last."""

_EAST_ASIAN = re.compile(f"[{HAN}{KANA}{HANGUL}]")
_CHARS_PER_TOKEN = 3.0  # of alphabets; the usual mean is 4 to 5, so a chunk of this many tokens rarely turns out longer


def estimated_tokens(text: str) -> int:
    """Tokens of a text, rather too many than too few: one an East Asian character, one three others."""
    east_asian = len(_EAST_ASIAN.findall(text))
    return east_asian + math.ceil((len(text) - east_asian) / _CHARS_PER_TOKEN)


def chunk_spans(text: str, limit: int, *, size: Callable[[str], int] = estimated_tokens) -> list[Span]:
    """Cut a text into chunks of whole sentences, neighbours sharing a sentence.

    The rule: sentences are added until the next would exceed the limit; the next chunk begins with the last sentence of
    the one before, if that leaves room for a new one. A sentence longer than the limit is divided into pieces that
    share a quarter of their length.

    Args:
        text: The premise.
        limit: Largest size of a chunk, 1 or more.
        size: Measures a piece of text; grows with it.

    Returns:
        Spans in order; together they cover everything but white space. The whole text when it fits.
    """
    if size(text) <= limit:
        return [(0, len(text))]
    pieces = [piece for sentence in split_sentences(text) for piece in _pieces(text, sentence[1:], limit, size)]
    chunks: list[Span] = []
    begin = 0
    while begin < len(pieces):
        end = begin + 1
        while end < len(pieces) and size(text[pieces[begin][0] : pieces[end][1]]) <= limit:
            end += 1
        chunks.append((pieces[begin][0], pieces[end - 1][1]))
        if end == len(pieces):
            break
        shares = end - begin > 1 and size(text[pieces[end - 1][0] : pieces[end][1]]) <= limit
        begin = end - 1 if shares else end
    return chunks


def _pieces(text: str, sentence: Span, limit: int, size: Callable[[str], int]) -> list[Span]:
    """The sentence itself, or overlapping parts of it that fit."""
    start, end = sentence
    n = 1
    while True:
        step = math.ceil((end - start) / n)
        overlap = step // 4 if n > 1 else 0
        cuts = [(at, min(end, at + step + overlap)) for at in range(start, end, step)]
        if step == 1 or all(size(text[first:last]) <= limit for first, last in cuts):
            return cuts
        n *= 2


def covers(text: str, spans: list[Span]) -> bool:
    """Whether chunks leave out nothing but white space."""
    bounds = [(0, 0), *spans, (len(text), len(text))]
    return all(not text[left[1] : right[0]].strip() for left, right in pairwise(bounds))
