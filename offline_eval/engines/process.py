"""The parent's side of a worker: starts it, hands it batches, survives its death, and takes its memory back."""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from offline_eval.core.errors import EngineError, ModelError, OfflineEvalError
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation
from offline_eval.engines.inprocess import EngineSpec

_RESULTS: TypeAdapter[list[Generation | Failure]] = TypeAdapter(list[Generation | Failure])
_LOAD_LIMIT_S = 1800.0
_TAIL_LINES = 5


class WorkerDiedError(EngineError):
    """The worker process ended or stopped answering.

    Attributes:
        reason: `engine_crashed` or `time_limit`.
    """

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


class ProcessEngine:
    """An in-process engine, in a process of its own.

    Args:
        spec: What to load.
        batch_limit_s: Longest time one batch may take; then its worker is killed and the batch is halved.
        environment: Variables added to the worker's own.

    Raises:
        ModelError: The model cannot be used as a judge.
        EngineError: It does not load.
    """

    def __init__(
        self, spec: EngineSpec, *, batch_limit_s: float = 3600.0, environment: dict[str, str] | None = None
    ) -> None:
        self._spec = spec
        self._batch_limit_s = batch_limit_s
        self._environment = environment or {}
        self._log = tempfile.NamedTemporaryFile(prefix="offline-eval-engine-", suffix=".log", delete=False)  # noqa: SIM115
        self.loads = 0
        self.peak_bytes = 0
        self.refused_connections = 0
        self._process: subprocess.Popen[bytes] | None = None
        started = time.monotonic()
        try:
            self.info: EngineInfo = self._start()
        except BaseException:
            self._forget_log()
            raise
        self.load_seconds = time.monotonic() - started

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order.

        A batch whose worker dies is redone whole in a fresh one, since the cause may lie outside. If it dies again or
        takes too long, it is halved until the item at fault is alone; that item fails with `engine_crashed` or
        `time_limit`, and the others are answered.

        Raises:
            EngineError: The model does not load again.
        """
        return self._generate(requests, redo=True) if requests else []

    def _generate(self, requests: Sequence[GenerateRequest], *, redo: bool) -> list[Generation | Failure]:
        if self._process is None:
            self._start()
        message = {"op": "generate", "requests": [request.model_dump(mode="json") for request in requests]}
        try:
            return _RESULTS.validate_python(self._ask(message, limit_s=self._batch_limit_s)["results"])
        except WorkerDiedError as error:
            self._stop()
            if redo and error.reason == "engine_crashed":
                return self._generate(requests, redo=False)
            if len(requests) == 1:
                return [Failure(reason=error.reason, detail=str(error))]
            middle = len(requests) // 2
            halves = (requests[:middle], requests[middle:])
            return [answer for half in halves for answer in self._generate(half, redo=False)]
        except OfflineEvalError as error:
            if len(requests) == 1:
                return [Failure(reason="engine_error", detail=str(error))]
            return [self._generate([request], redo=False)[0] for request in requests]

    def close(self) -> None:
        """End the worker and note its peak memory."""
        if self._process is not None:
            with contextlib.suppress(EngineError):
                last = self._ask({"op": "close"}, limit_s=30.0)
                self.peak_bytes = max(self.peak_bytes, int(last["peak_bytes"]))
                self.refused_connections += int(last["refused_connections"])
        self._stop()
        self._forget_log()

    def _start(self) -> EngineInfo:
        ours, theirs = socket.socketpair()
        environment = os.environ | {"PYTHONUNBUFFERED": "1", "OFFLINE_EVAL_GUARD": "1"} | self._environment
        self._process = subprocess.Popen(
            # -P: the current folder may hold other people's files, and none of them is to be imported.
            [sys.executable, "-P", "-m", "offline_eval.engines.worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env=environment,
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )
        theirs.close()
        self._socket = ours
        self._pending = b""
        self.loads += 1
        try:
            reply = self._ask({"op": "load", "spec": self._spec.model_dump(mode="json")}, limit_s=_LOAD_LIMIT_S)
        except OfflineEvalError:
            self._stop()
            raise
        return EngineInfo.model_validate(reply["info"])

    def _ask(self, message: dict[str, Any], *, limit_s: float) -> dict[str, Any]:
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
            line = self._read_line(limit_s)
        except OSError as error:
            raise self._death("engine_crashed", f"the connection broke ({error})") from error
        except BaseException:  # an interrupt in the middle of a message leaves the channel unusable
            self._stop()
            raise
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            kind = ModelError if reply["kind"] == "ModelError" else EngineError
            raise kind(f"{self._spec.model} on {self._spec.engine}: {reply['error']}")
        return reply

    def _read_line(self, limit_s: float) -> bytes:
        deadline = time.monotonic() + limit_s
        while b"\n" not in self._pending:
            readable, _, _ = select.select([self._socket], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                raise self._death("time_limit", f"no answer within the time limit of {limit_s:g} s")
            piece = self._socket.recv(1 << 20)
            if not piece:
                raise self._death("engine_crashed", "the process ended")
            self._pending += piece
        line, self._pending = self._pending.split(b"\n", 1)
        return line

    def _death(self, reason: str, what: str) -> WorkerDiedError:
        code = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(timeout=0.0 if reason == "time_limit" else 2.0)
        tail = Path(self._log.name).read_text("utf-8", "replace").strip().splitlines()[-_TAIL_LINES:]
        shown = "".join(f"\n  {line[:300]}" for line in tail)
        ended = "" if code is None else f" (exit {code})"
        return WorkerDiedError(
            reason, f"{self._spec.model} on {self._spec.engine}: {what}{ended}; last lines:{shown or ' none'}"
        )

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._socket.close()
        self._process = None

    def _forget_log(self) -> None:
        self._log.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._log.name)
