"""What differs between two versions of a test set, case by case and field by field.

Why not a text diff: the order of rows and columns means nothing, and a changed reference answer means a lot.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from offline_eval.core.records import Case, Record, as_json


class FieldChange(Record):
    """One field of a case; None stands for a field that says nothing."""

    field: str
    old: JsonValue
    new: JsonValue


class CaseChange(Record):
    """A case that both versions have, under the same id, with different content."""

    id: str
    fields: tuple[FieldChange, ...]


class CaseSetDiff(Record):
    """Everything that differs, by id; enough to make either version out of the other.

    Attributes:
        added: Whole cases that only the newer version has.
        removed: Whole cases that only the older one has.
    """

    added: tuple[Case, ...] = ()
    removed: tuple[Case, ...] = ()
    changed: tuple[CaseChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    @property
    def summary(self) -> str:
        """`2 added, 1 removed, 3 changed (reference 2, key_points 1)`; `no change`."""
        if not self:
            return "no change"
        counts: dict[str, int] = {}
        for change in self.changed:
            for field in change.fields:
                counts[field.field] = counts.get(field.field, 0) + 1
        fields = ", ".join(f"{name} {count}" for name, count in counts.items())
        changed = f"{len(self.changed)} changed" + (f" ({fields})" if fields else "")
        return f"{len(self.added)} added, {len(self.removed)} removed, {changed}"


def diff_cases(old: Sequence[Case], new: Sequence[Case]) -> CaseSetDiff:
    """Compare two versions by the cases' ids; the order of cases means nothing.

    Returns:
        Everything in the order of ids.
    """
    before, after = ({case.id: case for case in cases} for cases in (old, new))
    changed = [
        CaseChange(id=id, fields=fields)
        for id in sorted(before.keys() & after.keys())
        if (fields := _changed_fields(before[id], after[id]))
    ]
    return CaseSetDiff(
        added=tuple(after[id] for id in sorted(after.keys() - before.keys())),
        removed=tuple(before[id] for id in sorted(before.keys() - after.keys())),
        changed=tuple(changed),
    )


def apply_diff(old: Sequence[Case], diff: CaseSetDiff) -> list[Case]:
    """The newer version, made of the older one and what changed.

    Returns:
        In the order of ids.

    Raises:
        ValueError: The diff belongs to another version.
    """
    cases = {case.id: case for case in old}
    gone, come = {case.id for case in diff.removed}, {case.id for case in diff.added}
    altered = {change.id for change in diff.changed}
    if not (gone | altered) <= cases.keys() or come & cases.keys():
        raise ValueError("the changes belong to another version")
    cases = {id: case for id, case in cases.items() if id not in gone} | {case.id: case for case in diff.added}
    for change in diff.changed:
        cases[change.id] = _with_fields(cases[change.id], {field.field: field.new for field in change.fields})
    return [cases[id] for id in sorted(cases)]


def diff_rows(diff: CaseSetDiff) -> list[dict[str, JsonValue]]:
    """One row a case that came or went, one a field that changed; lists and objects as they are."""
    rows: list[dict[str, JsonValue]] = []
    for change, cases in (("added", diff.added), ("removed", diff.removed)):
        for case in cases:
            old, new = (None, case.query) if change == "added" else (case.query, None)
            rows.append({"change": change, "case": case.id, "field": "query", "old": old, "new": new})
    for altered in diff.changed:
        for field in altered.fields:
            rows.append({"change": "changed", "case": altered.id, **field.model_dump(mode="json")})
    return rows


def _changed_fields(old: Case, new: Case) -> tuple[FieldChange, ...]:
    before, after = as_json(old), as_json(new)
    return tuple(
        FieldChange(field=name, old=before.get(name), new=after.get(name))
        for name in Case.model_fields
        if before.get(name) != after.get(name)
    )


def _with_fields(case: Case, fields: Mapping[str, Any]) -> Case:
    kept = {name: value for name, value in as_json(case).items() if name not in fields}
    return Case.model_validate({**kept, **{name: value for name, value in fields.items() if value is not None}})
