"""Systems under test that are asked live: a Python function here, an HTTP endpoint next door; both are black boxes."""

import asyncio
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.core.protocols import ProgressCallback
from offline_eval.core.records import Case, Response, as_json
from offline_eval.pipeline.asking import ask_all, response_from
from offline_eval.pipeline.system_http import HttpSystem

DEFAULT_LIMIT_S = 120.0
_NAMED = re.compile(r"([^=:/\\]+)=(.+)", re.DOTALL)
# What the system must not see: the answer it is going to be measured against.
_TRUTH = frozenset({"reference", "key_points", "relevant_passages", "relevant_documents", "answerable"})


def open_system(spec: str, *, allow_hosts: Sequence[str] = ()) -> "CallableSystem | HttpSystem":
    """Open the system a user named.

    Args:
        spec: `package.module:function`, or a mapping file ending in `.yaml` or `.yml`; `NAME=` before it names it.
        allow_hosts: Hosts beyond this machine that may be asked.

    Raises:
        UsageError: Neither of the two, or a function that cannot be imported.
        DataError: A mapping file that cannot be read.
        AirGapError: A host beyond this machine that is not allowed.
    """
    match = _NAMED.fullmatch(spec)
    name, target = (match[1].strip(), match[2].strip()) if match else (None, spec.strip())
    if target.lower().endswith((".yaml", ".yml")):
        return HttpSystem(Path(target), name=name, allow_hosts=allow_hosts)
    if ":" in target:
        return CallableSystem(target, name=name)
    raise UsageError(
        f"{spec!r} names no system; expected package.module:function, or a mapping file ending in .yaml for HTTP"
    )


class CallableSystem:
    """A Python function that answers.

    A function whose first parameter is named `case` gets the case as a dictionary, without what is known to be true
    about it; any other function gets the query as text. It returns the answer as text, or a dictionary in the native
    shape of a response. It may be `async`. The current directory is searched for its module first.

    Args:
        spec: `package.module:function`.
        name: What results call it; the spec when None.
        limit_s: Seconds for one call.

    Raises:
        UsageError: The function cannot be imported or called.
    """

    def __init__(self, spec: str, *, name: str | None = None, limit_s: float = DEFAULT_LIMIT_S) -> None:
        self._function = import_function(spec)
        self._wants_case = _first_parameter(self._function) == "case"
        self._name = name or spec
        self._limit_s = limit_s

    @property
    def name(self) -> str:
        """What results call it."""
        return self._name

    def answer(self, cases: Sequence[Case], *, progress: ProgressCallback | None = None) -> list[Response]:
        """Ask the cases one after the other; exceptions and overrun calls become responses with an error."""
        return ask_all(self._ask, cases, system=self._name, limit_s=self._limit_s, progress=progress)

    def _ask(self, case: Case) -> Response:
        question = _without_truth(case) if self._wants_case else case.query
        result = self._function(question)
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        return response_from(result, case, self._name)


def _without_truth(case: Case) -> dict[str, Any]:
    return {key: value for key, value in as_json(case).items() if key not in _TRUTH}


def _first_parameter(function: Callable[..., Any]) -> str | None:
    try:
        return next(iter(inspect.signature(function).parameters), None)
    except (TypeError, ValueError):
        return None  # functions written in C may have no signature


def import_function(spec: str) -> Callable[..., Any]:
    """Import a user's function; the current directory is searched first.

    Args:
        spec: `package.module:function`.

    Raises:
        UsageError: It cannot be imported or called.
        UnknownNameError: The module has no such function.
    """
    module_name, _, path = spec.partition(":")
    if not module_name or not path:
        raise UsageError(f"{spec!r} names no function; expected package.module:function")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # and left there: the function may import its neighbours when it is called
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - importing runs foreign code
        raise UsageError(
            f"{module_name}: cannot be imported from {here} ({type(error).__name__}: {error}); "
            "check the module's name and the current directory"
        ) from None
    for step in path.split("."):
        if not hasattr(found, step):
            raise UnknownNameError(f"function in {module_name}", step, _callables(found))
        found = getattr(found, step)
    if not callable(found):
        raise UsageError(f"{spec} is a {type(found).__name__}, expected a function")
    function: Callable[..., Any] = found
    return function


def _callables(owner: Any) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_") and callable(getattr(owner, name, None))]
