"""Calls the program inside this process, with streams as strict as a pipe's and a limit on its time."""

import contextlib
import io
import signal
import traceback
from types import FrameType

LIMIT_S = 15.0  # of the processor's time; a busy machine gets six times as long by the clock


class HangError(BaseException):
    """No `Exception`, so that the program's own last resort does not answer it."""


def call(arguments: list[str], *, limit_s: float = LIMIT_S) -> tuple[int, str]:
    """The program's exit code and all it said; its streams are strict UTF-8, as a pipe's are."""
    from offline_eval.cli.main import run_cli

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors=errors) for errors in ("strict", "backslashreplace"))
    _limit(limit_s)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_cli(arguments)
    except HangError:
        code = -1
        err.write(f"no answer within {LIMIT_S:g} s\n{traceback.format_exc()}")
    except BaseException:  # noqa: BLE001 - whatever escapes is the finding
        code = -2
        err.write(traceback.format_exc())
    finally:
        _limit(0)
    for stream in (out, err):
        stream.flush()
    return code, (err.buffer.getvalue() + out.buffer.getvalue()).decode("utf-8", "replace")


def _limit(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 6 * seconds)


def stop_hanging(_signal: int, _frame: FrameType | None) -> None:
    raise HangError
