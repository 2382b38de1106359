"""Runs the program as its users do: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def offline_eval(
    *arguments: str | Path,
    cwd: Path,
    home: Path | None = None,
    stdin: str | bytes = "",
    prefix: tuple[str, ...] = (),
    timeout: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    done = subprocess.run(
        [*prefix, *command(*arguments)],
        cwd=cwd,
        env=environment(home),
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "offline_eval", *(str(argument) for argument in arguments)]


def environment(home: Path | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OFFLINE_EVAL_")}
    if home is not None:
        kept["OFFLINE_EVAL_HOME"] = str(home)
    elif "OFFLINE_EVAL_HOME" in os.environ:
        kept["OFFLINE_EVAL_HOME"] = os.environ["OFFLINE_EVAL_HOME"]
    kept["OFFLINE_EVAL_RUN_NO_CACHE"] = "1"  # no test is answered by what another one asked
    return kept
