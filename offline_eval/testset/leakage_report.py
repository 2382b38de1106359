"""Everything a leakage check found, what it looked through and what it could not look at, as rows and as lines."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from offline_eval.core.records import as_json
from offline_eval.testset.leakage import Kind, Leak

COLUMNS = ("kind", "method", "case", "field", "where", "likeness", "text", "found")
_SAID: dict[Kind, str] = {
    "pair": "questions with their answer in the corpus",
    "question": "questions in the corpus",
    "answer": "answers outside their sources",
    "example": "questions or answers among worked examples",
    "training": "questions or answers in training data",
}


class LeakageReport(NamedTuple):
    """A finished check.

    Attributes:
        looked: What was looked through, one line each.
        left_out: What could not be looked at and why, one line each.
    """

    leaks: tuple[Leak, ...]
    looked: tuple[str, ...]
    left_out: tuple[str, ...]


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
    order = list(_SAID)
    return tuple(
        sorted(best.values(), key=lambda leak: (order.index(leak.kind), -leak.likeness, leak.case, leak.where))
    )


def leak_rows(report: LeakageReport) -> list[dict[str, JsonValue]]:
    """One row a leak, in the columns of `COLUMNS`."""
    return [as_json(leak) for leak in report.leaks]


def leak_lines(report: LeakageReport) -> list[str]:
    """The check in words: what was found, what was looked through, what was left out."""
    counts = {kind: sum(leak.kind == kind for leak in report.leaks) for kind in _SAID}
    found = ", ".join(f"{count} {_SAID[kind]}" for kind, count in counts.items() if count)
    lines = [f"{len(report.leaks)} leaks: {found}" if found else "no leak found"]
    lines += [f"looked through {line}" for line in report.looked]
    return lines + [f"not looked at: {line}" for line in report.left_out]
