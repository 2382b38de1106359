"""What people decided, in the order they decided it: rows are only ever appended, and each carries the hash of the one
before.

Why: a label is a measurement. Changing or undoing one is a new row, so that nobody can tidy the data afterwards.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, JsonValue

from offline_eval.core.errors import StoreError
from offline_eval.core.hashing import digest
from offline_eval.core.records import Record

GENESIS = "0" * 64
VERSION = 1
_LOCK_SECONDS = 10.0
_APPLICATION = 0x0E1ABE15  # marks the file as ours

_SCHEMA = """
CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    person TEXT NOT NULL,
    kind TEXT NOT NULL,
    item TEXT NOT NULL,
    part TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER log_no_update BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_no_delete BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""


class Entry(Record):
    """Something to write down.

    Attributes:
        kind: What happened, for example `label`, `note`, `undo`.
        person: Who did it; empty for what the program itself states.
        item: What it is about; empty for the whole file.
        part: Which part of the item, for example a dimension.
    """

    kind: str = Field(min_length=1)
    person: str = ""
    item: str = ""
    part: str = ""
    body: dict[str, JsonValue] = Field(default_factory=dict)


class Row(Entry):
    """An entry with its place, time (UTC, ISO 8601) and hash, which covers everything else."""

    seq: int = Field(ge=1)
    at: str
    previous: str
    hash: str


def is_decision_log(path: Path) -> bool:
    """Whether a file is a log of ours, by the mark in its header."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        header = stream.read(72)
    return header[:6] == b"SQLite" and header[68:72] == _APPLICATION.to_bytes(4, "big")


def utc_now() -> str:
    """The time as it is written into a row."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class DecisionLog:
    """An open log; several programs may append to one file at the same time.

    Args:
        path: Created when missing and `create` is set.
        clock: Gives a row's time.

    Raises:
        StoreError: Missing, not a log, written by a newer version, or altered.
    """

    def __init__(self, path: Path, *, create: bool = False, clock: Callable[[], str] = utc_now) -> None:
        self.path = path
        self._clock = clock
        self._read: list[Row] = []
        if not create and not path.is_file():
            raise StoreError(f"{path}: no such labels file; `offline-eval review RUN` makes one")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # One thread at a time uses it, though a web server may not keep to the one that opened it.
            self._db = sqlite3.connect(path, isolation_level=None, timeout=_LOCK_SECONDS, check_same_thread=False)
        except (sqlite3.DatabaseError, OSError) as error:
            raise StoreError(f"{path}: cannot be opened: {error}; check the folder") from error
        try:
            self._prepare(create=create)
            self.rows()
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def rows(self) -> list[Row]:
        """Every row, oldest first; those written by others since the last call included.

        Raises:
            StoreError: A row does not follow from the one before: the file was altered.
        """
        self._read += self._rows_after(self._read[-1] if self._read else None)
        return list(self._read)

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries, all or none; they are on the disk when this returns.

        Raises:
            StoreError: The file cannot be written; what was there before is kept.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            last = self._db.execute("SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1").fetchone() or (0, GENESIS)
            seq, previous, at = int(last[0]), str(last[1]), self._clock()
            for entry in entries:
                seq += 1
                row = _row(seq, at, entry, previous=previous)
                self._db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _columns(row))
                previous = row.hash
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if not isinstance(error, sqlite3.DatabaseError):
                raise
            raise StoreError(f"{self.path}: cannot be written: {error}; what was there before is kept") from error

    def head(self) -> str:
        """Hash of the last row; covers the whole file."""
        rows = self.rows()
        return rows[-1].hash if rows else GENESIS

    def _prepare(self, *, create: bool) -> None:
        try:
            if create:
                self._create()
            found = self._db.execute("PRAGMA application_id").fetchone()[0]
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path}: cannot be read as a labels file: {error}") from error
        if found != _APPLICATION:
            raise StoreError(f"{self.path}: not a labels file; name one that `offline-eval review` made")
        if version != VERSION:
            raise StoreError(f"{self.path}: has version {version}, this program reads version {VERSION}")

    def _create(self) -> None:
        """Lay the schema down in a new file; one transaction, so that two programs may come at once."""
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("BEGIN IMMEDIATE")
        if self._db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
            for statement in _SCHEMA.split(";\n"):
                if statement.strip():
                    self._db.execute(statement)
            self._db.execute(f"PRAGMA application_id={_APPLICATION}")
            self._db.execute(f"PRAGMA user_version={VERSION}")
        self._db.execute("COMMIT")

    def _rows_after(self, last: Row | None) -> list[Row]:
        seq, previous = (last.seq, last.hash) if last else (0, GENESIS)
        found = []
        try:
            stored = self._db.execute("SELECT * FROM log WHERE seq > ? ORDER BY seq", (seq,)).fetchall()
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path}: cannot be read: {error}") from error
        for position, columns in enumerate(stored, seq + 1):
            row = _parsed(columns)
            if row is None or row.seq != position or row.previous != previous or row != _rehashed(row):
                raise StoreError(
                    f"{self.path}: row {position} was altered, inserted or removed; take the file from a backup"
                )
            found.append(row)
            previous = row.hash
        return found


def _row(seq: int, at: str, entry: Entry, *, previous: str) -> Row:
    hash_ = digest("decision", [seq, at, entry.model_dump(mode="json"), previous])
    return Row(seq=seq, at=at, previous=previous, hash=hash_, **entry.model_dump())


def _rehashed(row: Row) -> Row:
    entry = Entry.model_validate(row.model_dump(include=set(Entry.model_fields)))
    return _row(row.seq, row.at, entry, previous=row.previous)


def _columns(row: Row) -> tuple[str | int, ...]:
    body = json.dumps(row.body, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return (row.seq, row.at, row.person, row.kind, row.item, row.part, body, row.previous, row.hash)


def _parsed(columns: tuple[str | int, ...]) -> Row | None:
    names = ("seq", "at", "person", "kind", "item", "part", "body", "previous", "hash")
    data: dict[str, object] = dict(zip(names, columns, strict=True))
    try:
        return Row.model_validate({**data, "body": json.loads(str(data["body"]))})
    except ValueError:
        return None
