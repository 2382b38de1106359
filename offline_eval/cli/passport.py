"""`offline-eval passport`: what is known about a judge, as a file that runs can require."""

from pathlib import Path
from typing import Any

import click

from offline_eval.cli.judge_options import judge_options
from offline_eval.cli.rows import FORMATS, RowFormat

_folder_option = click.option(
    "--folder", type=click.Path(path_type=Path), help="Folder of passports. [default: beside the models]"
)


@click.group(name="passport")
def command() -> None:
    """Make, show and check judges' passports."""


@command.command(name="make")
@click.argument("labels", nargs=-1, required=True, type=click.Path(path_type=Path))
@judge_options
@_folder_option
@click.option("--probes", "with_probes", is_flag=True, help="Probe biases too; several times the requests.")
@click.option("--resamples", type=click.IntRange(100), default=2000, show_default=True, help="Of each interval.")
@click.option(
    "--determinism",
    "determinism_file",
    type=click.Path(path_type=Path),
    help="JSON object with the result of a determinism test, to be entered as it is.",
)
def make(labels: tuple[Path, ...], **options: Any) -> int:
    """Ask a judge about LABELS and write one passport for each rubric and language among them."""
    from offline_eval.cli.passport_session import make_passports

    return make_passports(labels, options)


@command.command(name="show")
@click.argument("passport", required=False)
@_folder_option
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def show(passport: str | None, folder: Path | None, format: RowFormat) -> None:
    """PASSPORT (a file, or the beginning of its name), or a list of all."""
    from offline_eval.cli.passport_session import show_passports

    show_passports(passport, folder, format)


@command.command(name="check")
@click.argument("condition")
@click.argument("passport", required=False)
@_folder_option
def check(condition: str, passport: str | None, folder: Path | None) -> int:
    """Hold PASSPORT (or all) against CONDITION, for example 'kappa>=0.6'. Exit code 1 when one does not fulfil it."""
    from offline_eval.cli.passport_session import check_passports

    return check_passports(condition, passport, folder)
