"""Translates other people's column names into ours, so that their files are read without being rewritten first."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from offline_eval.core.records import Case, Response
from offline_eval.core.registry import Registry

NATIVE_COLUMNS: frozenset[str] = frozenset(Case.model_fields) | frozenset(Response.model_fields)


@dataclass(frozen=True)
class ColumnTable:
    """How one family of files names things.

    Attributes:
        marks: Columns that give the format away; the table with most of them in a row is asked first.
        columns: Their name to ours; for a native column that several names mean, the first one present wins.
        kept: Columns that mean something else here than in other formats; they go to the metadata untouched.
    """

    marks: frozenset[str]
    columns: Mapping[str, str]
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True)
class NativeColumns:
    """A row sorted by our names.

    Attributes:
        known: Native column to value; null counts as absent.
        extra: Everything else, under the file's own names.
        names: Native column to the name it has in the file, for messages.
    """

    known: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def sort_columns(values: Mapping[str, Any], mapping: Mapping[str, str]) -> NativeColumns:
    """Sort one row's columns into native ones and the rest.

    What the user mapped comes first, then our own names, then the names of other evaluators.

    Args:
        values: The row as it stands in the file.
        mapping: Native column to the file's column.
    """
    row = NativeColumns()
    taken: set[str] = set()
    for theirs, native in _candidates(values, mapping):
        if theirs not in values or theirs in taken or native in row.known:
            continue
        taken.add(theirs)
        if values[theirs] is not None:
            row.known[native] = values[theirs]
            row.names[native] = theirs
    row.extra.update((name, value) for name, value in values.items() if name not in taken)
    return row


def other_names(native: str) -> list[str]:
    """The names other evaluators have for a native column, for messages."""
    return sorted({theirs for table in _tables() for theirs, ours in table.columns.items() if ours == native})


def _candidates(values: Mapping[str, Any], mapping: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for native, theirs in mapping.items():
        yield theirs, native
    for native in NATIVE_COLUMNS & values.keys():
        yield native, native
    tables = sorted(_tables(), key=lambda table: -len(table.marks & values.keys()))
    kept = tables[0].kept if tables[0].marks & values.keys() else frozenset()
    for table in tables:
        yield from _without(kept, table.columns.items())


def _without(kept: frozenset[str], pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((theirs, native) for theirs, native in pairs if theirs not in kept)


@cache
def _tables() -> tuple[ColumnTable, ...]:
    registry = Registry("column table", "offline_eval.formats.columns", "TABLE")
    return tuple(registry.load(name) for name in registry.names())
