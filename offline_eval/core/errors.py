"""The errors people see; each says what happened, where, and what to do, and carries its exit code.

Set-up trouble raises one of these. Trouble with one item is data (`Failure`, `Score.status`), never an exception.
"""

from collections.abc import Sequence
from difflib import get_close_matches

EXIT_OK = 0
EXIT_GATE_FAILED = 1
EXIT_USAGE = 2
EXIT_DATA = 3
EXIT_TOO_MANY_UNSCORED = 4
EXIT_INTERRUPTED = 130

_MOST_NAMES = 50


class OfflineEvalError(Exception):
    """Root of every error this program raises on purpose."""

    exit_code = EXIT_DATA


class UsageError(OfflineEvalError):
    """The command was called in a way that cannot work."""

    exit_code = EXIT_USAGE


class UnknownNameError(UsageError):
    """A name that is not registered; the message offers the nearest one.

    Args:
        kind: What it should name.
        known: What there is.
        listed_as: Words before the list of what there is, where it is shown beside the nearest name too.
    """

    def __init__(self, kind: str, name: str, known: Sequence[str], *, listed_as: str | None = None) -> None:
        near = get_close_matches(name, known, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known)) or 'none'}"
        if listed_as is not None:
            listed = f"{listed_as} {', '.join(_first_of([repr(one) for one in known], most=_MOST_NAMES))}"
            hint = f"{hint} {listed}" if near else listed
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class DataError(OfflineEvalError):
    """Input data that cannot be read; holds and shows every problem found, not only the first.

    The message is put together only when it is asked for: of a hundred thousand bad rows it is one copy more.

    Args:
        problems: One line each, as `file:line: what is wrong, what is expected`.
    """

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class ModelError(OfflineEvalError):
    """A model that is missing, altered, unsafe to load or unfit for the task."""


class EngineError(OfflineEvalError):
    """An engine that cannot start or has died."""


class AirGapError(OfflineEvalError):
    """An attempt to reach beyond this machine."""


class ReproductionError(OfflineEvalError):
    """A replay that would not run on the same weights, versions or hardware, so that it could prove nothing."""


class StoreError(OfflineEvalError):
    """A run file that cannot be opened, written or trusted."""


def _first_of(lines: Sequence[str], *, most: int) -> list[str]:
    """The first lines; how many more there are is said in a line of its own."""
    more = len(lines) - most
    return [*lines[:most], *([f"… and {more:,} more"] if more > 0 else [])]
