"""Keeps what a judge said about a label set, batch by batch, so that an interrupted benchmark continues.

One JSON line a batch, flushed to disk when it is whole; a last line that was torn by a crash is dropped. The file's
name holds the hash of everything that decides the answers, so answers to other questions are never taken for these.
"""

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import JsonValue, ValidationError

from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.core.errors import StoreError
from offline_eval.core.hashing import digest
from offline_eval.core.records import Record

BATCH_ROWS = 64
Ask = Callable[[Sequence[LabelRow]], list[JudgedRow]]


class AnsweredBatch(Record):
    """Rows that were asked together.

    Attributes:
        name: Place and hash of the rows.
        seconds: What the answers took.
    """

    name: str
    seconds: float
    answers: tuple[JudgedRow, ...]


class AnswerLog:
    """The answers of one judge to one label set.

    Args:
        folder: Made when the first batch is written.
        judge: For the file's name.
        identity: JSON data of everything that decides the answers, the labels' hash included.
    """

    def __init__(self, folder: Path, judge: str, identity: JsonValue) -> None:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", judge).strip("-.") or "judge"
        self.path = folder / f"{plain}-{digest('BenchmarkAnswers', identity)[:16]}.jsonl"
        self._known = {batch.name: batch for batch in _read(self.path)}

    def batch(self, name: str) -> AnsweredBatch | None:
        """A batch that is whole."""
        return self._known.get(name)

    def append(self, batch: AnsweredBatch) -> None:
        """Keep a batch, on disk before this returns.

        Raises:
            StoreError: The file cannot be written.
        """
        line = json.dumps(batch.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _cut_torn_line(self.path)
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written ({error}); what was written before is kept") from error
        self._known[batch.name] = batch


def answered(
    rows: Sequence[LabelRow],
    log: AnswerLog,
    ask: Ask,
    *,
    prepare: Callable[[], None] = lambda: None,
    batch_rows: int = BATCH_ROWS,
    progress: Callable[[int, int], None] = lambda done, total: None,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[list[JudgedRow], float]:
    """Answers to all rows: kept ones from the log, the others by asking.

    Args:
        rows: In a fixed order; a batch is known by its place and its rows.
        ask: Asks about a batch; never called when everything is kept.
        prepare: Called before each time that `ask` is, such as to load a model; its time is not counted.
        progress: Called after every batch with rows done and in all.
        clock: Seconds, monotonic.

    Returns:
        One answer a row, in order, and the seconds that asking took, earlier runs included.
    """
    found: list[JudgedRow] = []
    seconds = 0.0
    for start in range(0, len(rows), batch_rows):
        part = rows[start : start + batch_rows]
        name = f"{start:06d}/{digest('batch', [row.content_hash() for row in part])[:12]}"
        batch = log.batch(name)
        if batch is None:
            prepare()
            began = clock()
            answers = tuple(ask(part))
            batch = AnsweredBatch(name=name, seconds=clock() - began, answers=answers)
            log.append(batch)
        found += batch.answers
        seconds += batch.seconds
        progress(len(found), len(rows))
    return found, seconds


def _read(path: Path) -> list[AnsweredBatch]:
    """Whole lines; what follows the last line end was torn by a crash, and that batch is asked again."""
    if not path.is_file():
        return []
    *lines, _ = path.read_bytes().split(b"\n")
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(AnsweredBatch.model_validate_json(line))
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            raise StoreError(f"{path}:{number}: holds no batch of answers ({why}); delete the file") from None
    return found


def _cut_torn_line(path: Path) -> None:
    if not path.is_file():
        return
    with path.open("r+b") as stream:
        stream.truncate(stream.read().rfind(b"\n") + 1)
