"""Finds the items a batch fails by and answers the others, so that one bad item costs one result and never the run.

Numbers can depend on what is computed together, so the others are answered together again once the bad ones are known:
which batch mates an answer had follows from the batch and its bad items, not from the way in which they were found.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from offline_eval.core.errors import EngineError
from offline_eval.core.protocols import Failure
from offline_eval.core.records import Record

R = TypeVar("R")
A = TypeVar("A")

_MEMORY_KINDS = frozenset({"MemoryError", "OutOfMemoryError"})
_MEMORY_WORDS = ("out of memory", "can't allocate memory", "cannot allocate memory", "bad_alloc")


class BatchFailedError(EngineError):
    """A batch that was not answered as a whole.

    Attributes:
        reason: `engine_crashed`, `engine_error`, `out_of_memory` or `time_limit`.
    """

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


class Incident(Record):
    """What an engine survived; noted in the run, because it can have moved numbers.

    Attributes:
        kind: A worker was replaced and its batch redone whole; items at fault were found and the others answered
            together; or the batch was too large and smaller ones are computed from here on.
        requests: Of the batch.
        at_fault: Of these, how many failed alone.
        batch_size: Requests computed together from here on.
    """

    kind: Literal["worker_replaced", "isolated", "smaller_batch"]
    reason: str
    detail: str
    requests: int
    at_fault: int = 0
    batch_size: int


@dataclass(frozen=True)
class Isolated(Generic[A]):
    """A failed batch's answers.

    Attributes:
        answers: One a request, in their order; a failure for each item at fault.
        at_fault: Positions of the items that failed alone.
        largest_part: Requests in the largest part that was answered at once, when no item was at fault and the batch
            failed only as a whole; None otherwise.
    """

    answers: list[A | Failure]
    at_fault: tuple[int, ...]
    largest_part: int | None


def isolate(requests: Sequence[R], ask: Callable[[list[R]], Sequence[A]], *, first: BatchFailedError) -> Isolated[A]:
    """Answer a batch that failed as a whole.

    It is halved until every item at fault is alone; the others are then asked together, without those. Where no item
    fails alone (the batch was too large), the answers of the parts are taken.

    Args:
        requests: At least one.
        ask: Answers a part, or raises `BatchFailedError`.
        first: Why the whole failed.
    """
    failures: dict[int, Failure] = {}
    rest, error = list(range(len(requests))), first
    while rest:
        search = _Search(requests, ask)
        search.divide(rest, error)
        failures |= search.failures
        rest = [index for index in rest if index not in search.failures]
        if not search.failures:
            answers = [failures.get(index, search.answers.get(index)) for index in range(len(requests))]
            return Isolated(_all(answers), tuple(sorted(failures)), search.largest)
        if not rest:
            break
        try:
            together = dict(zip(rest, ask([requests[index] for index in rest]), strict=True))
        except BatchFailedError as again:
            error = again
            continue
        merged = [failures.get(index, together.get(index)) for index in range(len(requests))]
        return Isolated(_all(merged), tuple(sorted(failures)), None)
    return Isolated([failures[index] for index in range(len(requests))], tuple(sorted(failures)), None)


def is_memory_error(kind: str, message: str) -> bool:
    """Whether an exception, by the name of its class and its words, says that memory ran out."""
    return kind in _MEMORY_KINDS or any(words in message.lower() for words in _MEMORY_WORDS)


class _Search(Generic[R, A]):
    """One search for the items at fault.

    Attributes:
        failures: Position to why it failed alone.
        answers: Position to its answer, for parts that were answered.
        largest: Requests in the largest such part.
    """

    def __init__(self, requests: Sequence[R], ask: Callable[[list[R]], Sequence[A]]) -> None:
        self._requests = requests
        self._ask = ask
        self.failures: dict[int, Failure] = {}
        self.answers: dict[int, A] = {}
        self.largest = 0

    def divide(self, indexes: Sequence[int], error: BatchFailedError) -> None:
        """Halve a part that failed and ask the halves."""
        if len(indexes) == 1:
            self.failures[indexes[0]] = Failure(reason=error.reason, detail=str(error))
            return
        middle = len(indexes) // 2
        for half in (indexes[:middle], indexes[middle:]):
            try:
                answers = self._ask([self._requests[index] for index in half])
            except BatchFailedError as failed:
                self.divide(half, failed)
                continue
            self.answers.update(zip(half, answers, strict=True))
            self.largest = max(self.largest, len(half))


def _all(answers: Sequence[A | Failure | None]) -> list[A | Failure]:
    return [answer for answer in answers if answer is not None]


__all__ = ["BatchFailedError", "Incident", "Isolated", "is_memory_error", "isolate"]
