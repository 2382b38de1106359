"""Asks a live system once and keeps what it answered, so that judging always starts from a recorded file."""

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path

from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import ProgressCallback
from offline_eval.core.records import Case, Response
from offline_eval.formats.reader import read_responses
from offline_eval.formats.writer import write_responses
from offline_eval.pipeline.systems import open_system

_CHUNK = 32


NO_RESPONSE = "no_response: the system has no answer to this case"


def with_missing(cases: Sequence[Case], responses: Sequence[Response]) -> list[Response]:
    """Add a failed response for every case that a system left out, so that leaving out hard cases does not pay."""
    systems = dict.fromkeys(response.system for response in responses)
    answered = {(response.system, response.case_id) for response in responses}
    missing = [
        Response(case_id=case.id, system=system, error=NO_RESPONSE)
        for system in systems
        for case in cases
        if (system, case.id) not in answered
    ]
    return [*responses, *missing]


def record(
    spec: str,
    cases: Sequence[Case],
    *,
    folder: Path,
    allow_hosts: Sequence[str],
    progress: ProgressCallback,
    announce: Callable[[str], None],
) -> list[Response]:
    """The system's answers: those recorded before, and the rest asked now and added to the record.

    Args:
        spec: As for `open_system`.
        folder: Where the record lies; its name holds the hash of the system's name and the cases.

    Raises:
        UsageError: As for `open_system`.
        DataError: The record cannot be read or written.
    """
    system = open_system(spec, allow_hosts=allow_hosts)
    key = digest("record", [spec, sorted(case.content_hash() for case in cases)])[:12]
    path = folder / f"answers-{key}.jsonl"
    known = read_responses(path, cases=cases) if path.exists() else []
    answered = {response.case_id for response in known if response.error is None}
    responses = [response for response in known if response.error is None]
    pending = [case for case in cases if case.id not in answered]
    if responses:
        announce(f"{system.name}: {len(responses)} answers were recorded before in {path}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror or error}); name another with --out") from error
    for start in range(0, len(pending), _CHUNK):
        with redirect_stdout(sys.stderr):  # a system that prints must not write into our results
            responses += system.answer(pending[start : start + _CHUNK])
        write_responses(responses, path)
        progress(len(responses), len(cases))
    failed = sum(response.error is not None for response in responses)
    announce(f"{system.name}: {len(responses)} answers in {path}" + (f", {failed} failed" if failed else ""))
    return responses
