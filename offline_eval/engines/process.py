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

from offline_eval.core.errors import EngineError
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation
from offline_eval.engines.inprocess import EngineSpec

_RESULTS: TypeAdapter[list[Generation | Failure]] = TypeAdapter(list[Generation | Failure])
_LOAD_LIMIT_S = 1800.0
_TAIL_LINES = 5


class WorkerDiedError(EngineError):
    """The worker process ended or stopped answering."""


class ProcessEngine:
    """An in-process engine, in a process of its own.

    Args:
        spec: What to load.
        batch_limit_s: Longest time one batch may take; then its worker is killed and the batch is halved.
        environment: Variables added to the worker's own.
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
        self.info: EngineInfo = self._start()
        self.load_seconds = time.monotonic() - started

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order.

        A batch that kills the worker is halved in a fresh worker until the item at fault is alone; that item fails
        with `engine_crashed` or `time_limit`, and the others are answered.
        """
        if not requests:
            return []
        try:
            if self._process is None:
                self._start()
            message = {"op": "generate", "requests": [request.model_dump(mode="json") for request in requests]}
            return _RESULTS.validate_python(self._ask(message, limit_s=self._batch_limit_s)["results"])
        except WorkerDiedError as error:
            self._stop()
            if len(requests) == 1:
                reason = "time_limit" if "time limit" in str(error) else "engine_crashed"
                return [Failure(reason=reason, detail=str(error))]
            middle = len(requests) // 2
            return [*self.generate(requests[:middle]), *self.generate(requests[middle:])]
        except EngineError as error:
            if len(requests) == 1:
                return [Failure(reason="engine_error", detail=str(error))]
            return [self.generate([request])[0] for request in requests]

    def close(self) -> None:
        """End the worker and note its peak memory."""
        if self._process is not None:
            with contextlib.suppress(EngineError):
                last = self._ask({"op": "close"}, limit_s=30.0)
                self.peak_bytes = max(self.peak_bytes, int(last["peak_bytes"]))
                self.refused_connections += int(last["refused_connections"])
        self._stop()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._log.name)

    def _start(self) -> EngineInfo:
        ours, theirs = socket.socketpair()
        environment = os.environ | {"PYTHONUNBUFFERED": "1", "OFFLINE_EVAL_GUARD": "1"} | self._environment
        self._process = subprocess.Popen(
            [sys.executable, "-m", "offline_eval.engines.worker", str(theirs.fileno())],
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
        reply = self._ask({"op": "load", "spec": self._spec.model_dump(mode="json")}, limit_s=_LOAD_LIMIT_S)
        return EngineInfo.model_validate(reply["info"])

    def _ask(self, message: dict[str, Any], *, limit_s: float) -> dict[str, Any]:
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
            line = self._read_line(limit_s)
        except OSError as error:
            raise self._death(f"the connection broke ({error})") from error
        except BaseException:  # an interrupt in the middle of a message leaves the channel unusable
            self._stop()
            raise
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise EngineError(f"{self._spec.model} on {self._spec.engine}: {reply['error']}")
        return reply

    def _read_line(self, limit_s: float) -> bytes:
        deadline = time.monotonic() + limit_s
        while b"\n" not in self._pending:
            readable, _, _ = select.select([self._socket], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                raise self._death(f"no answer within the time limit of {limit_s:g} s")
            piece = self._socket.recv(1 << 20)
            if not piece:
                raise self._death("the process ended")
            self._pending += piece
        line, self._pending = self._pending.split(b"\n", 1)
        return line

    def _death(self, what: str) -> WorkerDiedError:
        code = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(timeout=2.0)
        tail = Path(self._log.name).read_text("utf-8", "replace").strip().splitlines()[-_TAIL_LINES:]
        shown = "".join(f"\n  {line[:300]}" for line in tail)
        return WorkerDiedError(f"{self._spec.model} on {self._spec.engine}: {what} (exit {code}); last lines:{shown}")

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._socket.close()
        self._process = None
