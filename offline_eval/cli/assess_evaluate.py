"""`offline-eval assess evaluate`: what an assessment catches, and what that costs."""

from pathlib import Path
from typing import Any

import click

from offline_eval.cli.assess_options import settings_options


@click.command(name="evaluate")
@click.argument("cases", type=click.Path(path_type=Path))
@click.option("--responses", multiple=True, type=click.Path(path_type=Path), help="Recorded answers; repeat for more.")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    help="Documents; answers are made now, without a model unless the config names a generator.",
)
@settings_options
@click.option(
    "--target",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    show_default=True,
    help="Accuracy that the review load is for.",
)
@click.option(
    "--right-field", default="right", show_default=True, help="Metadata of a response that says whether it is right."
)
@click.option("--fault-field", default="fault", show_default=True, help="Metadata that names what is wrong with it.")
@click.option(
    "--reference-words",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    help="Share of the reference's words a right answer holds, where nothing is labelled.",
)
@click.option("--max-rows", type=click.IntRange(1), help="Only the first responses of each system.")
@click.option("--resamples", type=click.IntRange(100), default=2000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--map-out",
    type=click.Path(path_type=Path),
    help="Write the calibration map fitted on one half, for a policy's `calibration`.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
@click.option(
    "--format", "format", type=click.Choice(["table", "md", "json", "html"]), help="[default: by --out's ending]"
)
def command(cases: Path, **options: Any) -> int:
    """Assess answers to CASES and hold the assessments against what is known to be right.

    Against two baselines: giving every answer, and a threshold on the retrieval score. Every measure has its interval.
    """
    from offline_eval.cli.assess_evaluate_session import evaluate_cases

    return evaluate_cases(cases, options)
