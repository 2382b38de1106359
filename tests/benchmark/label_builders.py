"""Small label rows and answers for the benchmark's tests."""

from collections.abc import Sequence

from offline_eval.benchmark.labels import JudgedRow, LabelRow, LabelSet, label_sets
from offline_eval.core.records import Passage
from offline_eval.core.results import Status


def binary_row(name: str, *labels: int | None, **fields: object) -> LabelRow:
    given = {f"r{place}": label for place, label in enumerate(labels, 1) if label is not None}
    values: dict[str, object] = {
        "id": name,
        "kind": "binary",
        "dimension": "faithfulness",
        "query": f"question {name}?",
        "passages": (Passage(id="p1", text=f"The passage says {name}."),),
        "answer": f"It says {name}.",
        "labels": given,
        "language": "en",
    }
    return LabelRow.model_validate({**values, **fields})


def ordinal_row(name: str, *labels: float | None, scale: Sequence[float] = (1, 2, 3), **fields: object) -> LabelRow:
    return binary_row(name, *labels, kind="ordinal", scale=tuple(scale), **fields)  # type: ignore[arg-type]


def pair_row(name: str, *labels: str | None, **fields: object) -> LabelRow:
    given = {f"r{place}": label for place, label in enumerate(labels, 1) if label is not None}
    values: dict[str, object] = {
        "id": name,
        "kind": "pairwise",
        "dimension": "preference",
        "query": f"question {name}?",
        "answer_a": f"the first answer to {name}",
        "answer_b": f"second {name}",
        "labels": given,
        "language": "en",
    }
    return LabelRow.model_validate({**values, **fields})


def one_set(rows: Sequence[LabelRow], name: str = "set") -> LabelSet:
    (found,) = label_sets(rows, name)
    return found


def answers(rows: Sequence[LabelRow], decisions: Sequence[float | None], *, judge: str = "judge") -> list[JudgedRow]:
    """One answer a row with its decision as score; None is a failed row."""
    return [
        JudgedRow(row_id=row.id, judge=judge, status=Status.FAILED, status_reason="engine_error: no answer")
        if decision is None
        else JudgedRow(row_id=row.id, judge=judge, decision=decision, score=decision)
        for row, decision in zip(rows, decisions, strict=True)
    ]
