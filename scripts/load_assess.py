"""Load a real assessing service with many clients at once, and count what is lost, mixed up, refused and late.

A stub stands in for the generator; checks are the real pipeline's, with the default encoders or scripted ones.
"""

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

STUB = '''
"""A generator and a retriever that name the query they were asked, after a short wait."""
import time


def retrieve(query, k):
    number = query.rsplit(" ", 1)[-1]
    return [{"id": f"{number}-{n}", "text": f"The code of room {number} is {number}{n}."} for n in range(min(k, 3))]


def generate(request):
    time.sleep(0.02)
    number = request.query.rsplit(" ", 1)[-1]
    return {"answer": f"The code of room {number} is {number}0.", "citations": [f"{number}-0"]}
'''


@dataclass
class Tally:
    """What the clients saw.

    Attributes:
        wrong: Answers that belong to another query.
        broken: Requests without an answer before the service was told to stop.
        cut: Requests without an answer after it: on their way when the service had gone.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: int = 0
    broken: int = 0
    cut: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    without_retry_after: int = 0
    seconds: list[float] = field(default_factory=list)
    checks_ms: list[float] = field(default_factory=list)
    in_flight_at_stop: int = 0


def main() -> int:
    """Run the load and print what happened; exit code 1 when something was lost, mixed up or unbounded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--queue", type=int, default=64)
    parser.add_argument("--encoders", choices=["scripted", "default"], default="scripted")
    parser.add_argument("--distinct", type=int, default=100_000, help="Different queries; few of them hit the cache.")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = run(Path(folder), arguments)
    print(json.dumps(report, indent=2))
    return 0 if report["ok"] else 1


def run(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Start the service, load it, stop it in the middle, and report."""
    process, address = start(folder, arguments)
    try:
        tally, memory = asyncio.run(load(address, process, arguments))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    return summary(tally, memory, process.returncode, accepted=accepted_by((folder / "service.log").read_text("utf-8")))


def accepted_by(log: str) -> int | None:
    """How many requests the service says it accepted; None when it did not come to say so."""
    found = re.search(r"stopped: (\d+) requests were accepted", log)
    return None if found is None else int(found[1])


def start(folder: Path, arguments: argparse.Namespace) -> tuple["subprocess.Popen[str]", str]:
    """A real uvicorn process on a free port."""
    (folder / "load_stub.py").write_text(STUB, "utf-8")
    encoders = "{support: scripted, answerability: scripted, embedder: scripted}"
    lines = [
        "retrievers: ['load_stub:retrieve']",
        "generator: load_stub:generate",
        f"service: {{workers: {arguments.workers}, queue: {arguments.queue}}}",
        *([f"encoders: {encoders}"] if arguments.encoders == "scripted" else []),
    ]
    (folder / "assess.yaml").write_text("\n".join(lines) + "\n", "utf-8")
    command = [sys.executable, "-m", "offline_eval", "assess", "serve", "--config", "assess.yaml", "--port", "0"]
    root = str(Path(__file__).resolve().parents[1])
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    with (folder / "service.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--no-log"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=os.environ | {"PYTHONPATH": paths},
        )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    if not address:
        raise SystemExit((folder / "service.log").read_text("utf-8"))
    return process, address


async def load(
    address: str, process: "subprocess.Popen[str]", arguments: argparse.Namespace
) -> tuple[Tally, dict[str, float]]:
    """All clients for the whole time, then SIGTERM while they go on."""
    tally, stop, gone = Tally(), asyncio.Event(), asyncio.Event()
    limits = httpx.Limits(max_connections=arguments.clients, max_keepalive_connections=arguments.clients)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits, trust_env=False) as client:
        await ready(client)
        memory = {"start_mib": resident_mib(process.pid)}
        clients = [
            asyncio.create_task(ask_on(client, number, tally, stop, gone, arguments))
            for number in range(arguments.clients)
        ]
        memory["peak_mib"] = await watch(process.pid, arguments.seconds)
        memory["end_mib"] = resident_mib(process.pid)
        stop.set()
        tally.in_flight_at_stop = len(UNDER_WAY)
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait, 60)
        gone.set()
        await asyncio.gather(*clients)
    return tally, memory


UNDER_WAY: set[int] = set()
"""Requests that were sent and not answered."""


async def ask_on(
    client: httpx.AsyncClient,
    number: int,
    tally: Tally,
    stop: asyncio.Event,
    gone: asyncio.Event,
    arguments: argparse.Namespace,
) -> None:
    """One client: asks, checks that the answer is to its own question, waits as it is told, asks again."""
    rng = random.Random(arguments.seed * 100_003 + number)
    turn = 0
    while not gone.is_set():
        turn += 1
        name = number * 1_000_000 + turn
        room = str(rng.randrange(arguments.distinct))
        began_before_stop = not stop.is_set()
        UNDER_WAY.add(name)
        start = time.monotonic()
        try:
            answer = await post(client, room, turn)
        except httpx.HTTPError as error:
            # Told to stop, the service may have gone between two requests of a connection: not accepted, so not lost.
            if began_before_stop and not stop.is_set():
                tally.broken += 1
                tally.errors[type(error).__name__] += 1
            else:
                tally.cut += 1
                return
            continue
        finally:
            UNDER_WAY.discard(name)
        take(tally, answer, room, time.monotonic() - start)
        if answer.status_code == 503:
            await asyncio.sleep(rng.uniform(0.1, 0.5) if stop.is_set() else rng.uniform(0.2, 1.0))


async def post(client: httpx.AsyncClient, room: str, turn: int) -> httpx.Response:
    """Every second request is a check of an answer that is there."""
    if turn % 2:
        return await client.post("/assess", json={"query": query_of(room)})
    passages = [{"id": "1", "text": answer_of(room)}, {"id": "2", "text": "Rooms have codes of their own."}]
    body = {"query": query_of(room), "answer": answer_of(room), "passages": passages}
    return await client.post("/check", json=body)


def take(tally: Tally, answer: httpx.Response, room: str, seconds: float) -> None:
    """Count one answer."""
    tally.statuses[answer.status_code] += 1
    if answer.status_code == 503:
        tally.without_retry_after += "retry-after" not in answer.headers
    if answer.status_code != 200:
        return
    body = answer.json()
    tally.seconds.append(seconds)
    if body["query"] != query_of(room) or body["answer"] != answer_of(room):
        tally.wrong += 1
    if not body["cached"]:
        others = sum(t["ms"] for t in body["timings"] if t["stage"] in ("retrieve", "generate"))
        tally.checks_ms.append(max(0.0, body["total_ms"] - others))


def query_of(room: str) -> str:
    """The question about a room."""
    return f"What is the code of room {room}"


def answer_of(room: str) -> str:
    """The right answer to it."""
    return f"The code of room {room} is {room}0."


async def ready(client: httpx.AsyncClient) -> None:
    """Wait until the service answers."""
    for _ in range(600):
        with suppress(httpx.HTTPError):
            if (await client.get("/health")).status_code == 200:
                return
        await asyncio.sleep(0.1)
    raise SystemExit("the service did not answer within 60 s")


async def watch(pid: int, seconds: float) -> float:
    """The highest resident memory seen, in MiB."""
    until, peak = time.monotonic() + seconds, 0.0
    while time.monotonic() < until:
        peak = max(peak, resident_mib(pid))
        await asyncio.sleep(0.25)
    return peak


def resident_mib(pid: int) -> float:
    """Resident memory of a process, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0


def summary(tally: Tally, memory: dict[str, float], exit_code: int | None, *, accepted: int | None) -> dict[str, Any]:
    """What happened, as numbers: every accepted request must have come back as an answer, the last ones too."""
    lost = None if accepted is None else accepted - tally.statuses[200]
    strange = {code: n for code, n in tally.statuses.items() if code not in (200, 503)}
    ok = not (tally.wrong or tally.broken or lost != 0 or tally.without_retry_after or strange or exit_code)
    return {
        "ok": ok,
        "answered": tally.statuses[200],
        "refused_503": tally.statuses[503],
        "other_statuses": strange,
        "mixed_up": tally.wrong,
        "lost": tally.broken,
        "errors": dict(tally.errors),
        "accepted_by_the_service": accepted,
        "accepted_and_lost": lost,
        "in_flight_at_stop": tally.in_flight_at_stop,
        "without_answer_after_stop_and_not_accepted": tally.cut,
        "503_without_retry_after": tally.without_retry_after,
        "request_seconds": percentiles(tally.seconds),
        "checks_ms": percentiles(tally.checks_ms),
        "memory": memory,
        "exit_code": exit_code,
    }


def percentiles(values: list[float]) -> dict[str, float]:
    """Median, 95th and 99th percentile, with the count."""
    if not values:
        return {"n": 0}
    p50, p95, p99 = np.quantile(values, [0.5, 0.95, 0.99])
    return {"n": len(values), "p50": round(float(p50), 4), "p95": round(float(p95), 4), "p99": round(float(p99), 4)}


if __name__ == "__main__":
    sys.exit(main())
