"""Proofs that nothing leaves the machine: a namespace without network, and system calls read from strace."""

import re
import shutil
import subprocess
from pathlib import Path

NO_NETWORK = ("unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
_CALLS = "connect,sendto,sendmsg,sendmmsg,bind"
_ADDRESS = re.compile(r'sa_family=AF_INET6?, .*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")')
_INTERNET = re.compile(r"sa_family=AF_INET6?\b")
_LOCAL = ("127.", "::1", "::ffff:127.")
_ANY = ("0.0.0.0", "::")


def why_no_namespace() -> str | None:
    """Why this machine cannot run a command without network; None when it can."""
    if not shutil.which("ip") or not shutil.which("unshare"):
        return "a namespace without network needs the commands unshare and ip (packages util-linux, iproute2)"
    if subprocess.run([*NO_NETWORK, "true"], check=False, capture_output=True).returncode:
        return "a namespace without network needs root"
    return None


def why_no_trace(folder: Path) -> str | None:
    """Why system calls cannot be traced here; None when they can."""
    if shutil.which("strace") is None:
        return "tracing needs strace"
    done = subprocess.run([*traced(folder / "probe"), "true"], check=False, capture_output=True)
    return "this system does not let strace attach" if done.returncode else None


def traced(log: Path) -> tuple[str, ...]:
    """A command prefix that writes every network call of a command and all its children to a file.

    The kernel filters, so that only these calls are slow.
    """
    return ("strace", "-f", "--seccomp-bpf", "-qq", "-o", str(log), "-e", f"trace={_CALLS}", "-s", "64")


def network_calls(log: Path) -> list[str]:
    """All traced calls with an internet address."""
    return [line for line in log.read_text("utf-8", "replace").splitlines() if _INTERNET.search(line)]


def outbound_calls(log: Path) -> list[str]:
    """Traced calls that name an address beyond this machine, or one that cannot be read."""
    return [line for line in network_calls(log) if not _stays(line)]


def _stays(line: str) -> bool:
    found = _ADDRESS.search(line)
    if found is None:
        return False
    address = found[1] or found[2]
    return address.startswith(_LOCAL) or (address in _ANY and " bind(" in line and "htons(0)" in line)
