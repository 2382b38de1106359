"""A run's file: rows are only ever appended, each carries the hash of the one before, and a batch commits whole.

Killing the program at any moment leaves a file that ends after the last whole batch; running again continues there.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from offline_eval.core.errors import StoreError
from offline_eval.core.evidence import Evidence, read_evidence
from offline_eval.core.records import Case, Response

T = TypeVar("T")

SCHEMA_VERSION = 1
GENESIS = "0" * 64
_quoted = json.JSONEncoder(ensure_ascii=False).encode
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
_SCHEMA_QUERY = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"


class LogRow(NamedTuple):
    """One row of the log; `hash` covers all other columns."""

    seq: int
    kind: str
    batch: str
    key: str
    body: str
    previous: str
    hash: str

    @property
    def is_whole(self) -> bool:
        """Whether the hash fits the other columns, and all are of the type they were written with."""
        if not isinstance(self.seq, int) or set(map(type, self[1:])) != {str}:
            return False
        expected = row_hash(self.seq, self.kind, self.batch, key=self.key, body=self.body, previous=self.previous)
        return self.hash == expected


def run_file_schema() -> frozenset[tuple[str, str, str]]:
    """What `RunFile.schema` gives for a file that nobody changed."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_SCHEMA)
        return frozenset(db.execute(_SCHEMA_QUERY))


def row_hash(seq: int, kind: str, batch: str, *, key: str, body: str, previous: str) -> str:
    """The hash a row must have: `digest("log", [seq, kind, …])`, written out because a large run has 100,000 rows."""
    texts = ",".join(map(_quoted, (kind, batch, key, body, previous)))
    return hashlib.sha256(f"log\x00[{seq},{texts}]".encode("utf-8", "surrogatepass")).hexdigest()


class RunFile:
    """An open run file.

    Args:
        path: Created with its schema when missing and `create` is set.
        create: Whether the file is opened for writing; otherwise it must exist and is only read.
        lock_timeout_s: Seconds to wait for another process that has the file open.

    Raises:
        StoreError: Missing, not a run file, written by a newer version, or open in another process.
    """

    def __init__(self, path: Path, *, create: bool = False, lock_timeout_s: float = 5.0) -> None:
        self.path = path
        if not create and not path.is_file():
            raise StoreError(f"{path}: no such run file; see `offline-eval runs list`")
        # Readers open for writing too, where they may: what a killed writer left half done has to be undone first.
        mode = "rwc" if create else "rw"
        try:
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            uri = f"{path.resolve().as_uri()}?mode={mode}"
            self._db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=lock_timeout_s)
        except (sqlite3.DatabaseError, OSError) as error:
            raise StoreError(f"{path}: cannot be opened: {error}; check the folder") from error
        try:
            self._prepare(create=create)
            self._check_version()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self, *, create: bool) -> None:
        if not create:
            self._all("PRAGMA query_only=ON")
            return
        self._all("PRAGMA locking_mode=EXCLUSIVE")
        self._all("PRAGMA synchronous=FULL")
        with self._transaction("EXCLUSIVE"):
            if self._all("SELECT count(*) FROM sqlite_master") == [(0,)]:
                for statement in _SCHEMA.split(";\n"):
                    if statement.strip():
                        self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    def _check_version(self) -> None:
        if self._all("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'log'") == [(0,)]:
            raise StoreError(f"{self.path}: not a run file: it has no log; name the file of a run")
        version = self._all("PRAGMA user_version")[0][0]
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.path}: has run-file version {version}, this program reads version {SCHEMA_VERSION}; "
                "read it with the version of offline-eval that wrote it"
            )

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
        return next(self._parsed("run", json.loads), None)

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
        return {str(name) for (name,) in self._all("SELECT batch FROM log WHERE kind = 'batch'")}

    def cases(self) -> Iterator[Case]:
        """The run's cases, in their order."""
        return self._parsed("case", Case.model_validate_json)

    def responses(self) -> Iterator[Response]:
        """The run's responses, in their order."""
        return self._parsed("response", Response.model_validate_json)

    def count_cases(self) -> int:
        """How many cases there are, without reading them."""
        return int(self._all("SELECT count(*) FROM log WHERE kind = 'case'")[0][0])

    def systems(self) -> list[str]:
        """The systems that answered, in the order of their first response, without reading the responses."""
        name = "coalesce(json_extract(body, '$.system'), 'system')"
        rows = self._all(f"SELECT {name}, min(seq) FROM log WHERE kind = 'response' GROUP BY 1 ORDER BY 2")
        return [str(system) for system, _ in rows]

    def evidence(self) -> Iterator[Evidence]:
        """All evidence of whole batches, in the order of writing."""
        return (value for _, value in self._read("evidence", read_evidence, hint="NOT INDEXED"))

    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Events by name, in the order of writing."""
        return [(row.key, body) for row, body in self._read("event", json.loads)]

    def rows(self) -> Iterator[LogRow]:
        """Every row, for audits."""
        return self._rows("")

    def schema(self) -> frozenset[tuple[str, str, str]]:
        """Type, name and statement of everything in the file that is not SQLite's own, for audits."""
        return frozenset(self._all(_SCHEMA_QUERY))

    def integrity_problem(self) -> str | None:
        """What SQLite's own check of pages, indexes and constraints finds first; None when all is well."""
        found = self._all("PRAGMA integrity_check(1)")
        return None if found == [("ok",)] else str(found[0][0])

    def head(self) -> str:
        """Hash of the last row; covers the whole file."""
        rows = self._all("SELECT hash FROM log ORDER BY seq DESC LIMIT 1")
        return str(rows[0][0]) if rows else GENESIS

    def _parsed(self, kind: str, read: Callable[[str], T]) -> Iterator[T]:
        return (value for _, value in self._read(kind, read))

    def _read(self, kind: str, read: Callable[[str], T], *, hint: str = "") -> Iterator[tuple[LogRow, T]]:
        """Rows of a kind with what they hold; a kind that most rows have is read faster without the index."""
        for row in self._rows(f"{hint} WHERE kind = ?", kind):
            try:
                value = read(row.body)
            except ValueError as error:
                raise StoreError(
                    f"{self.path}: row {row.seq} holds no {kind} that this program can read; "
                    "`offline-eval runs audit` says whether the file was altered"
                ) from error
            if not row.is_whole:  # a damaged disk or an editor must not become a number
                raise StoreError(
                    f"{self.path}: row {row.seq} ({kind}) was altered or is damaged; see `offline-eval runs audit`"
                )
            yield row, value

    def _rows(self, where: str, *parameters: object) -> Iterator[LogRow]:
        columns = ", ".join(LogRow._fields)
        return map(LogRow._make, self._select(f"SELECT {columns} FROM log {where} ORDER BY seq", *parameters))

    def _all(self, sql: str) -> list[Any]:
        return list(self._select(sql))

    def _select(self, sql: str, *parameters: object) -> Iterator[Any]:
        try:
            yield from self._db.execute(sql, parameters)
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path}: cannot be read as a run file: {_explained(error)}") from error

    def _append(self, batch: str, rows: Sequence[tuple[str, str, Any]]) -> None:
        with self._transaction():
            seq, previous = (self._all("SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1") or [(0, GENESIS)])[0]
            for kind, key, value in rows:
                seq += 1
                body = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
                hash_ = row_hash(seq, kind, batch, key=key, body=body, previous=previous)
                row = LogRow(seq, kind, batch, key, body, previous, hash_)
                self._db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                previous = hash_

    @contextmanager
    def _transaction(self, mode: str = "IMMEDIATE") -> Iterator[None]:
        try:
            self._db.execute(f"BEGIN {mode}")
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if not isinstance(error, sqlite3.DatabaseError):
                raise
            raise StoreError(
                f"{self.path}: cannot be written: {_explained(error)}; what was committed before is kept, run again to "
                "continue"
            ) from error


def _explained(error: sqlite3.DatabaseError) -> str:
    code = getattr(error, "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_BUSY:
        return "another process has it open (a run in progress?); wait until it ends"
    if code == sqlite3.SQLITE_FULL:
        return "the disk is full; make room"
    if code is not None and code & 0xFF == sqlite3.SQLITE_IOERR:
        return f"{error}: the disk is full, over its quota or failing; make room or look after it"
    return str(error)
