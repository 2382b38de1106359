"""The bad-case library: one JSON Lines file that people can read, diff and keep under version control."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from offline_eval.core.bad_case import BadCase, Sighting
from offline_eval.core.errors import DataError
from offline_eval.core.records import as_json


def read_library(path: Path) -> list[BadCase]:
    """All cases of a library; none when the file does not exist yet.

    Raises:
        DataError: Lines that are no bad cases, each with its number.
    """
    if not path.exists():
        return []
    found, faults = [], []
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(BadCase.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            faults.append(f"{path}:{number}: not a bad case: {place} {first['msg']}".rstrip())
    if faults:
        raise DataError(faults)
    return found


def merge(known: Sequence[BadCase], found: Sequence[BadCase]) -> list[BadCase]:
    """Add cases to a library's; the same run's sighting of the same response replaces the one before.

    A case is the same when all of its content is: a changed question or reference makes another case.
    """
    by_content = {bad.case.content_hash(): bad for bad in known}
    for bad in found:
        before = by_content.get(bad.case.content_hash())
        sightings = {_place(s): s for s in before.sightings} if before else {}
        sightings |= {_place(s): s for s in bad.sightings}
        by_content[bad.case.content_hash()] = BadCase(case=bad.case, sightings=tuple(sightings.values()))
    return list(by_content.values())


def write_library(cases: Sequence[BadCase], path: Path) -> None:
    """Write a library; the file appears whole or not at all.

    Raises:
        DataError: The file cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8", newline="\n") as stream:
            for bad in cases:
                line = {"format": bad.format, **as_json(bad)}
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        partial.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error}); check the folder") from error
    finally:
        partial.unlink(missing_ok=True)


def _place(sighting: Sighting) -> tuple[str, str]:
    return sighting.run_id, sighting.response.key
