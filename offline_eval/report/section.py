"""One heading of a report with its table and lines; what the terminal, Markdown and the page all draw."""

from offline_eval.core.records import Record


class Section(Record):
    """A heading with a table, lines, or both.

    Attributes:
        columns: Header of the table; empty when there is none.
        rows: Cells, each row as long as `columns`.
        lines: Text below the table.
    """

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    lines: tuple[str, ...] = ()
