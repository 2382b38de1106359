"""A BEIR folder (`corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv`), the usual form of public retrieval sets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from offline_eval.core.errors import DataError
from offline_eval.core.ranking import Qrels
from offline_eval.core.records import Passage
from offline_eval.formats.lines import json_rows
from offline_eval.formats.trec import read_qrels

_CORPUS = "corpus.jsonl"
_QUERIES = "queries.jsonl"


def is_beir_folder(path: Path) -> bool:
    """Whether a folder holds a BEIR corpus."""
    return _find(path, _CORPUS) is not None


def read_corpus(folder: Path) -> Iterator[Passage]:
    """Stream the documents; `_id`, `title` and `text` are used, everything else goes to `metadata`.

    Raises:
        DataError: Rows that cannot be read; all are listed, after the last readable one.
    """
    path = _require(folder, _CORPUS)
    problems: list[str] = []
    for number, row in json_rows(path, problems):
        missing = [name for name in ("_id", "text") if name not in row]
        if missing or not str(row["_id"]):
            problems.append(f"{path}:{number}: lacks {' and '.join(missing or ['_id'])}, expected _id, title, text")
            continue
        title = str(row.get("title") or "") or None
        yield Passage(id=str(row["_id"]), text=str(row["text"]), title=title, metadata=_metadata(row))
    if problems:
        raise DataError(problems)


def read_queries(folder: Path) -> dict[str, str]:
    """Read the queries.

    Returns:
        Query id to query.

    Raises:
        DataError: Rows that cannot be read or repeat an id; all are listed.
    """
    path = _require(folder, _QUERIES)
    problems: list[str] = []
    queries: dict[str, str] = {}
    for number, row in json_rows(path, problems):
        if "_id" not in row or "text" not in row:
            problems.append(f"{path}:{number}: expected _id and text")
        elif str(row["_id"]) in queries:
            problems.append(f"{path}:{number}: query id {row['_id']!r} occurs twice")
        else:
            queries[str(row["_id"])] = str(row["text"])
    if problems:
        raise DataError(problems)
    return queries


def read_split(folder: Path, split: str) -> Qrels:
    """Read the judgements of one split.

    Args:
        folder: The BEIR folder.
        split: For example `test`.

    Raises:
        DataError: No such split, or lines that cannot be read.
    """
    path = folder / "qrels" / f"{split}.tsv"
    if not path.is_file():
        known = sorted(found.stem for found in (folder / "qrels").glob("*.tsv"))
        raise DataError(f"{path}: no such split; the folder has {', '.join(known) or 'none'}")
    return read_qrels(path)


def _metadata(row: dict[str, Any]) -> dict[str, Any]:
    inner = row.get("metadata")
    extra = {key: value for key, value in row.items() if key not in ("_id", "title", "text", "metadata")}
    return {**(inner if isinstance(inner, dict) else {}), **extra}


def _find(folder: Path, name: str) -> Path | None:
    candidates = (folder / name, folder / f"{name}.gz")
    return next((path for path in candidates if path.is_file()), None)


def _require(folder: Path, name: str) -> Path:
    path = _find(folder, name)
    if path is None:
        raise DataError(f"{folder}: no {name} in it; a BEIR folder has {_CORPUS}, {_QUERIES} and qrels/")
    return path
