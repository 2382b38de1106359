"""A bounded queue in front of the assessments: what is accepted is finished, what does not fit is refused at once.

Waiting without bound would only turn a busy service into a slow one that forgets requests when it stops.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from math import ceil
from typing import TypeVar

from offline_eval.assess.service_bodies import Refused

T = TypeVar("T")

_RECENT = 0.1  # share of the newest duration in the running mean


class WorkQueue:
    """Threads that work, and requests that wait for them. All methods belong to the event loop's thread.

    Args:
        workers: Pieces of work under way at the same time.
        most_waiting: Accepted pieces beside those.
        clock: Seconds, rising.

    Attributes:
        accepted_ever: Pieces accepted since the start.
        is_stopping: Whether nothing more is accepted.
    """

    def __init__(self, *, workers: int, most_waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._threads = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="assess")
        self._workers = workers
        self._most = workers + most_waiting
        self._clock = clock
        self._accepted = 0
        self.accepted_ever = 0
        self._mean_s = 1.0
        self._idle = asyncio.Event()
        self._idle.set()
        self.is_stopping = False

    @property
    def accepted(self) -> int:
        """Pieces of work that wait or are under way."""
        return self._accepted

    @property
    def capacity(self) -> int:
        """Most pieces that are accepted at once."""
        return self._most

    def submit(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Accept a piece of work, or refuse it now. Await the future behind `asyncio.shield`: work is never dropped.

        Args:
            work: Run in a thread; its exception becomes the future's.

        Raises:
            Refused: 503, with the seconds after which room is likely.
        """
        if self.is_stopping:
            raise Refused(503, "stopping", "the service is stopping and takes no new requests", retry_after_s=5)
        if self._accepted >= self._most:
            raise Refused(
                503,
                "busy",
                f"{self._accepted} requests are accepted already, the most this service takes; try again later",
                retry_after_s=self._retry_after(),
            )
        self._accepted += 1
        self.accepted_ever += 1
        self._idle.clear()
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._threads, self._timed(work, loop))
        # Counted until the thread is done, even where the client has gone and nobody awaits the future.
        future.add_done_callback(self._done)
        return future

    async def stop(self, *, within_s: float) -> bool:
        """Take no more, and wait for what was accepted.

        Returns:
            Whether everything was finished in time.
        """
        self.is_stopping = True
        try:
            await asyncio.wait_for(self._idle.wait(), within_s)
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _timed(self, work: Callable[[], T], loop: asyncio.AbstractEventLoop) -> Callable[[], T]:
        def run() -> T:
            start = self._clock()
            try:
                return work()
            finally:
                with suppress(RuntimeError):  # the loop has ended; nobody needs the time any more
                    loop.call_soon_threadsafe(self._learn, self._clock() - start)

        return run

    def _learn(self, seconds: float) -> None:
        self._mean_s += _RECENT * (seconds - self._mean_s)

    def _done(self, future: "asyncio.Future[T]") -> None:
        self._accepted -= 1
        if not self._accepted:
            self._idle.set()
        if not future.cancelled():
            future.exception()  # looked at, so that a client that has gone leaves no warning

    def _retry_after(self) -> int:
        """Whole seconds in which about half of what waits is done."""
        return max(1, ceil(self._accepted / 2 * self._mean_s / self._workers))
