"""Writes cases and responses as native JSON Lines, so that what a live system answered can be judged again."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from offline_eval.core.errors import DataError
from offline_eval.core.records import Case, Response, as_json


def write_cases(cases: Iterable[Case], path: Path) -> None:
    """Write one case a line; `read_cases` gives back equal records. The file appears whole or not at all.

    Raises:
        DataError: The file cannot be written.
    """
    _write((as_json(case) for case in cases), path)


def write_responses(responses: Iterable[Response], path: Path) -> None:
    """Write one response a line; `read_responses` gives back equal records.

    The file appears whole or not at all.

    Args:
        responses: In the order wanted in the file.
        path: Where to; an existing file is replaced.

    Raises:
        DataError: The file cannot be written.
    """
    _write((_line(response) for response in responses), path)


def _write(rows: Iterable[dict[str, Any]], path: Path) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        partial.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error}); check the folder") from None
    finally:
        partial.unlink(missing_ok=True)


def _line(response: Response) -> dict[str, Any]:
    # Said even when it is the default: a reader that is given only this file must not have to guess.
    named = {"case_id": response.case_id, "system": response.system, "answer": response.answer}
    return {**named, **as_json(response)}
