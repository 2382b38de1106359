"""What is wrong or doubtful inside a test set, beyond what reading it already refuses.

Why: a question asked twice counts twice, and an unanswerable one with a reference contradicts itself; both move means
without anybody noticing.
"""

from collections.abc import Collection, Sequence
from typing import Literal

from pydantic import Field, JsonValue

from offline_eval.core.records import Case, Record
from offline_eval.testset.printed import Language, printed
from offline_eval.text.normalize import normalize_for_quote

COLUMNS = ("severity", "case", "field", "what")
_MOST_KEY_POINTS = 10

Severity = Literal["error", "warning"]


class Finding(Record):
    """One thing about one case.

    Attributes:
        severity: An `error` makes the case wrong, a `warning` asks for a look.
        code: What it is; the words for it stand in `wordings/printed.*.yaml`.
        values: What the words name.
    """

    severity: Severity
    case: str
    field: str
    code: str
    values: dict[str, str | int] = Field(default_factory=dict)

    def what(self, language: Language = "en") -> str:
        """In words."""
        return printed(language).line(f"finding_{self.code}", **self.values)

    def row(self, language: Language = "en") -> dict[str, JsonValue]:
        """One row in the columns of `COLUMNS`, with the code."""
        return {
            "severity": self.severity,
            "case": self.case,
            "field": self.field,
            "what": self.what(language),
            "code": self.code,
        }


def validate_cases(
    cases: Sequence[Case],
    *,
    passage_ids: Collection[str] | None = None,
    uncertain_ids: Collection[str] = (),
) -> list[Finding]:
    """Look through a test set.

    Args:
        passage_ids: Ids of the corpus' passages and documents; None leaves expected ids unchecked.
        uncertain_ids: Passages of documents that are there, but may have been cut in another way; a warning each.

    Returns:
        In the order of the cases.
    """
    asked: dict[str, str] = {}
    found: list[Finding] = []
    for case in cases:
        first = asked.setdefault(asked_form(case.query), case.id)
        if first != case.id:
            found.append(_finding("error", case, "query", "asked_twice", first=first))
        found += _contradictions(case)
        found += _doubts(case)
        if passage_ids is not None:
            found += _unknown_ids(case, passage_ids, uncertain_ids)
    return found


def _contradictions(case: Case) -> list[Finding]:
    found = []
    has_grades = any(grade > 0 for grade in (*case.relevant_passages.values(), *case.relevant_documents.values()))
    if case.answerable is False and has_grades:
        found.append(_finding("error", case, "answerable", "answered_unanswerable"))
    if case.answerable is False and case.key_points:
        found.append(_finding("error", case, "key_points", "points_unanswerable"))
    if case.reference is not None and not case.reference.strip():
        found.append(_finding("error", case, "reference", "empty_reference"))
    blank = [number for number, point in enumerate(case.key_points, start=1) if not point.strip()]
    if blank:
        found.append(_finding("error", case, "key_points", "empty_point", numbers=", ".join(map(str, blank))))
    return found


def _doubts(case: Case) -> list[Finding]:
    found = []
    if case.answerable is True and not (case.reference or case.key_points or case.relevant_passages):
        found.append(_finding("warning", case, "reference", "nothing_says_how"))
    if len(case.key_points) > _MOST_KEY_POINTS:
        found.append(_finding("warning", case, "key_points", "many_points", count=len(case.key_points)))
    seen = {asked_form(case.query)}
    for number, variant in enumerate(case.variants):
        if asked_form(variant) in seen:
            found.append(_finding("warning", case, "variants", "repeated_variant", number=number))
        seen.add(asked_form(variant))
    points = [asked_form(point) for point in case.key_points]
    if len(set(points)) < len(points):
        found.append(_finding("warning", case, "key_points", "repeated_point"))
    return found


def _unknown_ids(case: Case, known: Collection[str], uncertain: Collection[str]) -> list[Finding]:
    return [
        _finding("warning", case, field, "uncertain_id", id=id)
        if id in uncertain
        else _finding("error", case, field, "unknown_id", id=id)
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


def _finding(severity: Severity, case: Case, field: str, code: str, **values: str | int) -> Finding:
    return Finding(severity=severity, case=case.id, field=field, code=code, values=values)
