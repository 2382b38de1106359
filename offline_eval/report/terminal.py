"""The summary as text for a terminal, drawn by rich."""

import io
from collections.abc import Sequence

from offline_eval.core.summary import RunSummary
from offline_eval.report.sections import Section, sections
from offline_eval.report.visible import visible


def render(summary: RunSummary, *, width: int = 120, color: bool = False) -> str:
    """The whole report.

    Args:
        width: Columns of the terminal.
        color: Whether to use colours.
    """
    return render_sections(sections(summary), width=width, color=color)


def render_sections(shown: Sequence[Section], *, width: int = 120, color: bool = False) -> str:
    """Sections in their order, as `render` shows a summary's."""
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(file=buffer, width=width, force_terminal=color, no_color=not color, highlight=False, emoji=False)
    for section in shown:
        _print(console, section)
    return buffer.getvalue()


def _print(console: object, section: Section) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    assert isinstance(console, Console)
    console.print(Text(visible(section.title), style="bold"))
    if section.rows:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
        for column in section.columns:
            table.add_column(Text(visible(column)), overflow="fold")
        for row in section.rows:
            table.add_row(*(Text(visible(cell)) for cell in row))
        console.print(table)
    for line in section.lines:
        console.print(Text(visible(line)))
    console.print()
