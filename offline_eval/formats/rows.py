"""Opens whatever the user points at and yields its rows, so that everything behind it sees plain columns only."""

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from offline_eval.core.errors import UnknownNameError
from offline_eval.formats import arrow, csv_table, json_list, jsonl
from offline_eval.formats.gzipped import unpacked
from offline_eval.formats.json_text import UTF8_BOM, parse_json
from offline_eval.formats.problems import Problems
from offline_eval.formats.row import Row

STDIN = "-"
_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_MAGIC = b"PAR1"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_READERS: dict[str, Callable[[BinaryIO, Problems], Iterator[Row]]] = {
    "jsonl": jsonl.rows,
    "json": json_list.rows,
    "csv": csv_table.rows,
    "parquet": arrow.parquet_rows,
}
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
FORMATS = (*_READERS, "huggingface")

Source = Path | str
"""A file, a dataset folder, or `-` for standard input."""


def source_name(source: Source) -> str:
    """What messages call it."""
    return "stdin" if str(source) == STDIN else str(source)


def read_rows(
    source: Source, problems: Problems, *, format: str | None = None, stream: IO[Any] | None = None
) -> Iterator[Row]:
    """Yield the rows of a file; what cannot be read is noted in `problems`, never raised.

    Gzip is known by its first bytes. The format follows from the file's name, else from its content.

    Args:
        source: A path, or `-` for a stream.
        problems: Collects what is wrong; its count of rows is kept here.
        format: One of `FORMATS`, when the guess would be wrong.
        stream: What `-` reads, text or binary; standard input when None.

    Raises:
        UsageError: An unknown format name, or a format that needs a package that is not installed.
    """
    if format is not None and format not in FORMATS:
        raise UnknownNameError("file format", format, FORMATS)
    for row in _rows(source, problems, format, stream):
        problems.rows += 1
        yield row


def _rows(source: Source, problems: Problems, format: str | None, stream: IO[Any] | None) -> Iterator[Row]:
    is_stream = str(source) == STDIN
    path = Path(source)
    if not is_stream and (format == "huggingface" or path.is_dir()):
        yield from arrow.folder_rows(path, problems)
        return
    if is_stream and format == "huggingface":
        problems.add(None, "a dataset folder cannot come through a stream, expected a path")
        return
    try:
        if is_stream:
            yield from _read(_binary(stream if stream is not None else sys.stdin), format, problems)
        else:
            with path.open("rb") as file:
                yield from _read(file, format or _by_name(path), problems)
    except FileNotFoundError:
        problems.add(None, "no such file; check the path")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        problems.add(None, f"damaged gzip ({error}), expected a whole file")
    except OSError as error:
        problems.add(None, f"cannot be read ({error.strerror or error}); check the file and its permissions")


def _read(stream: BinaryIO, format: str | None, problems: Problems) -> Iterator[Row]:
    # The buffer is not closed here: closing it would close the caller's stream under it.
    buffered = io.BufferedReader(cast(io.RawIOBase, stream))
    try:
        content: BinaryIO = buffered
        if buffered.peek(2)[:2] == _GZIP_MAGIC:
            content = unpacked(buffered)
        if format is None:
            data = content.read()
            content, format = io.BytesIO(data), _by_content(data)
        yield from _READERS[format](content, problems)
    finally:
        buffered.detach()


def _binary(stream: IO[Any]) -> BinaryIO:
    if isinstance(stream, io.TextIOBase):
        below = getattr(stream, "buffer", None)
        return below if below is not None else io.BytesIO(stream.read().encode("utf-8", "surrogatepass"))
    return cast(BinaryIO, stream)


def _by_name(path: Path) -> str | None:
    named = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return _SUFFIXES.get(named.suffix.lower())


def _by_content(data: bytes) -> str:
    if data.startswith(_PARQUET_MAGIC):
        return "parquet"
    if data.startswith(_UTF16_MARKS):
        return "csv"
    text = data.removeprefix(UTF8_BOM).lstrip()
    if text.startswith(b"["):
        return "json"
    if not text.startswith(b"{"):
        return "csv" if text else "jsonl"
    # One object over many lines is a JSON file; an object that ends on its line, or a second one, is JSON Lines.
    first = text.split(b"\n", 1)[0]
    try:
        value = parse_json(first.decode("utf-8", "replace"))
    except ValueError:
        return "jsonl" if b"\n{" in text else "json"
    alone = not text[len(first) :].strip()
    return "json" if alone and (json_list.LIST_KEY in value or json_list.is_columns(value)) else "jsonl"
