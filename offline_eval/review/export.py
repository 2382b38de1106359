"""A log of labels → the rows that the judge benchmark, calibration and corrected estimates read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from offline_eval.benchmark.label_files import RATER_PREFIX, SLICE_PREFIX
from offline_eval.benchmark.labels import Label, LabelRow
from offline_eval.core.records import Record
from offline_eval.report.visible import visible
from offline_eval.review.answers import CANNOT_TELL, answers_of, people
from offline_eval.review.decision_log import DecisionLog
from offline_eval.review.desk import last_queue

_ELSEWHERE = "other"  # labelled under an earlier queue and not in the last one


class Export(Record):
    """Rows, and what is not in them.

    Attributes:
        seen: Labels left out because the judge's verdict had been in view.
        undecided: Answers that say `cannot tell`.
    """

    rows: tuple[LabelRow, ...]
    seen: int
    undecided: int


def label_rows(log: DecisionLog, *, with_seen: bool = False) -> Export:
    """Everybody's labels, one row a response and dimension, in the order in which items were first labelled.

    Slices name the part of the queue (`need`, `random`), the stratum, and for the random part the weight: how many of
    the run's responses each labelled one stands for. Only the random part may be used to estimate a rate of the run.

    Args:
        with_seen: Keep labels given with the judge's verdict in view; they lean towards the judge.
    """
    entries = log.rows()
    items = {row.item: row.body for row in entries if row.kind == "item"}
    subject = next((row.body for row in entries if row.kind == "subject"), {})
    dimensions = [str(name) for name in _list(subject.get("dimensions"))]
    labels: dict[tuple[str, str], dict[str, Label]] = {}
    left_out: Counter[str] = Counter()
    for person in people(entries):
        for item, state in answers_of(person, entries, parts=dimensions).items():
            for dimension, answer in state.labels.items():
                if answer.value == CANNOT_TELL:
                    left_out["undecided"] += 1
                elif not answer.blind and not with_seen:
                    left_out["seen"] += 1
                else:
                    label = _label(items[item], dimension, answer.value)
                    labels.setdefault((item, dimension), {})[person] = label
    places = _places(log, labels)
    rows = [
        _row(item, dimension, body, labels[item, dimension], places.get((item, dimension), {"part": _ELSEWHERE}))
        for item, body in items.items()
        for dimension in dimensions
        if (item, dimension) in labels
    ]
    return Export(rows=tuple(rows), seen=left_out["seen"], undecided=left_out["undecided"])


def flat_rows(rows: Sequence[LabelRow]) -> list[dict[str, JsonValue]]:
    """The rows as the benchmark reads them from CSV: a column a rater and a column a slice."""
    raters = sorted({rater for row in rows for rater in row.labels})
    slices = sorted({name for row in rows for name in row.slices})
    found: list[dict[str, JsonValue]] = []
    for row in rows:
        data = row.model_dump(mode="json", exclude={"labels", "slices", "answer_a", "answer_b"})
        data |= {RATER_PREFIX + rater: row.labels.get(rater) for rater in raters}
        found.append(data | {SLICE_PREFIX + name: row.slices.get(name) for name in slices})
    return found


def note_rows(log: DecisionLog) -> list[dict[str, JsonValue]]:
    """Everybody's notes that were not taken back, characters that cannot be seen written out."""
    entries = log.rows()
    raters = sorted({row.person for row in entries if row.kind == "note"})
    return [
        {"response": visible(item), "rater": visible(person), "note": visible(state.note)}
        for person in raters
        for item, state in answers_of(person, entries, parts=("",)).items()
        if state.note
    ]


def _places(log: DecisionLog, labels: Mapping[tuple[str, str], object]) -> dict[tuple[str, str], dict[str, str]]:
    """Part, stratum and weight of every labelled item of the last queue, by dimension."""
    queue = last_queue(log)
    entries = {entry.key: entry for entry in queue.items} if queue else {}
    strata = queue.strata if queue else {}
    labelled = Counter(
        (dimension, entries[item].stratum)
        for item, dimension in labels
        if item in entries and entries[item].part == "random"
    )
    found = {}
    for item, dimension in labels:
        if item not in entries:
            continue
        entry = entries[item]
        found[item, dimension] = {"part": entry.part, "stratum": entry.stratum}
        if entry.part == "random":
            weight = strata[entry.stratum] / labelled[dimension, entry.stratum]
            found[item, dimension]["weight"] = f"{weight:.6g}"
    return found


def _row(
    item: str, dimension: str, body: Mapping[str, Any], labels: Mapping[str, Label], place: Mapping[str, str]
) -> LabelRow:
    scale = sorted(grade for grade in body["scales"][dimension].values() if grade is not None)
    return LabelRow.model_validate(
        {
            "id": f"{item}:{dimension}",
            "kind": "ordinal",
            "dimension": dimension,
            "query": body["query"],
            "passages": body["passages"],
            "reference": body["reference"],
            "key_points": body["key_points"],
            "answer": body["answer"],
            "scale": scale,
            "labels": dict(sorted(labels.items())),
            "slices": {**body["slices"], **place},
            "cluster": body["cluster"],
            "language": body["language"],
            "response_key": item,
            "run_id": body["run_id"],
        }
    )


def _label(body: Mapping[str, Any], dimension: str, value: str) -> Label:
    grade = float(body["scales"][dimension][value])
    return int(grade) if grade.is_integer() else grade


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
