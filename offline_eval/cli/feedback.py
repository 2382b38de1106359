"""`offline-eval feedback`: metrics against users' thumbs up and down."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offline_eval.cli.language_option import language_option
from offline_eval.cli.run_files import open_results, runs_option

if TYPE_CHECKING:
    from offline_eval.report.html_texts import Language

FORMATS = ("table", "json", "csv", "md")


@click.command(name="feedback")
@click.argument("run")
@runs_option
@click.option(
    "--file", "path", type=click.Path(path_type=Path), help="case_id, system, feedback.  [default: the run's]"
)
@click.option("--against", help="An earlier RUN whose correlations are compared.")
@click.option("--against-file", type=click.Path(path_type=Path), help="Feedback on the earlier run.")
@click.option("--metrics", multiple=True, help="Other metrics or groups than the run's own; no model is asked.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
@language_option
def command(
    run: str,
    folder: Path,
    path: Path | None,
    against: str | None,
    against_file: Path | None,
    metrics: tuple[str, ...],
    seed: int,
    format: str,
    language: "Language",
) -> None:
    """Show how satisfied RUN's users are, and which metrics move with them.

    A metric is flagged when its correlation's interval includes 0 or lies below, or when it fell against an earlier
    run.
    """
    from offline_eval.cli.output import csv_text, rendered_sections, write_text
    from offline_eval.pipeline.feedback import follow, read_feedback, recorded_feedback
    from offline_eval.pipeline.sides import pick_sides
    from offline_eval.report.feedback import feedback_sections
    from offline_eval.report.json_document import render_record

    sides = pick_sides([run], lambda name: open_results(name, folder, metrics=metrics))
    earlier = pick_sides([against], lambda name: open_results(name, folder, metrics=metrics)) if against else []
    report = follow(
        sides,
        read_feedback(path, sides) if path else recorded_feedback(sides),
        earlier=earlier,
        earlier_feedback=read_feedback(against_file, earlier) if against_file else recorded_feedback(earlier),
        seed=seed,
    )
    if format == "json":
        click.echo(render_record(report))
    elif format == "csv":
        click.echo(csv_text([row.model_dump(mode="json") for row in report.following]), nl=False)
    else:
        write_text(rendered_sections(feedback_sections(report, language=language), format, is_file=False), None)
