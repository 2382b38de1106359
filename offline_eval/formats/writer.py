"""Writes responses as native JSON Lines, so that what a live system answered is kept and can be judged again."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from offline_eval.core.errors import DataError
from offline_eval.core.records import Response, as_json


def write_responses(responses: Iterable[Response], path: Path) -> None:
    """Write one response a line; `read_responses` gives back equal records.

    The file appears whole or not at all.

    Args:
        responses: In the order wanted in the file.
        path: Where to; an existing file is replaced.

    Raises:
        DataError: The file cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(json.dumps(_line(response), ensure_ascii=False) + "\n" for response in responses)
        partial.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error}); check the folder") from None
    finally:
        partial.unlink(missing_ok=True)


def _line(response: Response) -> dict[str, Any]:
    # Said even when it is the default: a reader that is given only this file must not have to guess.
    named = {"case_id": response.case_id, "system": response.system, "answer": response.answer}
    return {**named, **as_json(response)}
