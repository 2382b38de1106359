"""What is wrong or doubtful inside a test set, beyond what reading it already refuses.

Why: a question asked twice counts twice, and an unanswerable one with a reference contradicts itself; both move means
without anybody noticing.
"""

from collections.abc import Collection, Sequence
from typing import Literal

from offline_eval.core.records import Case, Record
from offline_eval.text.normalize import normalize_for_quote

_MOST_KEY_POINTS = 10


class Finding(Record):
    """One thing about one case.

    Attributes:
        severity: An `error` makes the case wrong, a `warning` asks for a look.
    """

    severity: Literal["error", "warning"]
    case: str
    field: str
    what: str


def validate_cases(cases: Sequence[Case], *, passage_ids: Collection[str] | None = None) -> list[Finding]:
    """Look through a test set.

    Args:
        passage_ids: Ids of the corpus' passages and documents; None leaves expected ids unchecked.

    Returns:
        In the order of the cases.
    """
    asked: dict[str, str] = {}
    found: list[Finding] = []
    for case in cases:
        first = asked.setdefault(asked_form(case.query), case.id)
        if first != case.id:
            found.append(_error(case, "query", f"asks the same as case {first}"))
        found += _contradictions(case)
        found += _doubts(case)
        if passage_ids is not None:
            found += _unknown_ids(case, passage_ids)
    return found


def _contradictions(case: Case) -> list[Finding]:
    found = []
    has_grades = any(grade > 0 for grade in (*case.relevant_passages.values(), *case.relevant_documents.values()))
    if case.answerable is False and has_grades:
        found.append(_error(case, "answerable", "is not answerable, yet names passages that answer it"))
    if case.answerable is False and case.key_points:
        found.append(_error(case, "key_points", "is not answerable, yet has key points of an answer"))
    if case.reference is not None and not case.reference.strip():
        found.append(_error(case, "reference", "is empty; leave it out, or write one"))
    blank = [number for number, point in enumerate(case.key_points, start=1) if not point.strip()]
    if blank:
        found.append(_error(case, "key_points", f"number {', '.join(map(str, blank))} is empty"))
    return found


def _doubts(case: Case) -> list[Finding]:
    found = []
    if case.answerable is True and not (case.reference or case.key_points or case.relevant_passages):
        found.append(
            _warning(case, "reference", "answerable, but nothing says how: no reference, key point or passage")
        )
    if len(case.key_points) > _MOST_KEY_POINTS:
        found.append(_warning(case, "key_points", f"{len(case.key_points)} of them; three to five are usual"))
    seen = {asked_form(case.query)}
    for number, variant in enumerate(case.variants):
        if asked_form(variant) in seen:
            found.append(_warning(case, "variants", f"number {number} repeats the query or another variant"))
        seen.add(asked_form(variant))
    points = [asked_form(point) for point in case.key_points]
    if len(set(points)) < len(points):
        found.append(_warning(case, "key_points", "one repeats another"))
    return found


def _unknown_ids(case: Case, known: Collection[str]) -> list[Finding]:
    return [
        _error(case, field, f"names {id!r}, which the corpus does not have")
        for field, grades in (
            ("relevant_passages", case.relevant_passages),
            ("relevant_documents", case.relevant_documents),
        )
        for id in grades
        if id not in known
    ]


def asked_form(text: str) -> str:
    """A text without marks, width and case, for telling whether two ask the same."""
    return "".join(filter(str.isalnum, normalize_for_quote(text)))


def _error(case: Case, field: str, what: str) -> Finding:
    return Finding(severity="error", case=case.id, field=field, what=what)


def _warning(case: Case, field: str, what: str) -> Finding:
    return Finding(severity="warning", case=case.id, field=field, what=what)
