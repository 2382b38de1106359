"""The guard cannot be taken off again, so every test arms it in a process of its own and really tries to get out."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

PRELUDE = """
import json, os, socket, sys, threading
from offline_eval.airgap import guard
from offline_eval.core.errors import AirGapError

def outcome(call):
    try:
        call()
        return "done"
    except AirGapError as error:
        return "refused"
    except OSError as error:
        return "os error"
"""


def run(body: str, **environ: str) -> Any:
    """Run the code in a fresh interpreter and return the JSON it prints."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(body)],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, **environ},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# 192.0.2.0/24 and 2001:db8::/32 are reserved for documentation and .invalid never resolves: nobody is ever called.
OUTWARD = {
    "connect": "socket.socket().connect(('192.0.2.1', 9))",
    "connect by name": "socket.socket().connect(('example.invalid', 9))",
    "connect_ex": "socket.socket().connect_ex(('192.0.2.1', 9))",
    "connect ipv6": "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 9))",
    "connect udp": "socket.socket(type=socket.SOCK_DGRAM).connect(('192.0.2.1', 9))",
    "sendto": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))",
    "sendto broadcast": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('255.255.255.255', 9))",
    "sendto by name": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('example.invalid', 9))",
    "bind by name": "socket.socket().bind(('example.invalid', 0))",
    "sendmsg": "socket.socket(type=socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('192.0.2.1', 9))",
    "getaddrinfo": "socket.getaddrinfo('example.invalid', 80)",
    "getaddrinfo bytes": "socket.getaddrinfo(b'example.invalid', 80)",
    "gethostbyname": "socket.gethostbyname('example.invalid')",
    "gethostbyname_ex": "socket.gethostbyname_ex('example.invalid')",
    "gethostbyaddr": "socket.gethostbyaddr('192.0.2.1')",
    "getnameinfo": "socket.getnameinfo(('192.0.2.1', 9), 0)",
    "create_connection": "socket.create_connection(('example.invalid', 80))",
    "bind to the outside": "socket.socket().bind(('192.0.2.1', 0))",
    "serve on every interface": "socket.socket().bind(('', 8765))",
    "serve on 0.0.0.0": "socket.socket().bind(('0.0.0.0', 8765))",
    "urllib": "__import__('urllib.request').request.urlopen('http://192.0.2.1:9/', timeout=1)",
}

INWARD = {
    "loopback name": "socket.getaddrinfo('localhost', 80)",
    "no host": "socket.getaddrinfo(None, 80)",
    "wildcard": "socket.getaddrinfo('0.0.0.0', 80)",
    "bind loopback": "socket.socket().bind(('127.0.0.1', 0))",
    "bind 127/8": "socket.socket().bind(('127.1.2.3', 0))",
    "bind localhost": "socket.socket().bind(('localhost', 0))",
    "free port": "socket.socket().bind(('', 0))",
    "udp loopback": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
    "several buffers": "(lambda a, b: a.sendmsg((b'x', b'y')))(*socket.socketpair())",
    "socket pair": "socket.socketpair()",
    "event loop": "__import__('asyncio').run(__import__('asyncio').sleep(0))",
}


def test_every_way_out_is_refused_and_counted() -> None:
    calls = ", ".join(f"{name!r}: outcome(lambda: {code})" for name, code in OUTWARD.items())
    found = run(f"guard.arm()\nprint(json.dumps([{{{calls}}}, guard.attempt_count(), len(guard.attempts())]))")
    assert found[0] == dict.fromkeys(OUTWARD, "refused")
    assert found[1:] == [len(OUTWARD), min(len(OUTWARD), 20)]


def test_no_system_call_goes_out_not_even_to_a_name_server(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    calls = "\n".join(f"outcome(lambda: {code})" for code in OUTWARD.values())
    log = tmp_path / "trace"
    code = f"{PRELUDE}\nguard.arm()\n{calls}\nsocket.socket().bind(('127.0.0.1', 0))"
    strace = ["strace", "-f", "-o", str(log), "-e", "trace=connect,sendto,sendmsg,sendmmsg,bind"]
    done = subprocess.run(
        [*strace, sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if "ptrace" in done.stderr.lower():
        pytest.skip("this system does not let strace attach")
    assert done.returncode == 0, done.stderr
    traced = [line for line in log.read_text().splitlines() if "AF_INET" in line]
    assert traced  # the loopback bind at the end: the trace works
    assert all("127.0.0.1" in line for line in traced), traced


def test_what_stays_on_the_machine_works() -> None:
    calls = ", ".join(f"{name!r}: outcome(lambda: {code})" for name, code in INWARD.items())
    found = run(f"guard.arm()\nprint(json.dumps([{{{calls}}}, guard.attempt_count()]))")
    assert found == [dict.fromkeys(INWARD, "done"), 0]


def test_ipv6_loopback_is_not_refused() -> None:
    # Whether the kernel has IPv6 is the kernel's business: the guard itself lets it pass.
    found = run(
        "guard.arm()\nprint(json.dumps([outcome(lambda: socket.socket(socket.AF_INET6).bind(('::1', 0))),"
        "guard.attempt_count()]))"
    )
    assert found[0] in ("done", "os error")
    assert found[1] == 0


def test_the_machine_may_look_up_its_own_name() -> None:
    found = run(
        """
        guard.arm()
        results = [outcome(lambda: socket.getaddrinfo(socket.gethostname(), 0)), outcome(socket.getfqdn)]
        print(json.dumps([results, guard.attempt_count()]))
        """
    )
    assert "refused" not in found[0]
    assert found[1] == 0


def test_a_loopback_server_can_be_called() -> None:
    found = run(
        """
        import http.server, urllib.request
        guard.arm()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stderr = open(os.devnull, "w")
        status = urllib.request.urlopen(f"http://localhost:{server.server_port}/").status
        print(json.dumps([status, guard.attempt_count()]))
        """
    )
    assert found == [200, 0]


def test_a_unix_socket_works(tmp_path: Path) -> None:
    found = run(
        f"""
        guard.arm()
        path = {str(tmp_path / "s")!r}
        server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen()
        client = socket.socket(socket.AF_UNIX); client.connect(path)
        print(json.dumps(guard.attempt_count()))
        """
    )
    assert found == 0


def test_an_attempt_names_the_address_and_the_line() -> None:
    found = run(
        """
        guard.arm()
        try:
            socket.create_connection(("example.invalid", 80))
        except AirGapError as error:
            message = str(error)
        print(json.dumps([guard.attempts()[0].model_dump(), message]))
        """
    )
    attempt, message = found
    assert attempt["event"] == "socket.getaddrinfo"
    assert attempt["address"] == "example.invalid"
    assert attempt["caller"].startswith("<string>:")
    assert "example.invalid" in message


def test_an_attempt_that_a_library_swallows_is_still_counted() -> None:
    found = run(
        """
        guard.arm()
        for _ in range(30):
            try:
                socket.socket(type=socket.SOCK_DGRAM).connect(("192.0.2.1", 80))
            except Exception:
                pass
        print(json.dumps([guard.attempt_count(), len(guard.attempts())]))
        """
    )
    assert found == [30, 20]


def test_code_that_forgives_network_errors_does_not_hide_a_refusal() -> None:
    found = run(
        """
        guard.arm()
        def forgiving():
            try:
                socket.socket().connect(("192.0.2.1", 80))
            except OSError:
                pass
        print(json.dumps(outcome(forgiving)))
        """
    )
    assert found == "refused"


def test_an_allowed_host_passes_and_its_reason_is_kept() -> None:
    # Port 9 of a documentation address: without a route or an answer the system says so, and the guard does not.
    found = run(
        """
        guard.arm([("192.0.2.1", "judge server in the next room")])
        probe = socket.socket(type=socket.SOCK_DGRAM)
        results = [outcome(lambda: probe.connect(("192.0.2.1", 9))), outcome(lambda: probe.connect(("192.0.2.2", 9)))]
        print(json.dumps([results, [h.model_dump() for h in guard.allowed_hosts()]]))
        """
    )
    assert found[0][0] in ("done", "os error")
    assert found[0][1] == "refused"
    assert found[1] == [{"host": "192.0.2.1", "reason": "judge server in the next room"}]


def test_an_allowed_name_may_be_looked_up() -> None:
    found = run(
        """
        guard.arm([("Judge.Example.invalid", "because")])
        print(json.dumps(outcome(lambda: socket.getaddrinfo("judge.example.invalid", 80))))
        """
    )
    assert found == "os error"  # gaierror: the guard let it through, and .invalid does not exist


def test_an_allowed_host_without_a_reason_is_refused() -> None:
    found = run(
        """
        from offline_eval.core.errors import UsageError
        try:
            guard.arm([("192.0.2.1", " ")])
        except UsageError as error:
            print(json.dumps(str(error)))
        """
    )
    assert "reason" in found


CHILD = (
    "import json, socket\n"
    "from offline_eval.airgap import guard\n"
    "from offline_eval.core.errors import AirGapError\n"
    "armed = guard.arm_from_environment()\n"
    "try:\n"
    "    socket.socket().connect(('192.0.2.1', 9)); result = 'open'\n"
    "except AirGapError:\n"
    "    result = 'refused'\n"
    "print(json.dumps([armed, result, [h.host for h in guard.allowed_hosts()]]))\n"
)


def test_a_child_process_arms_itself_with_the_same_allow_list() -> None:
    found = run(
        f"""
        import subprocess
        guard.arm([("judge.invalid", "because")])
        child = subprocess.run([sys.executable, "-c", {CHILD!r}], capture_output=True, text=True)
        print(child.stdout)
        """
    )
    assert found == [True, "refused", ["judge.invalid"]]


def test_a_forked_child_stays_armed() -> None:
    found = run(
        """
        import multiprocessing
        def child(queue):
            queue.put(outcome(lambda: socket.socket().connect(("192.0.2.1", 9))))
        guard.arm()
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        process = context.Process(target=child, args=(queue,)); process.start()
        print(json.dumps(queue.get())); process.join()
        """
    )
    assert found == "refused"


def test_a_child_of_an_unguarded_parent_is_not_armed() -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OFFLINE_EVAL_GUARD")}
    code = "from offline_eval.airgap import guard; print(guard.arm_from_environment(), guard.is_armed())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("broken", ["{", "[1]", '[{"host": "x"}]', "3"])
def test_a_broken_allow_list_in_the_environment_is_one_message(broken: str) -> None:
    found = run(
        """
        from offline_eval.core.errors import UsageError
        try:
            guard.arm_from_environment()
        except UsageError as error:
            print(json.dumps(str(error)))
        """,
        OFFLINE_EVAL_GUARD="1",
        OFFLINE_EVAL_GUARD_ALLOW=broken,
    )
    assert "OFFLINE_EVAL_GUARD_ALLOW" in found


def test_arming_twice_replaces_the_allow_list_and_keeps_the_count() -> None:
    found = run(
        """
        guard.arm([("192.0.2.9", "first")])
        outcome(lambda: socket.socket().connect(("192.0.2.1", 9)))
        guard.arm()
        outcome(lambda: socket.socket().connect(("192.0.2.9", 9)))
        print(json.dumps([guard.attempt_count(), len(guard.allowed_hosts())]))
        """
    )
    assert found == [2, 0]
