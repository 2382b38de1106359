"""`offline-eval calibrate`: do a judge's probabilities mean what they say?"""

from pathlib import Path
from typing import Any

import click

from offline_eval.cli.judge_options import judge_options


@click.command(name="calibrate")
@click.argument("labels", nargs=-1, required=True, type=click.Path(path_type=Path))
@judge_options
@click.option(
    "--precision", type=click.FloatRange(0, 1, min_open=True), help="A threshold with at least this precision."
)
@click.option("--recall", type=click.FloatRange(0, 1, min_open=True), help="A threshold with at least this recall.")
@click.option(
    "--cost", metavar="FP,FN", help="A threshold of least cost, for a wrong yes and a wrong no, for example 5,1."
)
@click.option("--bins", type=click.IntRange(2), default=10, show_default=True)
@click.option(
    "--binning",
    type=click.Choice(["equal_width", "equal_mass"]),
    default="equal_width",
    show_default=True,
    help="Of the reliability curve and the expected calibration error.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
@click.option("--format", "format", type=click.Choice(["table", "md", "json"]), help="[default: by --out's ending]")
def command(labels: tuple[Path, ...], **options: Any) -> None:
    """Hold a judge's label probabilities against LABELS: reliability, errors, maps and thresholds.

    Whatever is fitted is fitted on one half of the queries and reported on the other.
    """
    from offline_eval.cli.calibrate_session import calibrate_labels

    calibrate_labels(labels, options)
