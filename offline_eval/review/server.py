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

from offline_eval.core.errors import UsageError

HOST = "127.0.0.1"
MOST_BODY_BYTES = 64 * 1024
_MOST_FIELDS = 20
_LOG = logging.getLogger(__name__)
_NAMES = (HOST, "localhost")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`: browsers would then send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


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
        return tuple(f"{name}:{self.port}" for name in _NAMES)


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
                MutableHeaders(scope=message).update(_HEADERS)
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
        if request.headers.getlist("host") not in [[host] for host in session.hosts]:
            return _refused("this page answers only to its own address", 421)
        if not self._is_from_here(request):
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

    def _is_from_here(self, request: Request) -> bool:
        """Whether a browser says that one of our own pages sent it; a form must say so."""
        origins = request.headers.getlist("origin")
        if origins not in [[f"http://{host}"] for host in request.headers.getlist("host")]:
            return not origins and request.method in ("GET", "HEAD")
        return request.headers.get("sec-fetch-site", "same-origin") == "same-origin"


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


def listen(port: int) -> socket.socket:
    """A listening socket on loopback.

    Args:
        port: 0 for any free one.

    Raises:
        UsageError: The port is taken.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise UsageError(f"--port {port}: {error.strerror or error}; name another, or 0 for any free one") from error
    listener.listen()
    return listener


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
