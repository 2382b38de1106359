"""A run's file: rows are only ever appended, each carries the hash of the one before, and a batch commits whole.

Killing the program at any moment leaves a file that ends after the last whole batch; running again continues there.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from offline_eval.core.errors import StoreError
from offline_eval.core.evidence import Evidence, parse_evidence
from offline_eval.core.hashing import digest
from offline_eval.core.records import Case, Response

SCHEMA_VERSION = 1
GENESIS = "0" * 64
SUFFIX = ".sqlite"

_SCHEMA = """
CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('run', 'case', 'response', 'evidence', 'batch', 'event')),
    batch TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE INDEX log_kind ON log (kind, batch);
CREATE UNIQUE INDEX log_batch ON log (batch) WHERE kind = 'batch';
CREATE TRIGGER log_no_update BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_no_delete BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""


class LogRow(NamedTuple):
    """One row of the log; `hash` covers all other columns."""

    seq: int
    kind: str
    batch: str
    key: str
    body: str
    previous: str
    hash: str


def row_hash(seq: int, kind: str, batch: str, *, key: str, body: str, previous: str) -> str:
    """The hash a row must have."""
    return digest("log", [seq, kind, batch, key, body, previous])


class RunFile:
    """An open run file.

    Args:
        path: Created with its schema when missing and `create` is set.
        create: Whether the file is opened for writing; otherwise it must exist and is only read.

    Raises:
        StoreError: Missing, not a run file, written by a newer version, or open in another process.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        if not create and not path.is_file():
            raise StoreError(f"{path}: no such run file; see `offline-eval runs list`")
        try:
            self._db = self._open(path, create=create)
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{path}: cannot be opened as a run file: {error}") from error

    def _open(self, path: Path, *, create: bool) -> sqlite3.Connection:
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
        mode = "rwc" if create else "ro"
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=5.0)
        if create:
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
            db.execute("PRAGMA synchronous=FULL")
            db.execute("BEGIN EXCLUSIVE")
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                for statement in _SCHEMA.split(";\n"):
                    if statement.strip():
                        db.execute(statement)
                db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            db.execute("COMMIT")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version != SCHEMA_VERSION:
            raise StoreError(f"{path}: has run-file version {version}; this program reads version {SCHEMA_VERSION}")
        return db

    def close(self) -> None:
        """Close the file and release its lock."""
        self._db.close()

    def begin_run(self, configuration: dict[str, Any], cases: Sequence[Case], responses: Sequence[Response]) -> None:
        """Write the run's inputs, once; on a file that has them, do nothing."""
        if self.configuration() is not None:
            return
        rows: list[tuple[str, str, Any]] = [("run", "configuration", configuration)]
        rows += [("case", case.id, case.model_dump(mode="json")) for case in cases]
        rows += [("response", response.key, response.model_dump(mode="json")) for response in responses]
        self._append("inputs", rows)

    def configuration(self) -> dict[str, Any] | None:
        """The run's configuration; None before `begin_run`."""
        row = self._db.execute("SELECT body FROM log WHERE kind = 'run' ORDER BY seq LIMIT 1").fetchone()
        return dict(json.loads(row[0])) if row else None

    def commit_batch(self, batch: str, evidence: Sequence[Evidence]) -> None:
        """Write one batch's evidence and its mark, in one transaction.

        Raises:
            StoreError: The disk is full or the file cannot be written; what was committed before is kept.
        """
        rows: list[tuple[str, str, Any]] = [
            ("evidence", piece.response_key, piece.model_dump(mode="json")) for piece in evidence
        ]
        self._append(batch, [*rows, ("batch", batch, {"rows": len(rows)})])

    def note(self, name: str, body: dict[str, Any]) -> None:
        """Write an event: what happened around the numbers (times, loads, memory); never part of the results."""
        self._append("", [("event", name, body)])

    def committed_batches(self) -> set[str]:
        """Names of the batches that are whole."""
        return {row[0] for row in self._db.execute("SELECT batch FROM log WHERE kind = 'batch'")}

    def cases(self) -> Iterator[Case]:
        """The run's cases, in their order."""
        for (body,) in self._db.execute("SELECT body FROM log WHERE kind = 'case' ORDER BY seq"):
            yield Case.model_validate_json(body)

    def responses(self) -> Iterator[Response]:
        """The run's responses, in their order."""
        for (body,) in self._db.execute("SELECT body FROM log WHERE kind = 'response' ORDER BY seq"):
            yield Response.model_validate_json(body)

    def evidence(self) -> Iterator[Evidence]:
        """All evidence of whole batches, in the order of writing."""
        for (body,) in self._db.execute("SELECT body FROM log WHERE kind = 'evidence' ORDER BY seq"):
            yield parse_evidence(json.loads(body))

    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Events by name, in the order of writing."""
        rows = self._db.execute("SELECT key, body FROM log WHERE kind = 'event' ORDER BY seq")
        return [(name, json.loads(body)) for name, body in rows]

    def rows(self) -> Iterator[LogRow]:
        """Every row, for audits."""
        columns = ", ".join(LogRow._fields)
        for row in self._db.execute(f"SELECT {columns} FROM log ORDER BY seq"):
            yield LogRow(*row)

    def head(self) -> str:
        """Hash of the last row; covers the whole file."""
        row = self._db.execute("SELECT hash FROM log ORDER BY seq DESC LIMIT 1").fetchone()
        return str(row[0]) if row else GENESIS

    def _append(self, batch: str, rows: Sequence[tuple[str, str, Any]]) -> None:
        with self._transaction():
            last = self._db.execute("SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1").fetchone() or (0, GENESIS)
            seq, previous = int(last[0]), str(last[1])
            for kind, key, value in rows:
                seq += 1
                body = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
                hash_ = row_hash(seq, kind, batch, key=key, body=body, previous=previous)
                row = LogRow(seq, kind, batch, key, body, previous, hash_)
                self._db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                previous = hash_

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise StoreError(
                f"{self.path}: cannot be written ({error}); what was committed before is kept, run again to continue"
            ) from error
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
