"""Everything a leakage check found, what it looked through and what it could not look at, as rows and as lines."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from offline_eval.core.records import as_json
from offline_eval.testset.leakage import Kind, Leak
from offline_eval.testset.printed import Language, Note, printed

COLUMNS = ("kind", "method", "case", "field", "where", "likeness", "text", "found")
_ORDER: tuple[Kind, ...] = ("pair", "question", "answer", "example", "training")


class LeakageReport(NamedTuple):
    """A finished check.

    Attributes:
        looked: What was looked through.
        left_out: Every comparison that was not made, and why.
    """

    leaks: tuple[Leak, ...]
    looked: tuple[Note, ...]
    left_out: tuple[Note, ...]


def merged(leaks: Sequence[Leak]) -> tuple[Leak, ...]:
    """One leak a case, field and place, found by whatever method: a pair before a question, then the likest.

    Returns:
        Pairs first, then by likeness downwards, case and place.
    """
    best: dict[tuple[str, str, str], Leak] = {}
    for leak in leaks:
        key = (leak.case, leak.field, leak.where)
        known = best.get(key)
        if known is None or (leak.kind == "pair", leak.likeness) > (known.kind == "pair", known.likeness):
            best[key] = leak
    return tuple(
        sorted(best.values(), key=lambda leak: (_ORDER.index(leak.kind), -leak.likeness, leak.case, leak.where))
    )


def leak_rows(report: LeakageReport) -> list[dict[str, JsonValue]]:
    """One row a leak, in the columns of `COLUMNS`."""
    return [as_json(leak) for leak in report.leaks]


def leak_lines(report: LeakageReport, language: Language = "en") -> list[str]:
    """The check in words: what was found, what was looked through, what was left out."""
    words = printed(language)
    counts = {kind: sum(leak.kind == kind for leak in report.leaks) for kind in _ORDER}
    kinds = words.line("separator").join(
        words.line("leaks_of_kind", count=count, kind=words.word("leak_kind", kind))
        for kind, count in counts.items()
        if count
    )
    lines = [words.line("leaks", count=len(report.leaks), kinds=kinds) if kinds else words.line("leaks_none")]
    lines += [words.line("looked", what=words.note(note)) for note in report.looked]
    return lines + [words.line("left_out", what=words.note(note)) for note in report.left_out]
