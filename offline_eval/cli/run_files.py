"""Finds the run a user means: by path, or by the beginning of its id in the runs folder."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offline_eval.core.errors import StoreError, UnknownNameError, UsageError
from offline_eval.store.run_file import SUFFIX, RunFile

if TYPE_CHECKING:
    from offline_eval.pipeline.aggregate import Results

runs_option = click.option(
    "--runs", "folder", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Folder of runs."
)


def run_paths(folder: Path) -> list[Path]:
    """Run files of a folder, the newest last."""
    return sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime)


def open_run(run: str, folder: Path, *, newest_only: bool = False) -> RunFile:
    """Open a run for reading.

    Args:
        run: A path, an id, its beginning, or `latest`.
        newest_only: Refuse when the newest file cannot be read, instead of taking the one before as `latest`.

    Raises:
        UsageError: Several runs begin like this.
        UnknownNameError: None does.
        StoreError: The file cannot be read.
    """
    if Path(run).is_file():
        return RunFile(Path(run))
    if run == "latest":
        return _latest(folder, newest_only=newest_only)
    found = [path for path in run_paths(folder) if path.stem.startswith(run)]
    if len(found) > 1:
        raise UsageError(f"several runs begin with {run!r}: {', '.join(path.stem for path in found)}")
    if not found and not run_paths(folder):
        raise _no_runs(folder)
    if not found:
        raise UnknownNameError(f"run in {folder}/", run, ["latest", *(path.stem for path in run_paths(folder))])
    return RunFile(found[0])


def open_results(
    run: str, folder: Path, *, metrics: Sequence[str] = (), more: Sequence[str] = (), newest_only: bool = False
) -> "Results":
    """Open a run and read everything it says.

    Args:
        metrics: Names or groups that replace the run's own metrics.
        more: Metrics that are added to the run's own.
        newest_only: As in `open_run`.

    Raises:
        UsageError: As in `open_run`, or an unknown metric.
        StoreError: The file cannot be read or holds no run.
    """
    from offline_eval.pipeline.aggregate import Results
    from offline_eval.pipeline.config import RunConfig
    from offline_eval.pipeline.metric_plan import resolve_metrics

    run_file = open_run(run, folder, newest_only=newest_only)
    stored = run_file.configuration()
    if stored is None or not (metrics or more):
        return Results(run_file)
    config = RunConfig.model_validate(stored["config"])
    return Results(run_file, metrics=resolve_metrics(metrics or [*config.metric_names, *more], config.panel))


def _latest(folder: Path, *, newest_only: bool) -> RunFile:
    """The newest run that can be read; newer files that are damaged are named, and do not hide it."""
    for path in reversed(run_paths(folder)):
        try:
            run_file = RunFile(path)
            run_file.configuration()
        except StoreError as error:
            if newest_only or getattr(error.__cause__, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise
            click.echo(f"passed over: {error}", err=True)
            continue
        return run_file
    raise _no_runs(folder)


def _no_runs(folder: Path) -> UsageError:
    return UsageError(f"there are no runs in {folder}/; `offline-eval run` makes one, --runs names another folder")
