"""Where a command's text goes, and how sections and rows become text, the same for every command that has both."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic import JsonValue

if TYPE_CHECKING:
    from offline_eval.report.sections import Section

_FILE_WIDTH = 200


def format_by_ending(out: Path | None, formats: Sequence[str]) -> str:
    """The format a file's ending asks for; the first one when it asks for none."""
    ending = out.suffix.removeprefix(".") if out is not None else ""
    return ending if ending in formats else formats[0]


def append_text(text: str, out: Path) -> None:
    """Add a text to the end of a file, as CI job summaries want it.

    Raises:
        DataError: The file cannot be written.
    """
    from offline_eval.core.errors import DataError

    try:
        with out.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise DataError(f"{out}: cannot be written ({error.strerror or error}); check the folder") from error


def write_text(text: str, out: Path | None) -> None:
    """Print a text, or write it to a file and say so.

    Raises:
        DataError: The file cannot be written.
    """
    if out is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    from offline_eval.core.errors import DataError

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, "utf-8")
    except OSError as error:
        raise DataError(f"{out}: cannot be written ({error.strerror or error}); check the folder") from error
    click.echo(f"written to {out}", err=True)


def rendered_sections(sections: "Sequence[Section]", format: str, *, is_file: bool) -> str:
    """Sections as a terminal's table or as Markdown."""
    if format == "md":
        from offline_eval.report.markdown import render_sections as markdown

        return markdown(sections)
    from offline_eval.report.terminal import render_sections as table

    is_terminal = sys.stdout.isatty() and not is_file
    return table(sections, width=shutil.get_terminal_size().columns if is_terminal else _FILE_WIDTH, color=is_terminal)


def csv_text(rows: Sequence[Mapping[str, JsonValue]]) -> str:
    """Rows as CSV, the first row's keys as header; lists and objects appear as JSON."""
    from offline_eval.cli.rows import csv_of

    return csv_of(rows, list(rows[0]) if rows else [])
