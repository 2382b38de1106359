"""Wheels for the far side: collected with pip where a registry is near, installed from a folder where none is."""

import json
import os
import re
import subprocess
import sys
import urllib.parse
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.hashing import file_digest

OWN_NAME = "offline-eval"
_TOOLS = ("pip", "setuptools", "wheel")  # a new environment brings its own
_SAID = 5  # lines of pip's last words


def wheels_of_lock(lock: Path, out: Path, *, progress: Callable[[str], None]) -> None:
    """Collect the wheels of a lock file (`name==version` lines: the whole closure); asks the registry pip is set to.

    Packages that the registry has as source only are built here.

    Raises:
        UsageError: No such file.
        DataError: pip failed.
    """
    if not lock.is_file():
        raise UsageError(f"{lock}: no such file; `pip freeze` writes one")
    progress(f"collecting the wheels of {lock.name} with pip")
    _pip("wheel", "--no-deps", "-r", str(lock), "-w", str(out))


def wheels_of_environment(out: Path, *, progress: Callable[[str], None]) -> None:
    """Collect wheels of everything that is installed beside this program, in the same versions, and its own.

    Raises:
        DataError: pip failed.
    """
    listed = _pip("list", "--format=freeze", "--exclude-editable", "--exclude", OWN_NAME, *_excluded()).splitlines()
    out.mkdir(parents=True, exist_ok=True)
    lock = out / "requirements.in"
    lock.write_text("".join(f"{line}\n" for line in sorted(listed)), encoding="utf-8")
    progress(f"collecting the wheels of {len(listed)} packages with pip")
    _pip("wheel", "--no-deps", "-r", str(lock), "-w", str(out))
    lock.unlink()
    own_wheel(out, progress=progress)


def own_wheel(out: Path, *, progress: Callable[[str], None]) -> None:
    """Build this program's wheel from where it was installed from; from the registry when that is where it came from.

    Raises:
        DataError: pip failed.
    """
    found = metadata.distribution(OWN_NAME)
    origin = json.loads(found.read_text("direct_url.json") or "{}").get("url", "")
    is_local = origin.startswith("file:")
    source = urllib.parse.unquote(urllib.parse.urlsplit(origin).path) if is_local else f"{OWN_NAME}=={found.version}"
    progress(f"making the wheel of {OWN_NAME} {found.version} from {source}")
    _pip("wheel", "--no-deps", "-w", str(out), source)


def requirement_lines(wheels: list[Path]) -> str:
    """A requirements file that pins every wheel by version and hash.

    Raises:
        DataError: A file name that is no wheel's, or two wheels of one package.
    """
    lines: dict[str, str] = {}
    problems: list[str] = []
    for wheel in sorted(wheels):
        parts = wheel.name.removesuffix(".whl").split("-")
        name = re.sub(r"[-_.]+", "-", parts[0]).lower()
        if not wheel.name.endswith(".whl") or len(parts) not in (5, 6):
            problems.append(f"{wheel}: not a wheel's name; expected name-version-python-abi-platform.whl")
        elif name in lines:
            problems.append(f"{wheel}: a second wheel of {name}; keep one")
        else:
            lines[name] = f"{name}=={parts[1]} --hash=sha256:{file_digest(wheel)}\n"
    if problems:
        raise DataError(problems)
    return "".join(lines[name] for name in sorted(lines))


def install_wheels(folder: Path, venv: Path, *, progress: Callable[[str], None]) -> None:
    """Make a virtual environment and install a bundle's wheels there; asks no registry.

    Args:
        folder: Holds the wheels and `requirements.txt`.
        venv: A folder that does not exist yet.

    Raises:
        UsageError: The folder exists.
        DataError: Python or pip failed.
    """
    if venv.exists():
        raise UsageError(f"{venv} exists; name a new folder for the environment")
    progress(f"making {venv} and installing the wheels there")
    _run([sys.executable, "-m", "venv", str(venv)], "make the environment")
    options = ("--no-index", "--no-deps", "--require-hashes", "--find-links", str(folder))
    _pip("install", *options, "-r", str(folder / "requirements.txt"), python=str(venv / "bin" / "python"))


def _excluded() -> list[str]:
    return [part for tool in _TOOLS for part in ("--exclude", tool)]


def _pip(verb: str, *options: str, python: str = sys.executable) -> str:
    command = [python, "-m", "pip", "--no-input", "--disable-pip-version-check", verb]
    return _run([*command, *options], f"{verb} the packages")


def _run(command: list[str], what: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=environment)
    except OSError as error:
        raise DataError(f"{command[0]} cannot be started: {error}") from error
    if done.returncode:
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()][-_SAID:]
        raise DataError("\n  ".join([f"could not {what}; pip said:", *(said or ["nothing"])]))
    return done.stdout
