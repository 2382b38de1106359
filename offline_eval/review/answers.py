"""The log replayed for one person: what they have answered so far, what they noted, and what an undo would take back.

Why by replay: the log is the only state, so a reload, a second window and a restart all show the same.
"""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from offline_eval.core.records import Record
from offline_eval.review.decision_log import Row

CANNOT_TELL = "none"
"""The answer of a person who cannot give a label; it counts as answered and is never exported."""

_UNDOABLE = ("label", "note", "skip")


class Answer(Record):
    """One label.

    Attributes:
        value: The rubric's label, or `CANNOT_TELL`.
        blind: Whether the person had not seen the judge's verdict on this item before.
    """

    value: str
    blind: bool
    at: str


class ItemAnswers(Record):
    """One person's state on one item.

    Attributes:
        labels: Dimension to the latest answer that was not taken back.
        revealed: Every dimension was answered at some time, so the judge's verdict has been shown.
    """

    labels: dict[str, Answer] = Field(default_factory=dict)
    note: str = ""
    skipped: bool = False
    revealed: bool = False


EMPTY = ItemAnswers()


def answers_of(person: str, rows: Sequence[Row], *, parts: Sequence[str]) -> dict[str, ItemAnswers]:
    """What one person has done.

    Args:
        parts: What makes an item complete: all of the dimensions.

    Returns:
        Item to its state, for the items the person has touched.
    """
    standing: dict[str, list[Row]] = {}
    revealed: set[str] = set()
    for row in rows:
        if row.person != person:
            continue
        if row.kind == "undo":
            undone = row.body.get("undoes")
            standing[row.item] = [kept for kept in standing.get(row.item, []) if kept.seq != undone]
        elif row.kind in _UNDOABLE:
            standing.setdefault(row.item, []).append(row)
            if set(parts) <= {kept.part for kept in standing[row.item] if kept.kind == "label"}:
                revealed.add(row.item)
    return {item: _state(kept, is_revealed=item in revealed) for item, kept in standing.items()}


def last_standing(person: str, rows: Sequence[Row]) -> Row | None:
    """The row that the person's next undo takes back; None when there is none."""
    undone = {row.body.get("undoes") for row in rows if row.person == person and row.kind == "undo"}
    mine = (row for row in reversed(rows) if row.person == person and row.kind in _UNDOABLE)
    return next((row for row in mine if row.seq not in undone), None)


def people(rows: Iterable[Row]) -> list[str]:
    """Everybody with a label, sorted."""
    return sorted({row.person for row in rows if row.kind == "label"})


def is_complete(state: ItemAnswers, parts: Sequence[str]) -> bool:
    """Whether every dimension has an answer."""
    return all(part in state.labels for part in parts)


def is_settled(states: Mapping[str, ItemAnswers], item: str, parts: Sequence[str]) -> bool:
    """Whether the queue can move on: the item is complete, or the person left it out."""
    state = states.get(item, EMPTY)
    return state.skipped or is_complete(state, parts)


def _state(rows: Sequence[Row], *, is_revealed: bool) -> ItemAnswers:
    labels: dict[str, Answer] = {}
    note, skipped = "", False
    for row in rows:
        if row.kind == "label":
            labels[row.part] = Answer(value=str(row.body["value"]), blind=bool(row.body["blind"]), at=row.at)
            skipped = False
        elif row.kind == "note":
            note = str(row.body["text"])
        else:
            skipped = True
    return ItemAnswers(labels=labels, note=note, skipped=skipped, revealed=is_revealed)
