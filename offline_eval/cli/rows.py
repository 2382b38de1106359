"""Rows of results on stdout as a table, JSON, JSON Lines, CSV or Markdown, so that every command prints alike."""

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Literal

import click
from pydantic import JsonValue

RowFormat = Literal["table", "json", "jsonl", "csv", "md"]
FORMATS = ("table", "json", "jsonl", "csv", "md")
Row = Mapping[str, JsonValue]
_NO_TERMINAL_WIDTH = 10_000


def print_rows(rows: Sequence[Row], format: RowFormat, *, columns: Sequence[str] = (), title: str = "") -> None:
    """Print rows.

    Args:
        rows: Each a mapping of column to JSON value; lists and objects appear as JSON in flat formats.
        format: For people (`table`, `md`: numbers with three significant digits) or for programs (full precision).
        columns: Columns of the flat formats, in order; those of the first row when empty. JSON always has all.
        title: Above a table or a Markdown table.
    """
    if format == "json":
        click.echo(json.dumps(list(rows), ensure_ascii=False, indent=1))
        return
    if format == "jsonl":
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False))
        return
    names = list(columns) or list(rows[0] if rows else ())
    if format == "csv":
        click.echo(csv_of(rows, names), nl=False)
    elif format == "md":
        _print_markdown(rows, names, title)
    else:
        _print_table(rows, names, title)


def for_people(value: JsonValue) -> str:
    """A value as people read it: three significant digits, nothing for null."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        return ", ".join(for_people(item) for item in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def csv_of(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Rows as CSV with these columns."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in names])
    return stream.getvalue()


def _cell(value: JsonValue) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _print_markdown(rows: Sequence[Row], names: Sequence[str], title: str) -> None:
    if title:
        click.echo(f"**{title}**\n")
    click.echo("| " + " | ".join(names) + " |")
    click.echo("|" + " --- |" * len(names))
    for row in rows:
        cells = [for_people(row.get(name)).replace("|", "\\|").replace("\n", " ") for name in names]
        click.echo("| " + " | ".join(cells) + " |")


def _print_table(rows: Sequence[Row], names: Sequence[str], title: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for name in names:
        numeric = all(isinstance(row.get(name), int | float | None) for row in rows)
        table.add_column(Text(name), justify="right" if numeric and rows else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(for_people(row.get(name))) for name in names))
    # A pipe or a file has no width; nothing may be cut or folded there.
    Console(highlight=False, width=None if sys.stdout.isatty() else _NO_TERMINAL_WIDTH).print(table)
