"""Progress on stderr for work beyond two seconds: one moving line on a terminal, else a line now and then."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import click

_SILENT_SECONDS = 2.0
_TERMINAL_SECONDS = 0.2
_LOG_SECONDS = 30.0


class Progress:
    """Tells how far named stages of work are; a context manager that cleans its line up.

    Args:
        clock: Seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._told: float | None = None
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._told is not None and self._terminal:
            click.echo("\r\033[K", err=True, nl=False)

    def tell(self, stage: str, done: int, total: int) -> None:
        """Say that a stage is `done` of `total` (0: unknown) far, if it is time to say so again."""
        now = self._clock()
        every = _TERMINAL_SECONDS if self._terminal else _LOG_SECONDS
        if now - self._started < _SILENT_SECONDS or (self._told is not None and now - self._told < every):
            return
        self._told = now
        amount = f"{done:,} of {total:,}" if total else f"{done:,}"
        line = f"{stage}: {amount}, {now - self._started:.0f} s"
        click.echo(f"\r\033[K{line}" if self._terminal else line, err=True, nl=not self._terminal)
