"""Reads label files, native or RAGChecker's, JSON Lines, JSON, CSV or Parquet; all bad rows are refused at once.

A CSV has one row a labelled thing and one column a rater, `label:NAME`; lists and objects are JSON in their cells.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from offline_eval.benchmark.labels import LabelRow
from offline_eval.benchmark.ragchecker_labels import RagcheckerRows, is_ragchecker
from offline_eval.core.hashing import digest
from offline_eval.formats.fields import in_shape
from offline_eval.formats.json_data import faults_in
from offline_eval.formats.json_text import parse_json
from offline_eval.formats.problems import Problems, refuse
from offline_eval.formats.rows import Source, read_rows, source_name
from offline_eval.formats.wording import described, plain_words, quoted

RATER_PREFIX = "label:"
SLICE_PREFIX = "slice:"
_STRUCTURED = frozenset({"passages", "key_points", "scale", "labels", "slices"})
_OTHER_NAMES = {"question": "query", "contexts": "passages", "context": "passages", "response": "answer"}
_UNNAMED_RATER = "rater"


def read_label_file(source: Source, *, stream: IO[Any] | None = None) -> list[LabelRow]:
    """Read human labels.

    A row without an id gets one from its content; a column `label` is the label of one unnamed rater.

    Args:
        source: A file, or `-` for a stream.
        stream: What `-` reads; standard input when None.

    Returns:
        The rows in the file's order; those of a RAGChecker file joined by pair of answers.

    Raises:
        DataError: Every bad row as `file:line: what is wrong, what is expected`; also for a file without rows.
    """
    problems = Problems(source_name(source))
    found: dict[str, LabelRow] = {}
    lines: dict[str, int] = {}
    foreign = RagcheckerRows()
    for row in read_rows(source, problems, stream=stream):
        faults = faults_in(row.values, ())
        if not faults and is_ragchecker(row.values):
            faults = foreign.add(row.values)
        elif not faults:
            built, faults = _built(row.values, text_cells=row.text_cells)
            if built is not None and built.id in found:
                faults = [f"the id {quoted(built.id)} is taken by line {lines[built.id]}, expected an id of its own"]
            elif built is not None:
                found[built.id] = built
                lines[built.id] = row.line
        for fault in faults:
            problems.add(row.line, fault)
    refuse([problems])
    return [*found.values(), *(LabelRow.model_validate(values) for values in foreign.rows())]


def _built(values: Mapping[str, Any], *, text_cells: bool) -> tuple[LabelRow | None, list[str]]:
    try:
        native = _native(values, text_cells=text_cells)
    except ValueError as error:
        return None, [str(error)]
    try:
        return LabelRow.model_validate(native), []
    except ValidationError as error:
        return None, plain_words(error)


def _native(values: Mapping[str, Any], *, text_cells: bool) -> dict[str, Any]:
    """A row's columns under their native names and in native shapes; empty cells are absent.

    Raises:
        ValueError: In plain words.
    """
    row: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    slices: dict[str, Any] = {}
    for column, value in values.items():
        name = _OTHER_NAMES.get(column, column)
        if text_cells:
            value = _from_cell(name, value)
        if value is None:
            continue
        if name == "label" or name.startswith(RATER_PREFIX):
            labels[name.removeprefix(RATER_PREFIX) if name != "label" else _UNNAMED_RATER] = value
        elif name.startswith(SLICE_PREFIX):
            slices[name.removeprefix(SLICE_PREFIX)] = value
        elif name in LabelRow.model_fields:
            row[name] = in_shape(name, value)
    row["labels"] = _whole_labels({**_mapping(row.get("labels"), "labels"), **labels})
    row["slices"] = {name: str(value) for name, value in {**_mapping(row.get("slices"), "slices"), **slices}.items()}
    row.setdefault("kind", _guessed_kind(row))
    row.setdefault("id", f"l{digest('LabelRow.id', _plain(row))[:16]}")
    return row


def _from_cell(name: str, cell: str) -> Any:
    text = cell.strip()
    if not text:
        return "" if name == "answer" else None
    if name in _STRUCTURED and text[0] in "[{":
        try:
            return parse_json(text)
        except ValueError as error:
            raise ValueError(f"{name} begins like a JSON list or object but is none ({error})") from None
    if name == "label" or name.startswith(RATER_PREFIX):
        return _number(text)
    if name == "scale":
        return [_number(part.strip()) for part in text.split(",")]
    return cell


def _number(text: str) -> Any:
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


def _whole_labels(labels: Mapping[str, Any]) -> dict[str, Any]:
    """Labels with true and false as 1 and 0 and absent ones left out; spellings of a preference in one form."""
    spelled = {"a": "A", "b": "B", "tie": "tie", "c": "tie", "both": "tie"}
    found: dict[str, Any] = {}
    for rater, label in labels.items():
        if label is None or label == "":
            continue
        if isinstance(label, bool):
            label = int(label)
        if isinstance(label, str):
            label = spelled.get(label.strip().lower(), label)
        found[str(rater)] = label
    if not found:
        raise ValueError("no label, expected `labels` with at least one rater (or a column `label`)")
    return found


def _guessed_kind(row: Mapping[str, Any]) -> str:
    if row.get("answer_a") is not None or row.get("answer_b") is not None:
        return "pairwise"
    return "ordinal" if row.get("scale") else "binary"


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is {described(value)}, expected an object")
    return value


def _plain(row: Mapping[str, Any]) -> Any:
    """JSON data of a row that may hold tuples."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}


def stem(source: Source) -> str:
    """A label file's short name for tables."""
    return Path(source).name.split(".", 1)[0] or str(source)
