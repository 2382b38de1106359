"""Runs the service until it is told to stop, and then finishes what it has accepted before it goes."""

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp

from offline_eval.assess.service import AssessService

_POLL_S = 0.02
_LINGER_S = 0.5
_KEEP_ALIVE_S = 75  # longer than clients keep theirs: else a request meets a connection that is being closed
_LAST_CONNECTIONS_S = 10
BACKLOG = 1024
"""Connections that may wait to be accepted: refusals have to be answered, not dropped by the kernel."""


def serve(
    service: AssessService,
    app: ASGIApp,
    listener: socket.socket,
    *,
    stop_s: float,
    say: Callable[[str], None] | None = None,
) -> bool:
    """Serve until SIGTERM or SIGINT.

    From then on new requests get 503 while the accepted ones finish; a second signal ends at once.

    Args:
        app: The service's own, from `service.app`.
        listener: A listening socket on loopback.
        stop_s: Seconds the accepted requests are given.
        say: Told how stopping goes.

    Returns:
        Whether every accepted request was finished.
    """
    return asyncio.run(_serve(service, app, listener, stop_s=stop_s, say=say or (lambda line: None)))


async def _serve(
    service: AssessService, app: ASGIApp, listener: socket.socket, *, stop_s: float, say: Callable[[str], None]
) -> bool:
    import uvicorn

    config = uvicorn.Config(
        app,
        access_log=False,
        lifespan="off",
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_LAST_CONNECTIONS_S,
        ws="none",
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not running.done():
        await asyncio.sleep(_POLL_S)
    wanted = _stop_wanted(server)
    ended = asyncio.create_task(wanted.wait())
    await asyncio.wait([running, ended], return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    say(f"stopping: {service.queue.accepted} accepted requests are being finished")
    finished = await service.queue.stop(within_s=stop_s)
    if not finished:
        say(f"{service.queue.accepted} accepted requests were not finished within {stop_s:g} s")
    await asyncio.sleep(_LINGER_S)  # requests that were on their way still get their 503
    server.should_exit = True  # answers that are ready are still written: uvicorn waits for its connections
    await running
    service.queue.close()
    left = service.queue.accepted
    say(f"stopped: {service.queue.accepted_ever} requests were accepted, {service.queue.accepted_ever - left} finished")
    return finished


def _stop_wanted(server: Any) -> asyncio.Event:
    """Take the signals from uvicorn, which would close its sockets at once instead of answering 503."""
    wanted = asyncio.Event()

    def stop() -> None:
        if wanted.is_set():
            server.force_exit = server.should_exit = True
        wanted.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    return wanted
