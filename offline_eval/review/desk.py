"""One person at one queue: what they may do, each as an entry in the log."""

from collections.abc import Callable
from pathlib import Path

from pydantic import JsonValue

from offline_eval.core.errors import DataError, UsageError
from offline_eval.report.visible import visible
from offline_eval.review.agreement import Agreement, between_people, blind_grades, with_judges
from offline_eval.review.answers import (
    CANNOT_TELL,
    EMPTY,
    ItemAnswers,
    answers_of,
    is_complete,
    is_settled,
    last_standing,
    people,
)
from offline_eval.review.decision_log import DecisionLog, Entry, Row, utc_now
from offline_eval.review.queue import Queue, draw_queue
from offline_eval.review.reviewed_run import ReviewedRun

DEFAULT_SIZE = 60
LABELS_SUFFIX = ".labels.db"  # not `.sqlite`: a folder's runs are found by that ending
LONGEST_NOTE = 4000  # characters
_LONGEST_NAME = 64


class Desk:
    """A person's place at a queue.

    Args:
        show_verdicts: Show the judge's verdict from the start; labels are then not blind.
    """

    def __init__(self, run: ReviewedRun, log: DecisionLog, queue: Queue, *, person: str, show_verdicts: bool) -> None:
        self.run = run
        self.queue = queue
        self.person = person
        self.show_verdicts = show_verdicts
        self._log = log
        self._places = {item.key: place for place, item in enumerate(queue.items)}

    def states(self) -> dict[str, ItemAnswers]:
        """Response key to the person's own answers; nobody else's are in it."""
        return answers_of(self.person, self._log.rows(), parts=self.run.dimensions)

    def is_revealed(self, state: ItemAnswers) -> bool:
        """Whether the judge's verdict may be seen."""
        return self.show_verdicts or state.revealed

    def settled(self, states: dict[str, ItemAnswers]) -> int:
        """How many items of the queue need nothing more."""
        return sum(is_settled(states, item.key, self.run.dimensions) for item in self.queue.items)

    def next_open(self, states: dict[str, ItemAnswers], *, after: int = -1) -> int | None:
        """Place of the next item that is not settled, from the beginning again after the end; None when all are."""
        places = [*range(after + 1, len(self.queue.items)), *range(after + 1)]
        return next((p for p in places if not is_settled(states, self.queue.items[p].key, self.run.dimensions)), None)

    def status(self, state: ItemAnswers) -> str:
        """`done`, `skipped`, `partial` or `open`."""
        if is_complete(state, self.run.dimensions):
            return "done"
        if state.skipped:
            return "skipped"
        return "partial" if state.labels else "open"

    def can_label(self, key: str, dimension: str, value: str) -> bool:
        """Whether a label is one that the screen offers."""
        rubric = self.run.screen(key).rubric(dimension)
        return rubric is not None and value in (*rubric.labels, CANNOT_TELL)

    def label(self, key: str, dimension: str, value: str) -> None:
        """Write a label down; `can_label` holds."""
        state = self.states().get(key, EMPTY)
        rubric = self.run.screen(key).rubric(dimension)
        body: dict[str, JsonValue] = {
            "value": value,
            "blind": not self.is_revealed(state),
            "rubric": rubric.id if rubric else "",
        }
        entry = Entry(kind="label", person=self.person, item=key, part=dimension, body=body)
        known = any(row.kind == "item" and row.item == key for row in self._log.rows())
        self._log.append([entry] if known else [Entry(kind="item", item=key, body=self.run.shown(key)), entry])

    def note(self, key: str, text: str) -> None:
        """Write a note down; it replaces the one before."""
        self._log.append([Entry(kind="note", person=self.person, item=key, body={"text": text})])

    def skip(self, key: str) -> None:
        """Leave an item out for now."""
        self._log.append([Entry(kind="skip", person=self.person, item=key)])

    def undo(self) -> Row | None:
        """Take the person's last label, note or skip back.

        Returns:
            The row that no longer counts; None when there was nothing to undo.
        """
        last = last_standing(self.person, self._log.rows())
        if last is not None:
            self._log.append([Entry(kind="undo", person=self.person, item=last.item, body={"undoes": last.seq})])
        return last

    def place_of(self, key: str) -> int | None:
        """Where an item stands in the queue, from 0."""
        return self._places.get(key)

    def agreement(self) -> tuple[list[Agreement], list[Agreement]]:
        """The person against the judges, and people among each other."""
        return agreement(self.run, self._log, self.queue, person=self.person)


def agreement(
    run: ReviewedRun, log: DecisionLog, queue: Queue, *, person: str
) -> tuple[list[Agreement], list[Agreement]]:
    """One person against every judge of a run, and all people among each other, by dimension."""
    rows = log.rows()
    states = {name: answers_of(name, rows, parts=run.dimensions) for name in {person, *people(rows)}}
    clusters = run.clusters()
    random_part = frozenset(item.key for item in queue.items if item.part == "random")
    judged, among = [], []
    for dimension in run.dimensions:
        grade_of = run.grade_of(dimension)
        grades = {name: blind_grades(found, dimension, grade_of) for name, found in states.items()}
        judged += with_judges(
            person,
            grades[person],
            run.grades(dimension),
            dimension=dimension,
            clusters=clusters,
            random_part=random_part,
        )
        among += between_people(
            {name: found for name, found in grades.items() if found}, dimension=dimension, clusters=clusters
        )
    return judged, among


def open_log(
    run: ReviewedRun, path: Path, *, size: int | None = None, clock: Callable[[], str] = utc_now
) -> tuple[DecisionLog, Queue]:
    """Open a labels file for a run, and draw the run's queue or take up the one that was drawn before.

    Args:
        size: Items wanted; None for as many as before, or `DEFAULT_SIZE`. The random part of a larger queue holds that
            of a smaller one.

    Raises:
        UsageError: The run has nothing to label.
        DataError: The file holds labels of other cases or responses.
        StoreError: The file cannot be used.
    """
    if not run.keys:
        raise UsageError(f"run {run.run_id} has no answer to label; every response failed or there are none")
    log = DecisionLog(path, create=True, clock=clock)
    if not log.rows():
        log.append([Entry(kind="subject", body=run.subject())])
    _check_subject(run, log)
    drawn = last_queue(log, run_id=run.run_id)
    if drawn is not None and size in (None, drawn.size):
        return log, drawn
    queue = draw_queue(run.candidates(), size=size or DEFAULT_SIZE, seed=run.seed)
    log.append([Entry(kind="queue", part=run.run_id, body=queue.model_dump(mode="json"))])
    return log, queue


def read_log(run: ReviewedRun, path: Path) -> tuple[DecisionLog, Queue]:
    """Open a labels file to read it, with the queue of this run; or of another over the same responses, whose random
    part is as good for this one.

    Raises:
        DataError: The file holds labels of other cases or responses, or no queue.
        StoreError: The file cannot be used.
    """
    log = DecisionLog(path)
    _check_subject(run, log)
    queue = last_queue(log, run_id=run.run_id) or last_queue(log)
    if queue is None:
        raise DataError(f"{path}: holds no queue; `offline-eval review` draws one")
    return log, queue


def _check_subject(run: ReviewedRun, log: DecisionLog) -> None:
    subject = next((row.body for row in log.rows() if row.kind == "subject"), None)
    if subject != run.subject():
        log.close()
        raise DataError(
            f"{log.path}: holds labels of other cases, responses or dimensions than run {run.run_id}; name another "
            "file with --labels"
        )


def labels_path(run_path: Path) -> Path:
    """Where a run's labels are kept unless another file is named: beside it."""
    return run_path.with_name(f"{run_path.stem}{LABELS_SUFFIX}")


def last_queue(log: DecisionLog, *, run_id: str | None = None) -> Queue | None:
    """The queue drawn last, for one run or for any."""
    rows = (row for row in reversed(log.rows()) if row.kind == "queue" and run_id in (None, row.part))
    return next((Queue.model_validate(row.body) for row in rows), None)


def check_name(name: str, *, option: str = "--rater") -> str:
    """A rater's name, without white space around it.

    Args:
        option: Where the name was given, for the message.

    Raises:
        UsageError: Empty, long, or with characters that cannot be seen.
    """
    stripped = name.strip()
    if not stripped or len(stripped) > _LONGEST_NAME or visible(stripped) != stripped:
        raise UsageError(f"{option} {visible(name)!r}: give a name of 1 to {_LONGEST_NAME} printable characters")
    return stripped
