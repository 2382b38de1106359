"""ASGI middleware around the service: own addresses only, safe headers, and one log line and one count a request."""

import json
import logging
import os
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from offline_eval.airgap.loopback_web import SAFE_HEADERS, is_from_own_page, is_own_host
from offline_eval.assess.service_bodies import ErrorBody, Refused
from offline_eval.assess.service_metrics import ServiceMetrics

LOG_STATE = "log"
"""Name of the request's state in which a handler leaves what the log line should say."""
_LOG = logging.getLogger(__name__)
_OTHER = "other"

LogLine = Callable[[str], None]


class ServiceGate:
    """Refuses strangers, counts and logs; outermost, so that no answer goes without it.

    Args:
        hosts: Accepted `Host` headers.
        paths: Known paths; all others share one label, so that strangers cannot fill the metrics.
        write: Takes the log's lines, JSON each; no texts of a request stand in them unless a handler put them there.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Sequence[str],
        paths: Sequence[str],
        metrics: ServiceMetrics,
        write: LogLine | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._hosts = tuple(hosts)
        self._paths = frozenset(paths)
        self._metrics = metrics
        self._write = write
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request, pass it on, and note how it went."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        start, status = self._clock(), [0]
        name = secrets.token_hex(8)
        scope.setdefault("state", {})[LOG_STATE] = {}

        async def send_safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(SAFE_HEADERS)
                headers["X-Request-Id"] = name
            await send(message)

        try:
            await (self._refusal(Request(scope)) or self._app)(scope, receive, send_safe)
        except Exception as error:
            status[0] = status[0] or 500
            if os.environ.get("OFFLINE_EVAL_DEBUG"):
                raise
            _LOG.error("unexpected %s at %s; run with OFFLINE_EVAL_DEBUG=1", type(error).__name__, self._path(scope))
        finally:
            self._note(scope, name, status[0], self._clock() - start)

    def _refusal(self, request: Request) -> Response | None:
        if not is_own_host(request.headers, self._hosts):
            return error_response(Refused(421, "wrong_host", "this service answers only to its own address"))
        if not is_from_own_page(request.headers, needs_origin=False):
            return error_response(Refused(403, "wrong_origin", "the request comes from a page of another site"))
        return None

    def _path(self, scope: Scope) -> str:
        return scope["path"] if scope["path"] in self._paths else _OTHER

    def _note(self, scope: Scope, name: str, status: int, seconds: float) -> None:
        self._metrics.request(self._path(scope), status, seconds)
        if self._write is None:
            return
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "request": name,
            "method": scope["method"],
            "path": self._path(scope),
            "status": status,
            "ms": round(1000 * seconds, 1),
            **scope["state"][LOG_STATE],
        }
        self._write(json.dumps(line, ensure_ascii=True))


def error_response(refused: Refused) -> JSONResponse:
    """A refusal in the one shape all errors have."""
    headers = {} if refused.retry_after_s is None else {"Retry-After": str(refused.retry_after_s)}
    return JSONResponse({"error": _shown(refused.body)}, refused.status, headers=headers)


def _shown(body: ErrorBody) -> dict[str, Any]:
    return body.model_dump(mode="json")
