"""Makes cases and responses out of rows; the one place where a row is accepted or refused, whoever brought it."""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from offline_eval.core.hashing import digest
from offline_eval.core.records import Case, Record, Response
from offline_eval.formats.column_table import NativeColumns, other_names, sort_columns
from offline_eval.formats.fields import from_cell, in_shape
from offline_eval.formats.json_data import faults_in
from offline_eval.formats.wording import plain_words, quoted

_ID_DIGITS = 16
_ANSWERS = ("answer", "passages", "rankings", "error")

AnyRecord = TypeVar("AnyRecord", bound=Record)


class RowError(ValueError):
    """A row that was refused, with everything that is wrong with it in plain words."""

    def __init__(self, faults: Collection[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(faults))


def native_columns(
    values: Mapping[str, Any], *, mapping: Mapping[str, str] | None = None, text_cells: bool = False
) -> NativeColumns:
    """Sort a row's columns and bring the known ones into native types and shapes.

    Args:
        values: The row, or what a system under test returned.
        mapping: Native column to the row's column.
        text_cells: Whether all values are text because the format has no types.

    Raises:
        RowError: Values that no record may hold, or cells that cannot be read.
    """
    row = sort_columns(values, mapping or {})
    faults: list[str] = []
    known: dict[str, Any] = {}
    for name, value in row.known.items():
        if text_cells:
            try:
                value = from_cell(name, value)
            except ValueError as error:
                faults.append(f"{row.names[name]} {error}")
                continue
        found = faults_in(value, (row.names[name],))
        faults.extend(found)
        if not found and value is not None:
            known[name] = in_shape(name, value)
    faults.extend(faults_in(row.extra, ()))
    if faults:
        raise RowError(faults)
    return NativeColumns(known=known, extra=row.extra, names=row.names)


def has_case_id(row: NativeColumns) -> bool:
    """Whether the row says which case it is about; `case_id` goes before `id`, which may be the row's own."""
    return "case_id" in row.known or "id" in row.known


def build_case(row: NativeColumns, *, with_metadata: bool = True) -> Case:
    """Make a case of a row's case columns; columns of an answer are left to `build_response`.

    Without an id the case gets one from its content (metadata aside), the same in every file.

    Args:
        row: From `native_columns`.
        with_metadata: Whether unknown columns and `metadata` belong to the case.

    Raises:
        RowError: A missing query, wrong types or values out of range.
    """
    known = {name: value for name, value in row.known.items() if name in Case.model_fields and name != "metadata"}
    faults = _grade_faults(row)
    if isinstance(known.get("query", ""), str) and not known.get("query", "").strip():
        faults.append(_no_query(row))
        known["query"] = "?"  # so that the row's other faults are found too
    if "case_id" in row.known:
        known["id"] = row.known["case_id"]
    if not has_case_id(row):
        known["id"] = f"c{digest('Case.id', known)[:_ID_DIGITS]}"
    metadata = _metadata(row) if with_metadata else {}
    return _validated(Case, {**known, "metadata": metadata}, row, faults)


def build_response(row: NativeColumns, *, case_id: str, system: str) -> Response:
    """Make a response of a row's answer columns.

    Args:
        row: From `native_columns`.
        case_id: The case it answers.
        system: Name of the system, for rows that name none.

    Raises:
        RowError: Nothing that could be an answer, wrong types, values out of range, or passages that share an id.
    """
    known = {name: value for name, value in row.known.items() if name in Response.model_fields and name != "metadata"}
    faults = []
    if not any(name in known for name in _ANSWERS):
        names = ", ".join(map(quoted, ("answer", *other_names("answer"))))
        faults.append(f"no answer, expected one of the columns {names} (or 'passages', 'rankings', 'error')")
    values = {"system": system, **known, "case_id": case_id, "metadata": _metadata(row)}
    response = _validated(Response, values, row, faults)
    _refuse_ambiguous_passages(response)
    return response


def _validated(kind: type[AnyRecord], values: dict[str, Any], row: NativeColumns, faults: list[str]) -> AnyRecord:
    try:
        record = kind.model_validate(values, strict=True)
    except ValidationError as error:
        raise RowError([*faults, *plain_words(error, row.names)]) from None
    if faults:
        raise RowError(faults)
    return record


def _metadata(row: NativeColumns) -> Any:
    """The `metadata` column with the unknown columns added; a name that both use keeps both values."""
    own = row.known.get("metadata", {})
    if not isinstance(own, dict):
        return own  # refused by the record
    extra = {f"{name} (column)" if name in own else name: value for name, value in row.extra.items()}
    return {**own, **extra}


def _no_query(row: NativeColumns) -> str:
    columns = ", ".join(quoted(name) for name in [*row.names.values(), *row.extra]) or "none"
    names = ", ".join(map(quoted, ("query", *other_names("query"))))
    return f"no query, expected text in one of the columns {names} (or --map query=COLUMN); columns here: {columns}"


def _grade_faults(row: NativeColumns) -> list[str]:
    return [
        f"{row.names[name]}[{quoted(key)}] is {grade}, expected a grade of 0 or more"
        for name in ("relevant_passages", "relevant_documents")
        if isinstance(grades := row.known.get(name), dict)
        for key, grade in grades.items()
        if isinstance(grade, int) and grade < 0
    ]


def _refuse_ambiguous_passages(response: Response) -> None:
    """The same passage may be retrieved twice; two texts under one id would be mixed up by every later step."""
    texts: dict[str, str] = {}
    faults = [
        f"passages has two texts under the id {quoted(passage.id)}, expected one id for each text"
        for passage in response.passages
        if texts.setdefault(passage.id, passage.text) != passage.text
    ]
    if faults:
        raise RowError(faults)
