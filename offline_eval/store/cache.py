"""Answers of engines by the hash of everything that decides them, in one SQLite file that runs share.

A run that asks what an earlier one asked need not compute it again. An entry carries its own hash and the hash of the
weights it came from, so that a damaged one, or one of other weights, is a miss and never a number.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from offline_eval.core.errors import StoreError
from offline_eval.core.hashing import digest
from offline_eval.core.records import Record

CACHE_VERSION = 1
DEFAULT_LIMIT_BYTES = 1 << 30
_APPLICATION = 0x4F654361  # in the file's header: this program's cache and nothing else
_HEADER_BYTES = 100
_APPLICATION_AT = slice(68, 72)  # of the header; SQLite file format, section 1.3
_KEPT_SHARE = 0.9  # of the limit after pruning, so that not every entry prunes
_SCHEMA = """
PRAGMA auto_vacuum=FULL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entry (
    key TEXT PRIMARY KEY,
    weights TEXT NOT NULL,
    model TEXT NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    size INTEGER NOT NULL,
    used INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS entry_used ON entry (used, size);
PRAGMA application_id={application};
PRAGMA user_version={version};
COMMIT;
"""


class ModelEntries(Record):
    """What the cache holds of one model with one set of weights."""

    model: str
    weights: str
    entries: int
    bytes: int


class CacheInfo(Record):
    """What the cache holds.

    Attributes:
        bytes: Of the entries; the file is a little larger.
    """

    path: str
    entries: int
    bytes: int
    file_bytes: int
    limit_bytes: int
    models: tuple[ModelEntries, ...]


class ResponseCache:
    """An open cache.

    Args:
        path: Created when missing, readable by its owner alone: answers quote what was judged.
        limit_bytes: Entries beyond it go, the least recently used first.
        lock_timeout_s: Seconds to wait for another run that is writing.

    Raises:
        StoreError: Not a cache of this program, written by a newer version, damaged, or not writable.
    """

    def __init__(self, path: Path, *, limit_bytes: int = DEFAULT_LIMIT_BYTES, lock_timeout_s: float = 10.0) -> None:
        self.path = path
        self.limit_bytes = limit_bytes
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._db = sqlite3.connect(path, isolation_level=None, timeout=lock_timeout_s)
        except (OSError, sqlite3.DatabaseError) as error:
            raise StoreError(f"{path}: the cache cannot be opened: {error}") from error
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise self._trouble(error) from error
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        if self.path.stat().st_size == 0:
            self._db.executescript(_SCHEMA.format(application=_APPLICATION, version=CACHE_VERSION))
        found = [self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if found[0] != _APPLICATION:
            raise StoreError(f"{self.path}: not a cache of this program; it is left alone, name another file")
        if found[1] != CACHE_VERSION:
            raise StoreError(
                f"{self.path}: has cache version {found[1]}, this program writes version {CACHE_VERSION}; "
                "`offline-eval cache clear` begins it anew"
            )
        self._db.execute("SELECT key, weights, model, body, hash, size, used FROM entry LIMIT 1").fetchone()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def get(self, keys: Sequence[str], *, weights: str) -> dict[str, Any]:
        """Look entries up and count them as used.

        Args:
            keys: Of entries.
            weights: Hash of the weights of the model that is to be asked.

        Returns:
            Key to JSON value, for those that are there, whole and of these weights.

        Raises:
            StoreError: The file cannot be read; nothing of it was taken.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            found = {key: value for key in keys for value in self._one(key, weights)}
            used = self._next_use()
            self._db.executemany("UPDATE entry SET used = ? WHERE key = ?", [(used, key) for key in found])
            self._db.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise self._undone(error) from error
        return found

    def put(self, values: Mapping[str, Any], *, model: str, weights: str) -> None:
        """Keep JSON values, and let the least recently used entries go where the limit is passed.

        Raises:
            StoreError: The file cannot be written; none of the values was kept.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            used = self._next_use()
            for key, value in values.items():
                body = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
                row = (key, weights, model, body, _entry_hash(key, weights, body), len(body.encode()), used)
                self._db.execute("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            if self._bytes() > self.limit_bytes:
                self._let_go(int(self.limit_bytes * _KEPT_SHARE))
            self._db.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise self._undone(error) from error

    def prune(self, limit_bytes: int) -> int:
        """Let the least recently used entries go until the rest is within a limit.

        Returns:
            How many went.
        """
        try:
            self._db.execute("BEGIN IMMEDIATE")
            gone = self._let_go(limit_bytes)
            self._db.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise self._undone(error) from error
        return gone

    def info(self) -> CacheInfo:
        """Count entries and bytes."""
        try:
            rows = self._db.execute(
                "SELECT model, weights, count(*), sum(size) FROM entry GROUP BY model, weights ORDER BY model, weights"
            ).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from error
        models = tuple(ModelEntries(model=m, weights=w, entries=n, bytes=size) for m, w, n, size in rows)
        return CacheInfo(
            path=str(self.path),
            entries=sum(entry.entries for entry in models),
            bytes=sum(entry.bytes for entry in models),
            file_bytes=self.path.stat().st_size,
            limit_bytes=self.limit_bytes,
            models=models,
        )

    def _one(self, key: str, weights: str) -> Iterable[Any]:
        row = self._db.execute("SELECT weights, body, hash FROM entry WHERE key = ?", (key,)).fetchone()
        if row is None or row[0] != weights:
            return
        if row[2] != _entry_hash(key, weights, row[1]):
            self._db.execute("DELETE FROM entry WHERE key = ?", (key,))  # damaged; it is made again
            return
        yield json.loads(row[1])

    def _next_use(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(used), 0) + 1 FROM entry").fetchone()[0])

    def _bytes(self) -> int:
        return int(self._db.execute("SELECT coalesce(sum(size), 0) FROM entry").fetchone()[0])

    def _let_go(self, limit_bytes: int) -> int:
        excess, gone = self._bytes() - limit_bytes, []
        for key, size in self._db.execute("SELECT key, size FROM entry ORDER BY used, key"):
            if excess <= 0:
                break
            gone.append((key,))
            excess -= size
        self._db.executemany("DELETE FROM entry WHERE key = ?", gone)
        return len(gone)

    def _undone(self, error: sqlite3.DatabaseError) -> StoreError:
        if self._db.in_transaction:
            with suppress(sqlite3.DatabaseError):
                self._db.execute("ROLLBACK")
        return self._trouble(error)

    def _trouble(self, error: sqlite3.DatabaseError) -> StoreError:
        return StoreError(
            f"{self.path}: the cache cannot be used: {error}; if it is damaged, `offline-eval cache clear` "
            "begins it anew"
        )


def clear_cache(path: Path) -> bool:
    """Remove a cache, damaged or not, but never another program's file.

    Returns:
        Whether there was one.

    Raises:
        StoreError: The file is not a cache of this program, or cannot be removed.
    """
    try:
        with path.open("rb") as stream:
            header = stream.read(_HEADER_BYTES)
        if header and int.from_bytes(header[_APPLICATION_AT], "big") != _APPLICATION:
            raise StoreError(f"{path}: not a cache of this program; it is left alone, remove it yourself if it may go")
        for part in (path, Path(f"{path}-journal")):
            part.unlink(missing_ok=True)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(f"{path}: cannot be removed: {error}") from error
    return True


def _entry_hash(key: str, weights: str, body: str) -> str:
    return digest("cache entry", [key, weights, body])
