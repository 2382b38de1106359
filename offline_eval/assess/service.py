"""The assessing service: what a pipeline says, over HTTP on this machine, for several callers at once."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from offline_eval import __version__
from offline_eval.assess.protocols import StageCallback
from offline_eval.assess.records import Assessment, StageEvent
from offline_eval.assess.service_bodies import AssessBody, CheckBody, Refused, read_body
from offline_eval.assess.service_gate import LOG_STATE, LogLine, ServiceGate, error_response
from offline_eval.assess.service_metrics import ServiceMetrics, checks_ms
from offline_eval.assess.service_openapi import openapi_document
from offline_eval.assess.service_page import page_routes
from offline_eval.assess.service_queue import WorkQueue
from offline_eval.assess.service_settings import ServiceLimits
from offline_eval.core.errors import OfflineEvalError, UsageError

EVENT_STREAM = "text/event-stream"
_LEAST_DEADLINE_S = 0.001
Work = Callable[[float | None, StageCallback | None], Assessment]
"""Assesses, given the seconds left and whom to tell about stages."""


class Assessor(Protocol):
    """What the service asks; `SelfAssessingRag` is one. Called from several threads at once."""

    def assess(
        self, query: str, *, language: str | None, deadline_s: float | None, on_stage: StageCallback | None
    ) -> Assessment:
        """Answer and assess."""
        ...

    def check(
        self,
        query: str,
        passages: Any,
        answer: str,
        *,
        rankings: Any,
        citations: Sequence[str],
        language: str | None,
        deadline_s: float | None,
        on_stage: StageCallback | None,
    ) -> Assessment:
        """Assess an answer that is there."""
        ...


class AssessService:
    """The handlers and what they share.

    Args:
        assessor: Usually a `SelfAssessingRag`.
        limits: What it takes on at once.
        deadline_s: Seconds a request may ask for at most.
        can_generate: Whether there are retrievers and a generator; else only checks are served.
        write: Takes the request log's lines; None for no log.
    """

    def __init__(
        self,
        assessor: Assessor,
        *,
        limits: ServiceLimits,
        deadline_s: float,
        can_generate: bool,
        write: LogLine | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._assessor = assessor
        self._limits = limits
        self._deadline_s = deadline_s
        self._can_generate = can_generate
        self._write = write
        self._clock = clock
        self.queue = WorkQueue(workers=limits.workers, most_waiting=limits.queue, clock=clock)
        self.metrics = ServiceMetrics()

    def app(self, *, hosts: Sequence[str]) -> ASGIApp:
        """The service behind its gate.

        Args:
            hosts: Accepted `Host` headers, for example from `loopback_web.own_hosts`.
        """
        routes = [
            Route("/assess", self._assess, methods=["POST"]),
            Route("/check", self._check, methods=["POST"]),
            Route("/health", self._health, methods=["GET"]),
            Route("/metrics", self._metrics, methods=["GET"]),
            Route("/openapi.json", self._openapi, methods=["GET"]),
            *page_routes(can_generate=self._can_generate),
        ]
        errors = {Refused: self._refused, HTTPException: _http_error, OfflineEvalError: _own_error, Exception: _fault}
        app = Starlette(routes=routes, exception_handlers=errors)  # type: ignore[arg-type]
        paths = [route.path for route in routes if isinstance(route, Route)]
        return ServiceGate(app, hosts=hosts, paths=paths, metrics=self.metrics, write=self._write, clock=self._clock)

    async def _assess(self, request: Request) -> Response:
        if not self._can_generate:
            raise Refused(409, "no_generator", "this service has no generator; it serves POST /check")
        body = await read_body(request, AssessBody, self._limits)
        self._log_texts(request, query=body.query)

        def work(deadline_s: float | None, on_stage: StageCallback | None) -> Assessment:
            return self._assessor.assess(body.query, language=body.language, deadline_s=deadline_s, on_stage=on_stage)

        return await self._answer(request, work, body.deadline_s)

    async def _check(self, request: Request) -> Response:
        body = await read_body(request, CheckBody, self._limits)
        self._log_texts(request, query=body.query, answer=body.answer)

        def work(deadline_s: float | None, on_stage: StageCallback | None) -> Assessment:
            return self._assessor.check(
                body.query,
                body.passages,
                body.answer,
                rankings=body.rankings or None,
                citations=body.citations,
                language=body.language,
                deadline_s=deadline_s,
                on_stage=on_stage,
            )

        return await self._answer(request, work, body.deadline_s)

    async def _answer(self, request: Request, work: Work, deadline_s: float | None) -> Response:
        """Accept the work before anything is answered, so that a refusal is a plain 503 for streams, too."""
        until = self._clock() + min(deadline_s or self._deadline_s, self._deadline_s)
        if EVENT_STREAM in request.headers.get("accept", ""):
            loop, events = asyncio.get_running_loop(), asyncio.Queue[StageEvent]()

            def tell(event: StageEvent) -> None:
                loop.call_soon_threadsafe(events.put_nowait, event)

            future = self._submit(partial(self._timed, work, until, tell))
            return StreamingResponse(self._events(request, future, events), media_type=EVENT_STREAM)
        found = await asyncio.shield(self._submit(partial(self._timed, work, until, None)))
        self._note(request, found)
        return Response(found.model_dump_json(), media_type="application/json")

    def _submit(self, work: Callable[[], Assessment]) -> "asyncio.Future[Assessment]":
        future = self.queue.submit(work)
        self.metrics.accepted(self.queue.accepted)
        future.add_done_callback(lambda _: self.metrics.accepted(self.queue.accepted))
        return future

    def _timed(self, work: Work, until: float, on_stage: StageCallback | None) -> Assessment:
        """In a thread: time spent waiting counts against the deadline; what is late is degraded, never dropped."""
        return work(max(_LEAST_DEADLINE_S, until - self._clock()), on_stage)

    async def _events(
        self, request: Request, future: "asyncio.Future[Assessment]", events: "asyncio.Queue[StageEvent]"
    ) -> AsyncIterator[str]:
        while not (future.done() and events.empty()):
            waiting = asyncio.ensure_future(events.get())
            either: list[asyncio.Future[Any]] = [waiting, future]
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if waiting.done():
                    yield _event("stage", waiting.result().model_dump_json())
            finally:
                waiting.cancel()
            await asyncio.sleep(0)  # lets in what was told just before the end
        try:
            found = future.result()
        except Exception as error:  # noqa: BLE001 - the stream has begun, so its last event has to say it
            request.scope["state"][LOG_STATE]["error"] = type(error).__name__
            yield _event("error", json.dumps({"error": json.loads(bytes(_error_of(error).body))["error"]}))
            return
        self._note(request, found)
        yield _event("result", found.model_dump_json())

    def _note(self, request: Request, found: Assessment) -> None:
        self.metrics.assessment(found)
        request.scope["state"][LOG_STATE].update(
            tier=found.tier.value,
            limiting=found.limiting,
            degraded=found.degraded,
            cached=found.cached,
            checks_ms=round(checks_ms(found), 1),
        )

    def _log_texts(self, request: Request, **texts: str) -> None:
        if self._limits.log_texts:
            request.scope["state"][LOG_STATE].update(texts)

    async def _health(self, request: Request) -> Response:
        body = {
            "status": "stopping" if self.queue.is_stopping else "ok",
            "version": __version__,
            "accepted": self.queue.accepted,
            "capacity": self.queue.capacity,
            "can_generate": self._can_generate,
        }
        return JSONResponse(body, 503 if self.queue.is_stopping else 200)

    async def _metrics(self, request: Request) -> Response:
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _openapi(self, request: Request) -> Response:
        return JSONResponse(openapi_document())

    async def _refused(self, request: Request, error: Refused) -> Response:
        self.metrics.refused(error.body.code)
        return error_response(error)


def _event(kind: str, data: str) -> str:
    """One server-sent event; JSON holds no line break, so one data line is enough."""
    return f"event: {kind}\ndata: {data}\n\n"


async def _http_error(request: Request, error: HTTPException) -> Response:
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "refused")
    found = error_response(Refused(error.status_code, code, str(error.detail)))
    found.headers.update(error.headers or {})
    return found


async def _own_error(request: Request, error: OfflineEvalError) -> Response:
    return _error_of(error)


async def _fault(request: Request, error: Exception) -> Response:
    return _error_of(error)


def _error_of(error: Exception) -> JSONResponse:
    if isinstance(error, UsageError):
        return error_response(Refused(422, "invalid", str(error)))
    if isinstance(error, OfflineEvalError):
        return error_response(Refused(500, "failed", str(error)))
    return error_response(Refused(500, "fault", f"unexpected {type(error).__name__}; see the service's log"))
