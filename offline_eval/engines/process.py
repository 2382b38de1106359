"""The parent's side of a worker: starts it, hands it batches, survives its death, and takes its memory back."""

import contextlib
import json
import math
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pydantic import TypeAdapter

from offline_eval.core.errors import EngineError, ModelError, OfflineEvalError
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation
from offline_eval.engines.inprocess import EngineSpec
from offline_eval.engines.isolate import BatchFailedError, Incident, is_memory_error, isolate

R = TypeVar("R")
A = TypeVar("A")
Row = dict[str, float]

_GENERATIONS: TypeAdapter[list[Generation | Failure]] = TypeAdapter(list[Generation | Failure])
_ROWS: TypeAdapter[list[Row | Failure]] = TypeAdapter(list[Row | Failure])
_LOAD_LIMIT_S = 1800.0
_TAIL_LINES = 5
# Deaths without an answer in between after which no item is to blame any more: before anything was ever answered, and
# later, when a stretch of bad items is more likely.
_MOST_DEATHS_AT_FIRST = 12
_MOST_DEATHS = 64


class WorkerDiedError(BatchFailedError):
    """The worker process ended or stopped answering: `engine_crashed` or `time_limit`."""


class _WorkerProcess(ABC, Generic[R, A]):
    """An in-process engine, in a process of its own; what is asked of it is the subclass's.

    Args:
        spec: What to load.
        batch_limit_s: Longest time one batch may take, in seconds; then its worker is killed and the batch is halved.
        item_limit_s: Longest time an item may take, in seconds; a batch of n has n times as long, if that is less.
        environment: Variables added to the worker's own.

    Attributes:
        incidents: What was survived so far.

    Raises:
        ModelError: The model cannot be used for what it is asked.
        EngineError: It does not load.
    """

    def __init__(
        self,
        spec: EngineSpec,
        *,
        batch_limit_s: float = 3600.0,
        item_limit_s: float | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self._spec = spec
        self._batch_limit_s = batch_limit_s
        self._item_limit_s = math.inf if item_limit_s is None else item_limit_s
        self._environment = environment or {}
        self._log = tempfile.NamedTemporaryFile(prefix="offline-eval-engine-", suffix=".log", delete=False)  # noqa: SIM115
        self.loads = 0
        self.peak_bytes = 0
        self.refused_connections = 0
        self._refused_here = 0  # by the worker that is alive
        self.incidents: list[Incident] = []
        self._deaths = 0  # since the last answer
        self._has_answered = False
        self._process: subprocess.Popen[bytes] | None = None
        started = time.monotonic()
        try:
            self.info: EngineInfo = self._start()
        except BaseException:
            self._forget_log()
            raise
        self.load_seconds = time.monotonic() - started

    @abstractmethod
    def _message(self, requests: Sequence[R]) -> dict[str, Any]:
        """A batch as the worker reads it."""

    @abstractmethod
    def _results(self, reply: dict[str, Any]) -> list[A | Failure]:
        """The worker's answers to a batch, checked."""

    def _survived(self, requests: Sequence[R]) -> list[A | Failure]:
        """Answer every request, in order.

        A batch whose worker dies is redone whole in a fresh one, since the cause may lie outside. If it dies again,
        raises or takes too long, it is halved until the items at fault are alone; those fail with `engine_crashed`,
        `engine_error`, `out_of_memory` or `time_limit`, and the others are answered together. When memory runs out, a
        fresh worker computes smaller batches from there on.

        Raises:
            EngineError: The model does not load again, dies whatever it is asked, or would have to compute smaller
                batches where certified results depend on their size.
        """
        if not requests:
            return []
        try:
            return self._whole(requests)
        except BatchFailedError as error:
            found = isolate(requests, self._at_once, first=error)
            if found.largest_part is not None:
                self._shrink(min(self._spec.batch_size, found.largest_part), error, requests)
            else:
                self._tell("isolated", error, requests, at_fault=len(found.at_fault))
            return found.answers

    def _whole(self, requests: Sequence[R]) -> list[A | Failure]:
        redone = False
        while True:
            try:
                return self._at_once(requests)
            except BatchFailedError as error:
                if error.reason == "engine_crashed" and not redone:
                    redone = True
                    self._tell("worker_replaced", error, requests)
                elif error.reason == "out_of_memory" and self._spec.batch_size > 1:
                    self._shrink(self._spec.batch_size // 2, error, requests)
                else:
                    raise

    def _at_once(self, requests: Sequence[R]) -> list[A | Failure]:
        if self._process is None:
            self.info = self._start()
        limit_s = min(self._batch_limit_s, self._item_limit_s * len(requests))
        try:
            answers = self._results(self._ask(self._message(requests), limit_s=limit_s))
        except WorkerDiedError as error:
            self._stop()
            self._deaths += 1
            if self._deaths > (_MOST_DEATHS if self._has_answered else _MOST_DEATHS_AT_FIRST):
                raise EngineError(f"the engine dies whatever it is asked ({self._deaths} times): {error}") from error
            raise
        self._deaths, self._has_answered = 0, True
        return answers

    def _shrink(self, batch_size: int, error: BatchFailedError, requests: Sequence[R]) -> None:
        """Compute smaller batches from here on, in a fresh process."""
        if self._spec.certified and not self._spec.engine.startswith("vllm"):  # its results do not depend on the size
            raise EngineError(
                f"{error}\nbatches of {self._spec.batch_size} are too large for the memory, and certified results of "
                f"this engine depend on their size; start a run with --batch-size {batch_size}"
            ) from error
        self._stop()
        self._spec = self._spec.model_copy(update={"batch_size": batch_size})
        self._tell("smaller_batch", error, requests)

    def _tell(
        self,
        kind: Literal["worker_replaced", "isolated", "smaller_batch"],
        error: BatchFailedError,
        requests: Sequence[R],
        *,
        at_fault: int = 0,
    ) -> None:
        self.incidents.append(
            Incident(
                kind=kind,
                reason=error.reason,
                detail=str(error),
                requests=len(requests),
                at_fault=at_fault,
                batch_size=self._spec.batch_size,
            )
        )

    def close(self) -> None:
        """End the worker and note its peak memory."""
        if self._process is not None:
            with contextlib.suppress(EngineError):
                last = self._ask({"op": "close"}, limit_s=30.0)
                self.peak_bytes = max(self.peak_bytes, int(last["peak_bytes"]))
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
        self._refused_here = int(reply["refused_connections"])
        if "error" in reply:
            raise self._error(reply["kind"], reply["error"], is_load=message["op"] == "load")
        return reply

    def _error(self, kind: str, words: str, *, is_load: bool) -> OfflineEvalError:
        text = f"{self._spec.model} on {self._spec.engine}: {words}"
        if is_load:
            return ModelError(text) if kind == "ModelError" else EngineError(text)
        if not is_memory_error(kind, words):
            return BatchFailedError("engine_error", text)
        self._stop()  # what is left of its memory is in pieces
        return BatchFailedError("out_of_memory", text)

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
        self.refused_connections += self._refused_here
        self._refused_here = 0

    def _forget_log(self) -> None:
        self._log.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._log.name)


class ProcessEngine(_WorkerProcess[GenerateRequest, Generation]):
    """A language model in a process of its own."""

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order; those at fault for a crash, an error or a time limit fail alone.

        Raises:
            EngineError: The model does not load again, dies whatever it is asked, or would have to compute smaller
                batches where certified results depend on their size.
        """
        return self._survived(requests)

    def forget_prefixes(self) -> None:
        """Empty the engine's prefix cache, if it keeps one.

        Raises:
            EngineError: The engine cannot.
        """
        if self._process is None:
            return
        try:
            self._ask({"op": "forget"}, limit_s=self._batch_limit_s)
        except WorkerDiedError:
            self._stop()  # the next one starts with nothing to forget

    def _message(self, requests: Sequence[GenerateRequest]) -> dict[str, Any]:
        return {"op": "generate", "requests": [request.model_dump(mode="json") for request in requests]}

    def _results(self, reply: dict[str, Any]) -> list[Generation | Failure]:
        return _GENERATIONS.validate_python(reply["results"])


class ProcessScorer(_WorkerProcess[tuple[str, str], Row]):
    """A cross-encoder in a process of its own.

    Attributes:
        languages: Language codes the model was made for; set by whoever opens it.
    """

    languages: tuple[str, ...] = ("*",)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Row | Failure]:
        """Score every pair, in order; those at fault for a crash, an error or a time limit fail alone.

        Raises:
            EngineError: The model does not load again, or dies whatever it is asked.
        """
        return self._survived(pairs)

    def _message(self, requests: Sequence[tuple[str, str]]) -> dict[str, Any]:
        return {"op": "score", "pairs": [list(pair) for pair in requests]}

    def _results(self, reply: dict[str, Any]) -> list[Row | Failure]:
        return _ROWS.validate_python(reply["results"])
