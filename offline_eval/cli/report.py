"""`offline-eval report`: a finished run for people and programs."""

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offline_eval.cli.output import format_by_ending, write_text
from offline_eval.cli.run_files import open_run, runs_option
from offline_eval.core.summary import RunSummary

if TYPE_CHECKING:
    from offline_eval.pipeline.aggregate import Results
    from offline_eval.report.html_texts import Language

REPORT_FORMATS = ("table", "md", "json")
HTML = "html"


@click.command(name="report")
@click.argument("run")
@runs_option
@click.option(
    "--format", "format", type=click.Choice((*REPORT_FORMATS, HTML)), help="[default: by --out's ending, else table]"
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
@click.option(
    "--language",
    type=click.Choice(["zh", "en", "auto"]),
    default="auto",
    show_default=True,
    help="Of the HTML report; auto takes the language of most cases.",
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Human labels (`labels export`) for the HTML report's reliability curve.",
)
def command(run: str, folder: Path, format: str | None, out: Path | None, language: str, labels: Path | None) -> None:
    """Print RUN (an id, its beginning, a path, or `latest`)."""
    from offline_eval.pipeline.aggregate import Results, summarize

    chosen = format or format_of(out)
    gc.disable()  # a report makes a million small records and no cycles; looking for some takes a third of its time
    try:
        results = Results(open_run(run, folder))
        if chosen == HTML:
            write_text(html(results, language=language, labels=labels), out)
            return
        show(summarize(results), chosen, out=out)
    finally:
        gc.enable()


def format_of(out: Path | None) -> str:
    """The format that a file's ending asks for; a table when it asks for none."""
    return format_by_ending(out, (*REPORT_FORMATS, HTML))


def show(summary: RunSummary, format: str, *, out: Path | None = None) -> None:
    """Print a summary or write it to a file."""
    write_text(rendered(summary, format, for_file=out is not None), out)


def html(
    results: "Results", *, language: str = "auto", summary: RunSummary | None = None, labels: Path | None = None
) -> str:
    """The report as one self-contained HTML file.

    Args:
        language: `zh`, `en`, or `auto` for the language of most cases.
        summary: Of the results, where it was made already.
        labels: A file of human labels, for the reliability curve.
    """
    from offline_eval.cli.report_labels import read_grades
    from offline_eval.pipeline.report_frame import report_frame
    from offline_eval.pipeline.response_details import response_details
    from offline_eval.report.html import render

    frame = report_frame(results, summary=summary, labels=read_grades(labels) if labels else None)
    wanted: Language | None = "zh" if language == "zh" else "en" if language == "en" else None
    return render(frame, response_details(results, frame), language=wanted)


def rendered(summary: RunSummary, format: str, *, for_file: bool) -> str:
    """A summary as text."""
    if format == "json":
        from offline_eval.report.json_document import render as json_document

        return json_document(summary)
    if format == "md":
        from offline_eval.report.markdown import render as markdown

        return markdown(summary)
    import shutil
    import sys

    from offline_eval.report.terminal import render as table

    is_terminal = sys.stdout.isatty() and not for_file
    return table(summary, width=shutil.get_terminal_size().columns if is_terminal else 160, color=is_terminal)
