"""A guard inside the Python process that refuses every connection and name look-up beyond this machine.

Why: a library that quietly calls home must fail loudly. The guard sees what goes through Python's `socket` module; C
code that opens sockets by itself is kept in by the switches and proved by running in a namespace without network.
"""

import functools
import ipaddress
import json
import os
import socket
import sys
import threading
from collections.abc import Iterable, MutableMapping
from typing import Any

from offline_eval.core.errors import AirGapError, UsageError
from offline_eval.core.records import Record

GUARD_VARIABLE = "OFFLINE_EVAL_GUARD"
ALLOW_VARIABLE = "OFFLINE_EVAL_GUARD_ALLOW"
KEPT_ATTEMPTS = 20

_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})
# Families that never leave the kernel; by number, because not every platform names them all.
_LOCAL_FAMILIES = frozenset(
    int(getattr(socket, name)) for name in ("AF_UNIX", "AF_NETLINK", "AF_ALG") if hasattr(socket, name)
)
_SENDING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_NAMING = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"})


class AllowedHost(Record):
    """A host beyond this machine that the user allowed.

    Attributes:
        host: A name or an address, without port.
        reason: Why; kept in the run's manifest.
    """

    host: str
    reason: str


class Attempt(Record):
    """One refused call.

    Attributes:
        event: The refused call, for example `socket.connect`.
        address: Where it wanted to go, as `host:port` or a name.
        caller: `file:line` outside the socket library that made it.
    """

    event: str
    address: str
    caller: str


class _Policy:
    """What the hook reads at every call and counts into."""

    def __init__(self) -> None:
        self.installed = False
        self.allowed: tuple[AllowedHost, ...] = ()
        self.own_names: frozenset[str] = frozenset()
        self.count = 0
        self.kept: list[Attempt] = []
        self.lock = threading.RLock()


# The one module global: an audit hook cannot be removed or given arguments, so a process has one hook and one policy.
_POLICY = _Policy()


def arm(allow: Iterable[tuple[str, str]] = ()) -> None:
    """Refuse, from now on and until the process ends, whatever would leave this machine.

    Loopback, Unix and netlink sockets work. The machine may look up its own name (distributed libraries do) but not
    connect to its own outside address. A refused call raises `AirGapError`, which is no `OSError`, so that code which
    expects a flaky network does not swallow it; attempts that are swallowed anyway are still counted.
    The environment is marked as well, so that children arm themselves with `arm_from_environment`.

    Args:
        allow: `(host, reason)` pairs that may be reached; a second call replaces them and keeps the attempts.

    Raises:
        UsageError: A host or its reason is empty.
    """
    allowed = tuple(AllowedHost(host=_bare(host), reason=reason.strip()) for host, reason in allow)
    if any(not entry.host or not entry.reason for entry in allowed):
        raise UsageError("an allow-listed host needs a name and a reason; give both")
    name = socket.gethostname().lower()
    _POLICY.allowed = allowed
    _POLICY.own_names = frozenset({name, name.split(".", 1)[0]})
    os.environ.update(guard_environment())
    if not _POLICY.installed:
        _POLICY.installed = True
        sys.addaudithook(_hook)
        for method in ("connect", "connect_ex", "bind", "sendto", "sendmsg"):
            _check_before(method)


def arm_from_environment(environ: MutableMapping[str, str] = os.environ) -> bool:
    """Arm the guard in a child whose parent was armed.

    Call it at the top of a worker's main module: children that the worker itself spawns import that module again.

    Returns:
        Whether the guard is armed now.

    Raises:
        UsageError: The allow list in the environment cannot be read.
    """
    if environ.get(GUARD_VARIABLE) != "1":
        return is_armed()
    try:
        pairs = [(entry["host"], entry["reason"]) for entry in json.loads(environ.get(ALLOW_VARIABLE) or "[]")]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f'{ALLOW_VARIABLE} must be a JSON list of {{"host", "reason"}}: {error}') from error
    arm(pairs)
    return True


def guard_environment() -> dict[str, str]:
    """The variables that make a child arm itself the same way; for children that get an environment of their own."""
    allowed = json.dumps([entry.model_dump() for entry in _POLICY.allowed], ensure_ascii=True)
    return {GUARD_VARIABLE: "1", ALLOW_VARIABLE: allowed}


def is_armed() -> bool:
    """Whether this process refuses to leave the machine."""
    return _POLICY.installed


def allowed_hosts() -> tuple[AllowedHost, ...]:
    """The hosts that may be reached, with their reasons."""
    return _POLICY.allowed


def attempt_count() -> int:
    """How many calls were refused in this process."""
    return _POLICY.count


def attempts() -> list[Attempt]:
    """The first refused calls of this process, at most `KEPT_ATTEMPTS`; `attempt_count` has them all."""
    with _POLICY.lock:
        return list(_POLICY.kept)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not event.startswith("socket."):
        return
    if event in _SENDING:
        _check_peer(event, *args)
    elif event == "socket.bind":
        _check_bind(*args)
    elif event in _NAMING:
        _check_name(event, args[0])


def _check_before(method: str) -> None:
    """Check a socket method's address before its C code runs.

    Given a host name, that code looks the name up first and reports to audit hooks only then, when the question has
    already left the machine.
    """
    original = getattr(socket.socket, method)
    event = "socket.connect" if method == "connect_ex" else f"socket.{method}"

    @functools.wraps(original)
    def checked(self: socket.socket, *args: Any) -> Any:
        has_address = len(args) == 4 if method == "sendmsg" else bool(args)
        if has_address and isinstance(args[-1], tuple):
            _hook(event, (self, args[-1]))
        return original(self, *args)

    setattr(socket.socket, method, checked)


def _check_peer(event: str, sock: socket.socket, address: Any) -> None:
    if address is None or int(sock.family) in _LOCAL_FAMILIES:
        return  # None: the socket is connected, and its connect was checked
    host = _host_of(address)
    # Linux delivers to the unspecified address on loopback.
    if host is not None and (_is_local(host) or _is_unspecified(host) or _is_allowed(host)):
        return
    _refuse(event, address)


def _check_bind(sock: socket.socket, address: Any) -> None:
    if int(sock.family) in _LOCAL_FAMILIES:
        return
    host = _host_of(address)
    if host and _is_local(host):
        return
    # Every interface, but a port the kernel picks: how libraries find a free port; nobody outside knows it.
    if host is not None and (host == "" or _is_unspecified(host)) and address[1] == 0:
        return
    _refuse("socket.bind", address)


def _check_name(event: str, host: Any) -> None:
    name = _bare(_host_of(host) if isinstance(host, tuple) else _decoded(host))
    if _is_local(name) or _is_unspecified(name) or name in _POLICY.own_names or _is_allowed(name):
        return
    _refuse(event, host)


def _is_local(host: str) -> bool:
    name = _bare(host)
    if name in _LOCAL_NAMES or name.endswith(".localhost"):
        return True
    address = _ip(name)
    return address is not None and address.is_loopback


def _is_unspecified(host: str) -> bool:
    address = _ip(host)
    return address is not None and address.is_unspecified


def _is_allowed(host: str) -> bool:
    name = _bare(host)
    if any(name == entry.host for entry in _POLICY.allowed):
        return True
    # Sockets connect to addresses, the allow list holds names: a name's addresses are looked up when one is needed.
    return _ip(name) is not None and any(name in _addresses(entry.host) for entry in _POLICY.allowed)


def _addresses(host: str) -> set[str]:
    if _ip(host) is not None:
        return set()
    try:
        return {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return set()


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _host_of(address: Any) -> str | None:
    """The host in a socket address; None when it has none that we know."""
    if isinstance(address, tuple) and len(address) >= 2:
        return _decoded(address[0])
    return None


def _decoded(host: Any) -> str:
    if host is None:
        return ""
    return bytes(host).decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)


def _bare(host: str | None) -> str:
    return (host or "").strip().rstrip(".").strip("[]").lower()


def _refuse(event: str, address: Any) -> None:
    where = f"{_decoded(address[0])}:{address[1]}" if isinstance(address, tuple) and len(address) > 1 else str(address)
    attempt = Attempt(event=event, address=where, caller=_caller())
    with _POLICY.lock:
        _POLICY.count += 1
        if len(_POLICY.kept) < KEPT_ATTEMPTS:
            _POLICY.kept.append(attempt)
    raise AirGapError(
        f"refused {event} to {where} from {attempt.caller}: an evaluation stays on this machine; "
        "use a loopback address, or allow this host with a reason if it is meant"
    )


def _caller() -> str:
    frame = sys._getframe(1)
    own = {__file__, socket.__file__}
    while frame.f_back is not None and frame.f_code.co_filename in own:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
