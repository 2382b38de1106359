"""Numbered lines of a text file, gzipped or not, so that every line format decodes and refuses in the same way."""

import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from offline_eval.core.errors import DataError
from offline_eval.formats.gzipped import unpacked

_GZIP_MAGIC = b"\x1f\x8b"


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield `(line number from 1, line without its end)`, skipping lines of white space only.

    UTF-8, with or without a byte order mark. A gzip file is known by its first bytes, not by its name.

    Raises:
        DataError: The file is missing, cannot be read, is not UTF-8 or is damaged gzip.
    """
    try:
        with path.open("rb") as stream:
            packed = stream.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
            stream.seek(0)
            yield from _decoded(unpacked(stream) if packed else stream, path)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({error}); check the file and its permissions") from None


def json_rows(path: Path, problems: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield `(line number, object)` of a JSON Lines file.

    Args:
        path: The file, plain or gzipped.
        problems: Gets one line for each row that is not a JSON object; such rows are left out.

    Raises:
        DataError: As `numbered_lines`.
    """
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            problems.append(f"{path}:{number}: not valid JSON ({error}); expected one object a line")
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            problems.append(f"{path}:{number}: found {type(row).__name__}, expected one JSON object a line")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _decoded(stream: Iterable[bytes], path: Path) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(stream, start=1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}:{number}: not UTF-8 (byte {error.start}: {raw[error.start : error.start + 1]!r}); "
                "convert the file to UTF-8"
            ) from None
        if line.strip():
            yield number, line.rstrip("\r\n")
