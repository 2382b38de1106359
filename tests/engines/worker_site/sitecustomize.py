"""Gives a worker process an engine named `misbehaving`, so that tests can make a real worker crash, hang or call out.

A worker loads its engine by name from the engines package; this folder on its PYTHONPATH puts one more name there.
"""

import multiprocessing
import os
import signal
import socket
import sys
import time
import types


class MisbehavingEngine:
    """Does what the first message of each request says: `crash`, `crash once FILE`, `hang`, `raise`, `connect`, …"""

    def __init__(self, spec):
        from offline_eval.core.errors import ModelError
        from offline_eval.engines.inprocess import engine_info

        if spec.family == "refused":
            raise ModelError("has no chat template")
        if spec.family == "crashing":
            os.kill(os.getpid(), signal.SIGKILL)
        self._batch_size = spec.batch_size
        self.info = engine_info(spec, device="none", versions={})

    def generate(self, requests):
        words = [request.messages[0].content.split() for request in requests]
        for name, most in (said for said in words if said[0].startswith("memory-for")):
            if name == "memory-for-batch" and self._batch_size > int(most):
                raise MemoryError
            if name == "memory-for-requests" and len(requests) > int(most):
                os.kill(os.getpid(), signal.SIGKILL)  # as the kernel does when memory runs out
        return [_answer(request, mates=len(requests)) for request in requests]

    def score(self, pairs):
        said = [premise.split() for premise, _ in pairs]
        for most in (words[1] for words in said if words[0] == "memory-for-batch"):
            if self._batch_size > int(most):
                raise MemoryError
        return [_row(words, hypothesis) for words, (_, hypothesis) in zip(said, pairs, strict=True)]


def _row(words, hypothesis):
    from offline_eval.core.protocols import Failure

    if words[0] == "entails":
        return {"entailment": float(words[1]), "neutral": 1 - float(words[1])}
    if words[0] == "refuse":
        return Failure(reason="prompt_too_long", detail=f"refuse {hypothesis}")
    answer = _said(words, mates=1)
    return answer if isinstance(answer, Failure) else Failure(reason=words[0], detail=answer.text)


def _answer(request, *, mates):
    return _said(request.messages[0].content.split(), mates=mates)


def _said(words, *, mates):
    from offline_eval.airgap.switches import check_switches
    from offline_eval.core.protocols import Failure, Generation

    text = words[0]
    if words[0] == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if words[0] == "crash-once" and not os.path.exists(words[1]):
        open(words[1], "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if words[0] == "hang":
        time.sleep(600)
    if words[0] == "raise":
        raise RuntimeError("no such thing")
    if words[0] == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if words[0] == "mates":
        text = str(mates)
    if words[0] == "pid":
        text = str(os.getpid())
    if words[0] == "fill":
        text = str(len(b"x" * int(words[1])))
    if words[0] == "switches":
        text = "; ".join(check_switches()) or "all set"
    if words[0] == "connect":
        try:
            socket.create_connection((words[1], int(words[2])), timeout=5).close()
            text = "connected"
        except Exception as error:  # noqa: BLE001 - the test asks which error it is
            return Failure(reason=type(error).__name__, detail=str(error))
    if words[0] == "spawn-connect":
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        child = context.Process(target=_connect_and_tell, args=(theirs, words[1], int(words[2])))
        child.start()
        text = ours.recv()
        child.join()
    return Generation(text=text, prompt_tokens=0, output_tokens=1)


def _connect_and_tell(pipe, host, port):
    try:
        socket.create_connection((host, port), timeout=5).close()
        pipe.send("connected")
    except Exception as error:  # noqa: BLE001 - the test asks which error it is
        pipe.send(type(error).__name__)


for _name in ("misbehaving", "vllm_misbehaving"):  # certified results of vLLM do not depend on the size
    _module = types.ModuleType(f"offline_eval.engines.{_name}")
    _module.ENGINE = MisbehavingEngine
    sys.modules[_module.__name__] = _module
