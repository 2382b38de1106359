"""Finds the run a user means: by path, or by the beginning of its id in the runs folder."""

from pathlib import Path

import click

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.store.run_file import SUFFIX, RunFile

runs_option = click.option(
    "--runs", "folder", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Folder of runs."
)


def run_paths(folder: Path) -> list[Path]:
    """Run files of a folder, the newest last."""
    return sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime)


def open_run(run: str, folder: Path) -> RunFile:
    """Open a run for reading.

    Raises:
        UsageError: Several runs begin like this.
        UnknownNameError: None does.
        StoreError: The file cannot be read.
    """
    if Path(run).is_file():
        return RunFile(Path(run))
    found = [path for path in run_paths(folder) if path.stem.startswith(run)]
    if run == "latest":
        found = run_paths(folder)[-1:]
    if len(found) > 1:
        raise UsageError(f"several runs begin with {run!r}: {', '.join(path.stem for path in found)}")
    if not found and not run_paths(folder):
        raise UsageError(f"there are no runs in {folder}/; `offline-eval run` makes one, --runs names another folder")
    if not found:
        raise UnknownNameError(f"run in {folder}/", run, ["latest", *(path.stem for path in run_paths(folder))])
    return RunFile(found[0])
