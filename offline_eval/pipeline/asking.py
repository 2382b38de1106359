"""Asks a system under test under a time limit; whatever it does comes back as a response, so that a run goes on."""

import time
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from offline_eval.core.protocols import ProgressCallback
from offline_eval.core.records import Case, Response, as_json
from offline_eval.formats.build import RowError, build_response, native_columns
from offline_eval.formats.wording import described

_LONGEST_ERROR = 2000
_OURS = frozenset({"case_id", "system", "variant", "attempt"})


def ask_all(
    ask: Callable[[Case], Response],
    cases: Sequence[Case],
    *,
    system: str,
    limit_s: float,
    concurrency: int = 1,
    progress: ProgressCallback | None = None,
) -> list[Response]:
    """Ask every case in a thread of its own and wait for each at most `limit_s`.

    A thread cannot be stopped from outside: a call that overruns is left behind, its late answer is ignored, and it
    dies with the process.

    Args:
        ask: Answers one case; anything it raises becomes the response's error.
        cases: What to ask.
        system: Name for responses that are made here.
        limit_s: Seconds for one call, from its start.
        concurrency: Calls under way at the same time.
        progress: Called in this thread after every finished case.

    Returns:
        One response a case, in the cases' order.
    """
    finished: SimpleQueue[tuple[int, Response]] = SimpleQueue()
    answers: dict[int, Response] = {}
    deadlines: dict[int, float] = {}
    started = 0
    while len(answers) < len(cases):
        while started < len(cases) and len(deadlines) < concurrency:
            deadlines[started] = time.monotonic() + limit_s
            Thread(target=_ask_one, args=(ask, cases[started], system, started, finished), daemon=True).start()
            started += 1
        for index, response in _next(finished, cases, system, deadlines, limit_s):
            if deadlines.pop(index, None) is None:
                continue  # an answer after its time
            answers[index] = response
            if progress is not None:
                progress(len(answers), len(cases))
    return [answers[index] for index in range(len(cases))]


def failed(case: Case, system: str, error: str) -> Response:
    """A response that says why there is no answer."""
    text = "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in error)
    if len(text) > _LONGEST_ERROR:
        text = f"{text[:_LONGEST_ERROR]}… ({len(text):,} characters)"
    return Response(case_id=case.id, system=system, error=text)


def response_from(result: Any, case: Case, system: str) -> Response:
    """Make a response of what a system returned: a text, or an object in the native shape of a response.

    Which case, system, variant and attempt it is, is known here; the object's own words about that are ignored.
    """
    if isinstance(result, Response):
        result = as_json(result)
    if isinstance(result, str):
        result = {"answer": result}
    if not isinstance(result, Mapping):
        return failed(case, system, f"the answer is {described(result)}, expected text or an object")
    values = {key: value for key, value in result.items() if key not in _OURS}
    try:
        return build_response(native_columns(values), case_id=case.id, system=system)
    except RowError as error:
        return failed(case, system, str(error))


def _ask_one(
    ask: Callable[[Case], Response], case: Case, system: str, index: int, finished: "SimpleQueue[tuple[int, Response]]"
) -> None:
    try:
        response = ask(case)
    except BaseException as error:  # noqa: BLE001 - foreign code may raise anything, SystemExit included
        response = failed(case, system, f"{type(error).__name__}: {error}")
    finished.put((index, response))


def _next(
    finished: "SimpleQueue[tuple[int, Response]]",
    cases: Sequence[Case],
    system: str,
    deadlines: Mapping[int, float],
    limit_s: float,
) -> list[tuple[int, Response]]:
    """The next finished call, or those whose time is up."""
    try:
        return [finished.get(timeout=max(0.0, min(deadlines.values()) - time.monotonic()))]
    except Empty:
        late = [index for index, deadline in deadlines.items() if deadline <= time.monotonic()]
        return [(index, failed(cases[index], system, f"no answer within {limit_s:g} s")) for index in late]
