"""What every page and service on this machine has in common: loopback only, own addresses only, safe headers.

One place, so that the review page and the assessing service keep strangers out in the same way.
"""

import socket
from collections.abc import Sequence
from typing import Protocol

from offline_eval.core.errors import UsageError

HOST = "127.0.0.1"
SAFE_HEADERS = {
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
_NAMES = (HOST, "localhost")


class RequestHeaders(Protocol):
    """A request's headers; names in any case, each may be given several times."""

    def getlist(self, key: str) -> list[str]:
        """All values of a header."""
        ...


def own_hosts(port: int) -> tuple[str, ...]:
    """Accepted `Host` headers; anything else is a page of another site that resolves to this machine."""
    return tuple(f"{name}:{port}" for name in _NAMES)


def is_own_host(headers: RequestHeaders, hosts: Sequence[str]) -> bool:
    """Whether a request names exactly one host, and that is ours."""
    return headers.getlist("host") in [[host] for host in hosts]


def is_from_own_page(headers: RequestHeaders, *, needs_origin: bool) -> bool:
    """Whether a browser says that one of our own pages sent a request.

    Args:
        needs_origin: Refuse a request that says nothing about its page, as programs do and browsers never do when they
            send data.
    """
    origins = headers.getlist("origin")
    if not origins:
        return not needs_origin
    if origins not in [[f"http://{host}"] for host in headers.getlist("host")]:
        return False
    return headers.getlist("sec-fetch-site") in ([], ["same-origin"])


def listen(port: int, *, backlog: int = 128) -> socket.socket:
    """A listening socket on loopback.

    Args:
        port: 0 for any free one.
        backlog: Connections that may wait to be accepted.

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
    listener.listen(backlog)
    return listener
