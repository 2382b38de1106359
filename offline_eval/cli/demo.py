"""`offline-eval demo`: copy the demo project."""

from pathlib import Path

import click


@click.command(name="demo")
@click.argument("folder", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Copy the demo project into FOLDER and print how to judge it."""
    from offline_eval.demo.copy import copy_demo

    written = copy_demo(folder)
    click.echo(f"{len(written)} files in {folder}; judge them with:", err=True)
    click.echo(
        f"offline-eval run {folder}/cases.jsonl --responses {folder}/answers-careful.jsonl "
        f"--responses {folder}/answers-hasty.jsonl"
    )
