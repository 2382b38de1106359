"""Copies the demo project out of the installed package, so that a user has files of their own to run and change."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from offline_eval.core.errors import UsageError

DATA_SUFFIXES = (".jsonl", ".md")


def copy_demo(target: Path) -> list[Path]:
    """Copy the demo's data files into a new or empty folder.

    Args:
        target: Folder to fill; made, with its parents, where it does not exist.

    Returns:
        The files written, sorted by their path inside the folder.

    Raises:
        UsageError: The target is not an empty folder, or cannot be written to.
    """
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise UsageError(f"{target} already exists and is not an empty folder; name a new folder for the demo")
        return [_write(target / place, source) for place, source in _data_files(files(__package__), Path())]
    except OSError as error:
        raise UsageError(f"cannot write the demo to {target}: {error}; name a folder you may write to") from error


def _data_files(folder: Traversable, place: Path) -> Iterator[tuple[Path, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.is_dir():
            yield from _data_files(entry, place / entry.name)
        elif entry.name.endswith(DATA_SUFFIXES):
            yield place / entry.name, entry


def _write(path: Path, source: Traversable) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source.read_bytes())
    return path
