"""The user's own column names (`--map`), checked on both sides: ours against our fields, theirs against the files read.

Why the right-hand side too: a misspelt column would be skipped in silence, and what it should have given would be
missing without a reason, or come from a column that the user did not mean.
"""

from collections.abc import Collection, Mapping, Sequence

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.formats.build import native_columns
from offline_eval.formats.column_table import NATIVE_COLUMNS, NativeColumns
from offline_eval.formats.row import Row


def read_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Read `OURS=THEIRS` texts: native column to the file's column.

    Raises:
        UsageError: One that is not of this form.
    """
    found = {}
    for text in pairs:
        ours, separator, theirs = text.partition("=")
        if not (ours and separator and theirs):
            raise UsageError(f"--map {text}: write OURS=THEIRS, for example --map query=question")
        found[ours] = theirs
    return found


class ColumnMap:
    """A mapping, and which columns the files turn out to have.

    Args:
        mapping: Native column to the file's column.
        fields: Native columns that these files are read for; the column of another one may stand in another file.
        optional: Those of `fields` that another file may have too: a column that lacks here is refused only where no
            row has the field under any name.

    Raises:
        UnknownNameError: A left-hand side that is no native column.
    """

    def __init__(
        self,
        mapping: Mapping[str, str],
        *,
        fields: Collection[str] = NATIVE_COLUMNS,
        optional: Collection[str] = frozenset(),
    ) -> None:
        for native in mapping:
            if native not in NATIVE_COLUMNS:
                raise UnknownNameError(
                    "field on the left of --map", native, sorted(NATIVE_COLUMNS), listed_as="the fields are"
                )
        self._mapping = mapping
        self._fields = fields
        self._optional = optional
        self._columns: dict[str, None] = {}
        self._filled: set[str] = set()

    def sorted_row(self, row: Row) -> NativeColumns:
        """The row under our names.

        Raises:
            RowError: As `native_columns`.
        """
        self._columns.update(dict.fromkeys(row.values))
        found = native_columns(row.values, mapping=self._mapping, text_cells=row.text_cells)
        self._filled.update(found.known)
        return found

    def check(self) -> None:
        """Refuse a right-hand side that stood in no row; to be called when all rows were seen.

        Raises:
            UnknownNameError: Names the nearest column, and those there are.
        """
        if not self._columns:
            return  # nothing could be read, and that is said elsewhere
        for native, column in self._mapping.items():
            is_elsewhere = native not in self._fields or (native in self._optional and native in self._filled)
            if column not in self._columns and not is_elsewhere:
                raise UnknownNameError(
                    f"column on the right of --map {native}=", column, list(self._columns), listed_as="columns here:"
                )
