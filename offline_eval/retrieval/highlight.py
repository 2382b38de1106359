"""Where the query's terms stand in a passage, so that a reader sees at a glance why it was found."""

import re

from offline_eval.retrieval.analysis import Analyzer
from offline_eval.text.scripts import HAN, HANGUL, KANA

_EAST_ASIAN_RUN = re.compile(f"[{HAN}{KANA}{HANGUL}]+")
_WORD = re.compile(rf"[^\W{HAN}{KANA}{HANGUL}]+(?:[.'’\-][^\W{HAN}{KANA}{HANGUL}]+)*")


def term_spans(text: str, query: str, analyzer: Analyzer) -> list[tuple[int, int]]:
    """Find the query's terms.

    Args:
        text: The passage.
        query: What was searched for.
        analyzer: The index's analyzer, so that "wings" marks "wing" exactly where the search matched it.

    Returns:
        `(start, end)` in the text, ascending, without overlaps.
    """
    terms = set(analyzer.tokens(query))
    spans = [match.span() for match in _WORD.finditer(text) if terms.intersection(analyzer.tokens(match.group()))]
    east_asian = [term for term in terms if _EAST_ASIAN_RUN.fullmatch(term)]
    for run in _EAST_ASIAN_RUN.finditer(text):
        for term in east_asian:
            spans.extend(_occurrences(run.group(), term, run.start()))
    return _merged(spans)


def _occurrences(run: str, term: str, offset: int) -> list[tuple[int, int]]:
    """Also overlapping ones, as bigrams do."""
    starts = [at for at in range(len(run) - len(term) + 1) if run.startswith(term, at)]
    return [(offset + at, offset + at + len(term)) for at in starts]


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
