"""A web server for one person on this machine: loopback only, one secret link, and no page that another site could use.

Everything that keeps others out is here, apart from what the pages show, so that every page made of it is equally safe.
"""

import hmac
import logging
import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, ExceptionHandler, Message, Receive, Scope, Send

from offline_eval.airgap.loopback_web import (
    HOST,
    SAFE_HEADERS,
    is_from_own_page,
    is_own_host,
    listen,
    own_hosts,
)

MOST_BODY_BYTES = 64 * 1024
_MOST_FIELDS = 20
_LOG = logging.getLogger(__name__)

__all__ = ["HOST", "MOST_BODY_BYTES", "Gate", "Session", "build_app", "listen", "read_form", "serve"]


class Session:
    """The one person's session.

    Args:
        port: Where the server listens; part of the host names that are accepted.
        secret: Unguessable text; drawn when None.
    """

    def __init__(self, port: int, *, secret: str | None = None) -> None:
        self.port = port
        self._secret = secret or secrets.token_urlsafe(32)

    @property
    def cookie(self) -> str:
        """The cookie's name; cookies are shared between ports, so it carries the port."""
        return f"offline_eval_{self.port}"

    @property
    def link(self) -> str:
        """The address that opens the session; whoever has it can use the page."""
        return f"http://{HOST}:{self.port}/?session={self._secret}"

    @property
    def csrf(self) -> str:
        """What every form has to send along; no other site can know it."""
        return hmac.new(self._secret.encode(), b"csrf", "sha256").hexdigest()

    def is_secret(self, text: str) -> bool:
        """Whether a text is the session's secret; takes the same time for every wrong one."""
        return hmac.compare_digest(text.encode("utf-8", "replace"), self._secret.encode())

    def is_csrf(self, text: str) -> bool:
        """Whether a text is the form token."""
        return hmac.compare_digest(text.encode("utf-8", "replace"), self.csrf.encode())

    @property
    def hosts(self) -> tuple[str, ...]:
        """Accepted `Host` headers; anything else is a page of another site that resolves to this machine."""
        return own_hosts(self.port)


class Gate:
    """ASGI middleware: refuses strangers, opens the session from its link, and sets the headers of every response."""

    def __init__(self, app: ASGIApp, session: Session) -> None:
        self._app = app
        self._session = session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request and pass it on."""
        if scope["type"] != "http":
            return

        async def send_safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SAFE_HEADERS)
            await send(message)

        refusal = self._answer_of_its_own(Request(scope))
        try:
            await (refusal or self._app)(scope, receive, send_safe)
        except Exception as error:
            if os.environ.get("OFFLINE_EVAL_DEBUG"):
                raise
            _LOG.error("unexpected %s at %s; run with OFFLINE_EVAL_DEBUG=1", type(error).__name__, scope["path"])

    def _answer_of_its_own(self, request: Request) -> Response | None:
        session = self._session
        if not is_own_host(request.headers, session.hosts):
            return _refused("this page answers only to its own address", 421)
        if not is_from_own_page(request.headers, needs_origin=request.method not in ("GET", "HEAD")):
            return _refused("the request comes from another page", 403)
        given = request.query_params.get("session")
        if given is not None and request.method == "GET" and session.is_secret(given):
            opened = RedirectResponse(request.url.path, 303)
            # Lax: the link may be clicked in another page (a notebook, a web terminal); forms never come from there.
            opened.set_cookie(session.cookie, given, httponly=True, samesite="lax", path="/")
            return opened
        if not session.is_secret(request.cookies.get(session.cookie, "")):
            return _refused("no session; open the address that the program printed", 403)
        if request.method not in ("GET", "HEAD", "POST"):
            return _refused("method not allowed", 405)
        return None


async def read_form(request: Request, session: Session) -> dict[str, str]:
    """The fields of one of our own forms.

    Raises:
        HTTPException: 413 too large, 415 not a form, 400 not readable, 403 without the form token.
    """
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/x-www-form-urlencoded":
        raise HTTPException(415, "expected a form")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY_BYTES:
            raise HTTPException(413, f"a form holds at most {MOST_BODY_BYTES // 1024} KiB")
    try:
        text = body.decode("ascii")
        fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="replace"))
    except ValueError as error:
        raise HTTPException(400, "the form cannot be read") from error
    if not session.is_csrf(fields.pop("csrf", "")):
        raise HTTPException(403, "the form token is missing or old; reload the page and send again")
    return fields


def build_app(
    routes: Sequence[BaseRoute], session: Session, *, errors: Mapping[type[Exception], ExceptionHandler]
) -> ASGIApp:
    """An app behind the gate; the gate is outermost, so that no answer, not even that of a fault, goes without it.

    Args:
        errors: How to show refusals and our own errors.
    """
    return Gate(Starlette(routes=list(routes), exception_handlers=dict(errors)), session)


def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Answer requests until interrupted, which is how a session ends."""
    import uvicorn

    config = uvicorn.Config(
        app,
        access_log=False,
        http="h11",
        lifespan="off",
        log_level="warning",
        loop="asyncio",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        ws="none",
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def _refused(why: str, status: int) -> Response:
    return PlainTextResponse(f"{why}\n", status)
