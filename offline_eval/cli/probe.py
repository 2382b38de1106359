"""`offline-eval probe`: what moves a judge although it should not."""

from pathlib import Path
from typing import Any

import click

from offline_eval.cli.judge_options import judge_options


@click.command(name="probe")
@click.argument("labels", nargs=-1, required=True, type=click.Path(path_type=Path))
@judge_options
@click.option("--probes", multiple=True, help="Names; commas or repeat. [default: all that fit]")
@click.option(
    "--mitigate",
    "mitigations",
    multiple=True,
    help="order-averaging, length-instruction or shuffled-averaging, measured beside plain asking; commas or repeat.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
@click.option(
    "--format", "format", type=click.Choice(["table", "md", "json", "csv"]), help="[default: by --out's ending]"
)
def command(labels: tuple[Path, ...], **options: Any) -> None:
    """Change answers in ways that should not matter, ask the judge again, and print effect sizes with intervals.

    LABELS are label files as `benchmark` reads them. The judge is asked alone, without the rules that guard a run.
    """
    from offline_eval.cli.probe_session import ProbeSession

    ProbeSession(labels, options).run()
