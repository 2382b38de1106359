"""Documents from whatever they lie in: JSONL, Parquet, a BEIR folder, TREC SGML, or a folder of Markdown and text."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from offline_eval.core.errors import DataError
from offline_eval.core.records import Passage
from offline_eval.formats import beir, trec
from offline_eval.formats.lines import json_rows, numbered_lines

_TEXT_SUFFIXES = (".md", ".markdown", ".txt")
_JSON_SUFFIXES = (".jsonl", ".ndjson")
_ID_COLUMNS = ("id", "_id", "passage_id", "chunk_id", "doc_id", "document_id", "docno")
_TEXT_COLUMNS = ("text", "contents", "content", "passage", "body", "page_content")
_DOCUMENT_COLUMNS = ("doc_id", "document_id")
_QUERY_COLUMNS = ("query", "question", "text")
_SNIFFED = 50  # lines looked at for a tag


def read_corpus(path: Path) -> Iterator[Passage]:
    """Stream the documents of a corpus; the form is known by the name, else by the first lines.

    Args:
        path: `.jsonl`/`.ndjson` (gz too), `.parquet`, a TREC SGML file (gz too), a BEIR folder, a folder with `.md`,
            `.markdown` or `.txt` files at any depth, or one such file.

    Yields:
        Passages that stand for whole documents; ids are the file's own, or the path inside the folder.

    Raises:
        DataError: Not readable, no documents, or bad rows; all bad rows are listed, after the last readable one.
    """
    found = False
    for document in _documents(path):
        found = True
        yield document
    if not found:
        raise DataError(f"{path}: no documents in it; expected JSONL, Parquet, BEIR, TREC or Markdown/text files")


def read_queries(path: Path, *, by_position: bool = False) -> dict[str, str]:
    """Read queries: a TREC topics file, a BEIR folder, JSONL with `id` and `query`, or lines of `id<TAB>query`.

    Args:
        path: File or BEIR folder.
        by_position: For TREC topics: number them by their place in the file.

    Returns:
        Query id to query.

    Raises:
        DataError: Rows that cannot be read or repeat an id; all are listed.
    """
    if path.is_dir():
        return beir.read_queries(path)
    if _json_lines(path):
        return _queries_from(path, _json_queries(path))
    if _starts_with_tag(path, "<top"):
        return trec.read_topics(path, by_position=by_position)
    return _queries_from(path, _tsv_queries(path))


def _documents(path: Path) -> Iterator[Passage]:
    if not path.exists():
        raise DataError(f"{path}: no such file or folder; check the path")
    if path.is_dir():
        return beir.read_corpus(path) if beir.is_beir_folder(path) else _text_folder(path)
    if _json_lines(path):
        return _from_jsonl(path)
    if path.suffix == ".parquet":
        return _from_parquet(path)
    if path.suffix in _TEXT_SUFFIXES:
        return iter([_text_file(path, path.name)])
    if _starts_with_tag(path, "<doc"):
        return trec.read_documents(path)
    raise DataError(
        f"{path}: unknown form; expected .jsonl, .parquet, .md, .txt, a TREC file with <doc> or a folder of these"
    )


def _from_jsonl(path: Path) -> Iterator[Passage]:
    problems: list[str] = []
    for number, row in json_rows(path, problems):
        document = _document(row, f"{path}:{number}", problems)
        if document is not None:
            yield document
    if problems:
        raise DataError(problems)


def _from_parquet(path: Path) -> Iterator[Passage]:
    import pyarrow
    from pyarrow import parquet

    problems: list[str] = []
    try:
        table = parquet.ParquetFile(path)
        number = 0
        for batch in table.iter_batches(batch_size=1024):
            for row in batch.to_pylist():
                number += 1
                document = _document(row, f"{path}: row {number}", problems)
                if document is not None:
                    yield document
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a readable Parquet file ({error})") from None
    if problems:
        raise DataError(problems)


def _document(row: Mapping[str, Any], where: str, problems: list[str]) -> Passage | None:
    """One row as a passage, or None with a problem noted."""
    id_column = _first(row, _ID_COLUMNS)
    text_column = _first(row, _TEXT_COLUMNS)
    if id_column is None or text_column is None:
        missing = " and ".join(
            f"{what} ({', '.join(names)})"
            for what, names, column in (("id", _ID_COLUMNS, id_column), ("text", _TEXT_COLUMNS, text_column))
            if column is None
        )
        problems.append(f"{where}: no {missing}; found {', '.join(row) or 'nothing'}")
        return None
    document_column = _first(row, tuple(name for name in _DOCUMENT_COLUMNS if name != id_column))
    used = {id_column, text_column, document_column, "title", "date", "metadata"}
    inner = row.get("metadata")
    extra = {key: value for key, value in row.items() if key not in used and value is not None}
    try:
        return Passage(
            id=str(row[id_column]),
            text=str(row[text_column]),
            title=str(row.get("title") or "") or None,
            doc_id=None if document_column is None else str(row[document_column]),
            date=str(row.get("date") or "") or None,
            metadata={**(inner if isinstance(inner, dict) else {}), **extra},
        )
    except ValidationError as error:
        problems.extend(f"{where}: {'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        return None


def _text_folder(folder: Path) -> Iterator[Passage]:
    problems: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in _TEXT_SUFFIXES or not path.is_file():
            continue
        try:
            yield _text_file(path, path.relative_to(folder).as_posix())
        except DataError as error:
            problems.extend(error.problems)
    if problems:
        raise DataError(problems)


def _text_file(path: Path, name: str) -> Passage:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 (byte {error.start}); convert the file to UTF-8") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error})") from None
    first = text.lstrip().split("\n", 1)[0]
    title = first.lstrip("#").strip() if first.startswith("#") else ""
    return Passage(id=name, text=text, title=title or None)


def _json_queries(path: Path) -> Iterator[tuple[int, str, str] | str]:
    problems: list[str] = []
    for number, row in json_rows(path, problems):
        id_column, column = _first(row, ("id", "_id", "query_id", "case_id")), _first(row, _QUERY_COLUMNS)
        if id_column is None or column is None:
            yield f"{path}:{number}: expected id and query, found {', '.join(row) or 'nothing'}"
        else:
            yield number, str(row[id_column]), str(row[column])
    yield from problems


def _tsv_queries(path: Path) -> Iterator[tuple[int, str, str] | str]:
    for number, line in numbered_lines(path):
        query_id, tab, query = line.partition("\t")
        if not tab or not query_id.strip():
            yield f"{path}:{number}: expected id, a tab and the query"
        else:
            yield number, query_id.strip(), query.strip()


def _queries_from(path: Path, rows: Iterator[tuple[int, str, str] | str]) -> dict[str, str]:
    queries: dict[str, str] = {}
    problems: list[str] = []
    for row in rows:
        if isinstance(row, str):
            problems.append(row)
        elif row[1] in queries:
            problems.append(f"{path}:{row[0]}: query id {row[1]!r} occurs twice")
        else:
            queries[row[1]] = row[2]
    if not problems and not queries:
        problems = [f"{path}: no queries in it"]
    if problems:
        raise DataError(problems)
    return queries


def _json_lines(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(_JSON_SUFFIXES)


def _starts_with_tag(path: Path, tag: str) -> bool:
    for number, line in numbered_lines(path):
        if tag in line.lower():
            return True
        if number > _SNIFFED:
            break
    return False


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The first of these columns that the row has a value for."""
    return next((name for name in names if row.get(name) is not None), None)
