"""The summary as text for a terminal, drawn by rich."""

import io

from offline_eval.core.summary import RunSummary
from offline_eval.report.sections import Section, sections


def render(summary: RunSummary, *, width: int = 120, color: bool = False) -> str:
    """The whole report.

    Args:
        width: Columns of the terminal.
        color: Whether to use colours.
    """
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(file=buffer, width=width, force_terminal=color, no_color=not color, highlight=False, emoji=False)
    for section in sections(summary):
        _print(console, section)
    return buffer.getvalue()


def _print(console: object, section: Section) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    assert isinstance(console, Console)
    console.print(Text(section.title, style="bold"))
    if section.rows:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
        for column in section.columns:
            table.add_column(Text(column), overflow="fold")
        for row in section.rows:
            table.add_row(*(Text(_visible(cell)) for cell in row))
        console.print(table)
    for line in section.lines:
        console.print(Text(_visible(line)))
    console.print()


def _visible(text: str) -> str:
    """Control and direction characters made visible: data must not drive the terminal."""
    return "".join(char if char.isprintable() or char == " " else f"\\x{ord(char):02x}" for char in text)
