"""Reads cases and responses; either everything is right, or one error lists all that is wrong."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from offline_eval.core.records import Case, Response
from offline_eval.formats.build import RowError, build_case, build_response, has_case_id
from offline_eval.formats.column_map import ColumnMap
from offline_eval.formats.column_table import NativeColumns
from offline_eval.formats.problems import Problems, refuse
from offline_eval.formats.rows import STDIN, Source, read_rows, source_name
from offline_eval.formats.wording import described, quoted

Built = TypeVar("Built")

DEFAULT_SYSTEM = "system"
_IN_BOTH = frozenset({"id", "query", "metadata"})  # of the cases' columns: a file of responses may have them too
_UNKNOWN = "?"  # stands in for a case that could not be read, while the rest of its row is checked
NO_MAPPING: Mapping[str, str] = {}


def read_cases(
    source: Source, *, mapping: Mapping[str, str] = NO_MAPPING, format: str | None = None, stream: IO[Any] | None = None
) -> list[Case]:
    """Read test cases. Columns that hold an answer are ignored; unknown columns go to the metadata.

    Args:
        source: A file, a dataset folder, or `-` for a stream.
        mapping: Native column to the file's column, for names that are not understood by themselves.
        format: `jsonl`, `json`, `csv`, `parquet` or `huggingface`; guessed when None.
        stream: What `-` reads (text or binary); standard input when None.

    Raises:
        DataError: All bad rows, as `file:line: what is wrong, what is expected`; also for a file without rows.
        UsageError: An unknown format, a mapping that names no field or no column, or a package that is missing.
    """
    problems = Problems(source_name(source))
    cases = _Cases()
    columns = ColumnMap(mapping, fields=Case.model_fields, optional=_IN_BOTH)

    def take(row: NativeColumns, line: int) -> None:
        cases.add(build_case(row), line, named=has_case_id(row))

    _each_row(source, problems, take, columns=columns, format=format, stream=stream)
    columns.check()
    refuse([problems])
    return cases.all()


def read_responses(
    sources: Source | Sequence[Source],
    *,
    cases: Sequence[Case],
    mapping: Mapping[str, str] = NO_MAPPING,
    format: str | None = None,
    system: str | None = None,
    stream: IO[Any] | None = None,
) -> list[Response]:
    """Read recorded responses. Columns that describe the case are ignored; unknown columns go to the metadata.

    A row belongs to the case named by `case_id`, else by `id`, else to the only case with the row's query.

    Args:
        sources: One or several files; of one or several systems.
        cases: What was asked.
        mapping: Native column to the file's column.
        format: As for `read_cases`; holds for all sources.
        system: Name of the system, for rows that name none. Without it such rows get the file's name when there are
            several files, else `system`.
        stream: What `-` reads.

    Raises:
        DataError: All bad rows of all files.
        UsageError: As for `read_cases`.
    """
    listed: Sequence[Source] = [sources] if isinstance(sources, str | Path) else sources
    responses = _Responses({case.id: case for case in cases})
    columns = ColumnMap(mapping, fields=Response.model_fields.keys() - _IN_BOTH)
    files = []
    for source in listed:
        problems = Problems(source_name(source))
        files.append(problems)
        default = system or (_stem(source) if len(listed) > 1 else DEFAULT_SYSTEM)

        def take(row: NativeColumns, line: int, where: str = problems.name, default: str = default) -> None:
            faults: list[str] = []
            case_id = _tried(lambda: responses.case_id(row), faults)
            response = _tried(lambda: build_response(row, case_id=case_id or _UNKNOWN, system=default), faults)
            if case_id and response:
                _tried(lambda: responses.add(response, f"{where}:{line}"), faults)
            _refuse_row(faults)

        _each_row(source, problems, take, columns=columns, format=format, stream=stream)
    columns.check()
    refuse(files)
    return responses.all()


def read_combined(
    source: Source,
    *,
    mapping: Mapping[str, str] = NO_MAPPING,
    format: str | None = None,
    system: str | None = None,
    stream: IO[Any] | None = None,
) -> tuple[list[Case], list[Response]]:
    """Read rows that hold question and answer together, as most evaluators' files do.

    Several rows may answer one case; then they must agree about it. Unknown columns and `metadata` go to the response,
    because they may differ between such rows.

    Args:
        source: As for `read_cases`.
        mapping: As for `read_cases`.
        format: As for `read_cases`.
        system: Name of the system, for rows that name none; `system` when None.
        stream: As for `read_cases`.

    Returns:
        The cases and the responses, each in the order of the file.

    Raises:
        DataError: All bad rows.
        UsageError: As for `read_cases`.
    """
    problems = Problems(source_name(source))
    cases = _Cases()
    responses = _Responses(cases.by_id)
    columns = ColumnMap(mapping)

    def take(row: NativeColumns, line: int) -> None:
        faults: list[str] = []
        case = _tried(lambda: cases.add(build_case(row, with_metadata=False), line, again=True), faults)
        case_id = case.id if case else _UNKNOWN
        response = _tried(lambda: build_response(row, case_id=case_id, system=system or DEFAULT_SYSTEM), faults)
        if case and response:
            _tried(lambda: responses.add(response, f"line {line}"), faults)
        _refuse_row(faults)

    _each_row(source, problems, take, columns=columns, format=format, stream=stream)
    columns.check()
    refuse([problems])
    return cases.all(), responses.all()


def _each_row(
    source: Source,
    problems: Problems,
    take: Callable[[NativeColumns, int], None],
    *,
    columns: ColumnMap,
    format: str | None,
    stream: IO[Any] | None,
) -> None:
    for row in read_rows(source, problems, format=format, stream=stream):
        try:
            take(columns.sorted_row(row), row.line)
        except RowError as error:
            for fault in error.faults:
                problems.add(row.line, fault)


def _tried(step: Callable[[], Built], faults: list[str]) -> Built | None:
    """The step's result, or None with its faults noted, so that the rest of the row is looked at too."""
    try:
        return step()
    except RowError as error:
        faults.extend(error.faults)
        return None


def _refuse_row(faults: Sequence[str]) -> None:
    if faults:
        raise RowError(list(dict.fromkeys(faults)))


def _stem(source: Source) -> str:
    return STDIN if str(source) == STDIN else Path(source).name.split(".", 1)[0] or str(source)


class _Cases:
    """Cases by id, with the line each came from."""

    def __init__(self) -> None:
        self.by_id: dict[str, Case] = {}
        self._lines: dict[str, int] = {}

    def add(self, case: Case, line: int, *, named: bool = True, again: bool = False) -> Case:
        """Keep a case; `named` says that its id stands in the row, `again` lets an equal one come again."""
        first = self.by_id.get(case.id)
        if first is None:
            self.by_id[case.id] = case
            self._lines[case.id] = line
        elif not again:
            what = f"the id {quoted(case.id)} is taken by" if named else "the row has no id and asks the same as"
            raise RowError([f"{what} line {self._lines[case.id]}, expected an id of its own"])
        elif first != case:
            differing = [name for name in Case.model_fields if getattr(first, name) != getattr(case, name)]
            raise RowError(
                [
                    f"the case {quoted(case.id)} differs from line {self._lines[case.id]} in {', '.join(differing)}, "
                    "expected the same case or another id"
                ]
            )
        return case

    def all(self) -> list[Case]:
        """In the order of the file."""
        return list(self.by_id.values())


class _Responses:
    """Responses by key, with the place each came from; knows which cases there are."""

    def __init__(self, cases: Mapping[str, Case]) -> None:
        self._cases = cases
        self._found: dict[tuple[str, str, int | None, int], Response] = {}
        self._places: dict[tuple[str, str, int | None, int], str] = {}
        self._ids_by_query: dict[str, list[str]] = {}
        for case in cases.values():
            self._ids_by_query.setdefault(case.query, []).append(case.id)

    def case_id(self, row: NativeColumns) -> str:
        """The case a row belongs to."""
        named = row.known.get("case_id", row.known.get("id"))
        if named is None:
            return self._asked(row.known.get("query"))
        if not isinstance(named, str):
            column = row.names.get("case_id") or row.names["id"]
            raise RowError([f"{column} is {described(named)}, expected text or a number"])
        if named not in self._cases:
            expected = f"one of {len(self._cases)} cases' ids, as {next(map(quoted, self._cases), 'none')}"
            raise RowError([f"no case has the id {quoted(named)}, expected {expected}"])
        return named

    def _asked(self, query: Any) -> str:
        ids = self._ids_by_query.get(query, []) if isinstance(query, str) else []
        if len(ids) == 1:
            return ids[0]
        why = f" (the query {quoted(query)} is asked by {len(ids) or 'no'} cases)" if isinstance(query, str) else ""
        raise RowError([f"no case_id{why}, expected the id of a case (or --map case_id=COLUMN)"])

    def add(self, response: Response, place: str) -> None:
        """Keep a response of a known case whose key is new."""
        case = self._cases[response.case_id]
        if response.variant is not None and response.variant >= len(case.variants):
            raise RowError(
                [f"variant is {response.variant}, but case {quoted(case.id)} has {len(case.variants)} (counted from 0)"]
            )
        key = (response.system, response.case_id, response.variant, response.attempt)
        if key in self._found:
            raise RowError(
                [
                    f"system {quoted(response.system)} already answered case {quoted(response.case_id)} at "
                    f"{self._places[key]}, expected one response each (or `attempt` 2, 3, … for further tries)"
                ]
            )
        self._found[key] = response
        self._places[key] = place

    def all(self) -> list[Response]:
        """In the order of the files."""
        return list(self._found.values())
