"""`offline-eval report`: a finished run for people and programs."""

from pathlib import Path

import click

from offline_eval.cli.run_files import open_run, runs_option
from offline_eval.core.summary import RunSummary

REPORT_FORMATS = ("table", "md", "json")


@click.command(name="report")
@click.argument("run")
@runs_option
@click.option("--format", "format", type=click.Choice(REPORT_FORMATS), help="[default: by --out's ending, else table]")
@click.option("--out", type=click.Path(path_type=Path), help="Write to a file instead of printing.")
def command(run: str, folder: Path, format: str | None, out: Path | None) -> None:
    """Print RUN (an id, its beginning, a path, or `latest`)."""
    from offline_eval.pipeline.aggregate import Results, summarize

    show(summarize(Results(open_run(run, folder))), format or format_of(out), out=out)


def format_of(out: Path | None) -> str:
    """The format that a file's ending asks for; a table when it asks for none."""
    ending = out.suffix.removeprefix(".") if out is not None else ""
    return ending if ending in REPORT_FORMATS else "table"


def show(summary: RunSummary, format: str, *, out: Path | None = None) -> None:
    """Print a summary or write it to a file."""
    text = rendered(summary, format, for_file=out is not None)
    if out is None:
        click.echo(text)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, "utf-8")
    click.echo(f"report written to {out}", err=True)


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
