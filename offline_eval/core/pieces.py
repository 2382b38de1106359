"""One response's evidence, sorted by kind once, with what was read off it kept.

Why: dozens of metrics, rules and views ask the same few questions of the same evidence; each is answered once.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar, cast, overload

from offline_eval.core.evidence import Evidence

P = TypeVar("P")
T = TypeVar("T")


class Pieces(Sequence[Evidence]):
    """All evidence of one response, in the order of writing; a sequence like any other that answers faster.

    Args:
        evidence: Of one response.
    """

    __slots__ = ("_all", "_by_kind", "_kept")

    def __init__(self, evidence: Iterable[Evidence] = ()) -> None:
        self._all = tuple(evidence)
        self._by_kind: dict[type, list[Any]] = {}
        for piece in self._all:
            self._by_kind.setdefault(type(piece), []).append(piece)
        self._kept: dict[Hashable, Any] = {}

    @overload
    def __getitem__(self, place: int) -> Evidence: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Evidence]: ...

    def __getitem__(self, place: int | slice) -> Evidence | Sequence[Evidence]:
        return self._all[place]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Any:
        return iter(self._all)

    def of(self, kind: type[P]) -> Sequence[P]:
        """The pieces of a kind, in the order of writing."""
        return self._by_kind.get(kind, ())

    def once(self, key: Hashable, read: Callable[[], T]) -> T:
        """What `read` returns, computed when it is first asked for under this key; errors are not kept."""
        try:
            return cast(T, self._kept[key])
        except KeyError:
            found = self._kept[key] = read()
            return found


def pieces_of(evidence: Sequence[Evidence], kind: type[P]) -> Sequence[P]:
    """The pieces of a kind among a response's evidence, in the order of writing."""
    if isinstance(evidence, Pieces):
        return evidence.of(kind)
    return [piece for piece in evidence if type(piece) is kind]


def read_once(evidence: Sequence[Evidence], key: Hashable, read: Callable[[], T]) -> T:
    """What `read` returns; kept with the evidence where the evidence can keep it.

    Args:
        key: What is read; the same for the same result, and shared by nobody else.
    """
    return evidence.once(key, read) if isinstance(evidence, Pieces) else read()
