"""Keeps finished assessments in memory under everything that decided them, document versions included.

A passage whose text changed is another key, so a stale answer cannot come back; what was degraded is never kept.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock

from offline_eval.assess.records import Assessment
from offline_eval.core.hashing import digest
from offline_eval.core.records import Passage

MOST_CHARACTERS = 64_000_000
"""Characters of answers and passages kept; a bound on memory beside the number of entries."""


def cache_key(
    query: str,
    passages: Sequence[Passage],
    *,
    rankings: Mapping[str, Sequence[str]],
    given: Sequence[str],
    versions: Mapping[str, str],
) -> str:
    """Hash of what decides an assessment.

    Args:
        passages: With their texts: the document versions.
        given: Language, and for a check the answer and its citations.
        versions: As in `Assessment.versions`.
    """
    return digest(
        "assessment",
        [
            query,
            [passage.content_hash() for passage in passages],
            {name: list(ids) for name, ids in rankings.items()},
            list(given),
            dict(versions),
        ],
    )


class ResultCache:
    """The least recently used results go first; safe between threads.

    Args:
        entries: Most results kept; 0 keeps none.
    """

    def __init__(self, entries: int, *, most_characters: int = MOST_CHARACTERS) -> None:
        self._entries = entries
        self._most_characters = most_characters
        self._kept: OrderedDict[str, tuple[Assessment, int]] = OrderedDict()
        self._characters = 0
        self._lock = Lock()

    def get(self, key: str) -> Assessment | None:
        """The result under a key, or None."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: str, result: Assessment) -> None:
        """Keep a result that nothing went wrong with."""
        if result.degraded or self._entries == 0:
            return
        size = len(result.answer) + len(result.text) + sum(len(kept.passage.text) for kept in result.passages)
        with self._lock:
            self._characters += size - self._kept.pop(key, (result, 0))[1]
            self._kept[key] = (result, size)
            while len(self._kept) > self._entries or self._characters > self._most_characters:
                self._characters -= self._kept.popitem(last=False)[1][1]

    def __len__(self) -> int:
        return len(self._kept)
