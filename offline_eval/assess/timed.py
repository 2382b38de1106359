"""Runs calls side by side under time limits; what overruns or raises comes back as a reason, so that the rest goes on.

A thread cannot be stopped from outside: a call that overruns is left behind and its late result ignored. How many may
be left behind under one name is bounded, so that a source that hangs costs a fixed amount of memory.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Generic, TypeVar

from offline_eval.confidence.signals import SignalStatus

T = TypeVar("T")

MOST_ABANDONED = 32
_LONGEST_REASON = 500


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """How a call ended: `scored` with a value, else `timed_out` or `failed` with a reason.

    Attributes:
        ms: Milliseconds it took, or until it was given up.
    """

    status: SignalStatus
    value: T | None = None
    reason: str | None = None
    ms: float = 0.0


@dataclass(frozen=True)
class Call(Generic[T]):
    """One call with its limit in seconds; 0 or less means that there is no time left for it."""

    run: Callable[[], T]
    limit_s: float


class TimedCalls:
    """Runs calls in threads of their own.

    Args:
        clock: Seconds, rising.
        most_abandoned: Overrun calls of one name that may still be running before further ones fail at once.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, most_abandoned: int = MOST_ABANDONED) -> None:
        self._clock = clock
        self._most_abandoned = most_abandoned
        self._abandoned: Counter[str] = Counter()
        self._lock = Lock()

    def run(
        self, calls: Mapping[str, Call[T]], *, on_done: Callable[[str, Outcome[T]], None] | None = None
    ) -> dict[str, Outcome[T]]:
        """Run all calls at the same time.

        Args:
            calls: Name to call.
            on_done: Called in this thread as each one ends.

        Returns:
            One outcome a name, in the order of the calls.
        """
        finished: SimpleQueue[tuple[str, Outcome[T]]] = SimpleQueue()
        outcomes: dict[str, Outcome[T]] = {}
        running: dict[str, tuple[float, _Slot]] = {}
        begin = self._clock()

        def end(name: str, outcome: Outcome[T]) -> None:
            outcomes[name] = outcome
            if on_done is not None:
                on_done(name, outcome)

        for name, call in calls.items():
            refused: Outcome[T] | None = self._refusal(name, call.limit_s)
            if refused is not None:
                end(name, refused)
                continue
            slot = _Slot()
            running[name] = (begin + call.limit_s, slot)
            Thread(target=self._one, args=(name, call.run, slot, finished), daemon=True).start()
        while running:
            first_deadline = min(deadline for deadline, _ in running.values())
            try:
                name, outcome = finished.get(timeout=max(0.0, first_deadline - self._clock()))
            except Empty:
                for late in [name for name, (deadline, _) in running.items() if deadline <= self._clock()]:
                    self._abandon(late, running.pop(late)[1])
                    ms = (self._clock() - begin) * 1000
                    reason = f"no result within {calls[late].limit_s:.3g} s"
                    end(late, Outcome(SignalStatus.TIMED_OUT, reason=reason, ms=ms))
                continue
            if running.pop(name, None) is not None:
                end(name, outcome)
        return {name: outcomes[name] for name in calls}

    def _refusal(self, name: str, limit_s: float) -> Outcome[T] | None:
        if limit_s <= 0:
            return Outcome(SignalStatus.TIMED_OUT, reason="the deadline had passed before it began")
        if self._abandoned[name] >= self._most_abandoned:
            reason = f"{self._abandoned[name]} earlier calls have not come back"
            return Outcome(SignalStatus.FAILED, reason=reason)
        return None

    def _one(
        self, name: str, run: Callable[[], T], slot: "_Slot", finished: "SimpleQueue[tuple[str, Outcome[T]]]"
    ) -> None:
        begin = self._clock()
        try:
            value = run()
            outcome: Outcome[T] = Outcome(SignalStatus.SCORED, value=value, ms=(self._clock() - begin) * 1000)
        except BaseException as error:  # noqa: BLE001 - foreign code may raise anything, SystemExit included
            reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
            outcome = Outcome(SignalStatus.FAILED, reason=reason, ms=(self._clock() - begin) * 1000)
        with self._lock:
            slot.is_done = True
            if slot.is_abandoned:
                self._abandoned[name] -= 1
        finished.put((name, outcome))

    def _abandon(self, name: str, slot: "_Slot") -> None:
        with self._lock:
            if not slot.is_done:
                slot.is_abandoned = True
                self._abandoned[name] += 1


@dataclass
class _Slot:
    """Whether a call has ended and whether anybody still waits for it."""

    is_done: bool = False
    is_abandoned: bool = False
