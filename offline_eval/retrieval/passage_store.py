"""Passages in one JSONL file with the place of every line, so that a large corpus stays on disk until it is shown."""

import hashlib
import json
import mmap
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest_all
from offline_eval.core.records import Passage, as_json

LONGEST_PASSAGE = 1_000_000
"""Characters of one passage; more is a document that should have been split."""

_TEXTS = "passages.jsonl"
_OFFSETS = "offsets.npy"
_IDS = "ids.json"


def searchable_text(passage: Passage) -> str:
    """What is indexed: the title, if there is one, then the text."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def corpus_hash(passages: Iterable[Passage]) -> str:
    """Hash of a corpus; the order of its passages does not matter."""
    return _hash_of_lines(_line(passage) for passage in passages)


class StoreWriter:
    """Writes passages one by one; use as a context manager, then read `corpus_hash`.

    Args:
        folder: An existing empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._offsets = [0]
        self._ids: dict[str, None] = {}
        self._digests: list[str] = []
        self._problems: list[str] = []
        self._documents: set[str] = set()

    def __enter__(self) -> Self:
        self._stream = (self._folder / _TEXTS).open("wb")
        return self

    def add(self, passage: Passage) -> None:
        """Write one passage; trouble is collected and raised at the end."""
        if passage.id in self._ids:
            self._problems.append(f"passage id {passage.id!r} occurs twice; ids must be unique in a corpus")
            return
        if len(passage.text) > LONGEST_PASSAGE:
            self._problems.append(
                f"passage {passage.id!r} has {len(passage.text):,} characters, more than {LONGEST_PASSAGE:,}; "
                "split the documents (--split)"
            )
            return
        line = _line(passage)
        self._stream.write(line)
        self._offsets.append(self._offsets[-1] + len(line))
        self._ids[passage.id] = None
        self._digests.append(hashlib.sha256(line).hexdigest())
        self._documents.add(passage.doc_id or passage.id)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
        if kind is not None:
            return
        if self._problems:
            raise DataError(self._problems)
        if not self._ids:
            raise DataError("the corpus holds no passages; check the path and the files' format")
        np.save(self._folder / _OFFSETS, np.array(self._offsets, dtype=np.int64), allow_pickle=False)
        (self._folder / _IDS).write_text(json.dumps(list(self._ids), ensure_ascii=False), encoding="utf-8")
        self.corpus_hash = digest_all("Corpus", sorted(self._digests))
        self.n_passages = len(self._ids)
        self.n_documents = len(self._documents)


class PassageStore:
    """Random access to the passages of an index; texts stay on disk until asked for.

    Args:
        folder: Where a `StoreWriter` wrote.
    """

    def __init__(self, folder: Path) -> None:
        self.ids: list[str] = json.loads((folder / _IDS).read_text(encoding="utf-8"))
        self._offsets = np.load(folder / _OFFSETS, allow_pickle=False)
        with (folder / _TEXTS).open("rb") as stream:
            self._map = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Passage]:
        return (self.at(position) for position in range(len(self)))

    @cached_property
    def positions(self) -> dict[str, int]:
        """Passage id to position."""
        return {item: position for position, item in enumerate(self.ids)}

    @cached_property
    def id_ranks(self) -> NDArray[np.int64]:
        """Shape (n_passages,): each passage's place when ids are sorted ascending by code point."""
        ranks = np.empty(len(self.ids), dtype=np.int64)
        ranks[sorted(range(len(self.ids)), key=self.ids.__getitem__)] = np.arange(len(self.ids))
        return ranks

    def at(self, position: int) -> Passage:
        """The passage at a position of the corpus order."""
        start, end = int(self._offsets[position]), int(self._offsets[position + 1])
        data: dict[str, Any] = json.loads(self._map[start:end])
        return Passage.model_validate(data)

    def get(self, passage_id: str) -> Passage:
        """The passage with this id.

        Raises:
            DataError: The corpus has no such passage.
        """
        position = self.positions.get(passage_id)
        if position is None:
            raise DataError(f"the index has no passage {passage_id!r}; the ranking comes from another corpus")
        return self.at(position)

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()


def _line(passage: Passage) -> bytes:
    text = json.dumps(as_json(passage), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _hash_of_lines(lines: Iterable[bytes]) -> str:
    return digest_all("Corpus", sorted(hashlib.sha256(line).hexdigest() for line in lines))
