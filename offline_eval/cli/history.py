"""`offline-eval history`: how metrics moved over a folder of runs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offline_eval.cli.language_option import language_option
from offline_eval.cli.run_files import run_paths

if TYPE_CHECKING:
    from offline_eval.report.html_texts import Language

FORMATS = ("table", "json", "csv", "md", "html")


@click.command(name="history")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@click.option(
    "--metrics", multiple=True, help="Metrics or groups; scored from stored evidence.  [default: the runs' own]"
)
@click.option("--system", "systems", multiple=True, help="Show this system only; repeat for several.")
@click.option("--format", "format", type=click.Choice(FORMATS), help="[default: by --out's ending, else table]")
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
@language_option
def command(
    folder: Path,
    metrics: tuple[str, ...],
    systems: tuple[str, ...],
    format: str | None,
    out: Path | None,
    language: "Language",
) -> None:
    """Show every metric's trend over the runs in FOLDER, with intervals.

    Marks show where test set, judge or rubric changed. A file that cannot be read is named and left out.
    """
    from offline_eval.cli.output import format_by_ending, write_text
    from offline_eval.cli.progress import Progress
    from offline_eval.cli.run_files import open_results
    from offline_eval.core.errors import UsageError
    from offline_eval.pipeline.history import read_history

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; name the folder of the run files")
    with Progress() as shown:
        history = read_history(
            run_paths(folder),
            lambda path: open_results(str(path), folder, metrics=metrics),
            folder=str(folder),
            systems=systems,
            progress=lambda done, total: shown.tell("runs read", done, total),
        )
    chosen = format or format_by_ending(out, FORMATS)
    write_text(_rendered(history, chosen, is_file=out is not None, language=language), out)


def _rendered(found: object, format: str, *, is_file: bool, language: "Language") -> str:
    from offline_eval.cli.output import csv_text, rendered_sections
    from offline_eval.core.history import History
    from offline_eval.report.history import (
        change_texts,
        figures,
        history_document,
        history_sections,
        history_title,
    )

    assert isinstance(found, History)
    if format == "json":
        return history_document(found)
    if format == "csv":
        rows = [
            {
                "run": run.run_id,
                "written": run.changed,
                **estimate.model_dump(mode="json"),
                "changes": change_texts(run),
            }
            for run in found.runs
            for estimate in run.estimates
        ]
        return csv_text(rows)
    sections = history_sections(found, language=language)
    if format == "html":
        from offline_eval.report.page import render_page

        title = history_title(found, language=language)
        return render_page(title, sections, figures=figures(found, language=language), language=language)
    return rendered_sections(sections, format, is_file=is_file)
