"""The process a model lives in: memory is given back when it ends, and crashes stay inside it.

Parent and worker exchange one JSON line per message over a socket pair, so nothing is ever unpickled.
"""

import ctypes
import json
import os
import signal
import socket
import sys
from importlib import import_module
from typing import Any

from offline_eval.airgap.guard import arm_from_environment, attempt_count
from offline_eval.airgap.switches import set_switches
from offline_eval.core.protocols import PrefixCached

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve one engine until the parent closes the socket. Argument: file descriptor of the socket."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # a killed parent takes its worker along
    set_switches()
    arm_from_environment()
    # Threads that spin while they wait starve each other on a shared machine: decoding was 7 times slower there.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    channel = socket.socket(fileno=int(sys.argv[1]))
    stream = channel.makefile("rwb")
    engine: Any = None
    for line in stream:
        message = json.loads(line)
        try:
            engine, reply = _answer(engine, message)
        except Exception as error:  # noqa: BLE001 - the worker's edge: the parent decides what an error means
            reply = {"error": f"{type(error).__name__}: {error}", "kind": type(error).__name__}
        # With every reply, since a worker that dies takes its count along.
        reply["refused_connections"] = attempt_count()
        stream.write(json.dumps(reply).encode() + b"\n")
        stream.flush()
        if message["op"] == "close":
            break
    os._exit(0)  # model libraries leave threads behind that would hold an ordinary exit up


def _answer(engine: Any, message: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    operation = message["op"]
    if operation == "load":
        from offline_eval.engines.inprocess import EngineSpec

        spec = EngineSpec.model_validate(message["spec"])
        engine = import_module(f"offline_eval.engines.{spec.engine}").ENGINE(spec)
        return engine, {"info": engine.info.model_dump(mode="json")}
    if operation == "generate":
        from offline_eval.core.protocols import GenerateRequest

        requests = [GenerateRequest.model_validate(request) for request in message["requests"]]
        return engine, {"results": [result.model_dump(mode="json") for result in engine.generate(requests)]}
    if operation == "score":
        from offline_eval.core.protocols import Failure

        rows = engine.score([(first, second) for first, second in message["pairs"]])
        return engine, {"results": [row.model_dump(mode="json") if isinstance(row, Failure) else row for row in rows]}
    if operation == "forget":
        if isinstance(engine, PrefixCached):
            engine.forget_prefixes()
        return engine, {"forgot": isinstance(engine, PrefixCached)}
    return engine, {"peak_bytes": _peak_bytes()}


def _peak_bytes() -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


if __name__ == "__mp_main__":  # in a child that a model library spawned from here, which imports this module again
    set_switches()
    arm_from_environment()
if __name__ == "__main__":
    main()
