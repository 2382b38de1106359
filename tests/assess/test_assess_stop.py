"""A real service process: it finishes what it accepted when it is told to stop, and holds up under many clients."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from scripts import load_assess

SLOW = """
import time


def retrieve(query, k):
    return ["Room 7 has the code 70."]


def generate(request):
    time.sleep(1.0)
    return "Room 7 has the code 70."
"""
SETTINGS = """
retrievers: ["slow_stub:retrieve"]
generator: slow_stub:generate
encoders: {support: scripted, answerability: scripted, embedder: scripted}
policy: {cache_entries: 0, switched_off: [answerability]}
service: {workers: 2, queue: 4}
"""


@contextmanager
def serving(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    (folder / "slow_stub.py").write_text(SLOW, "utf-8")
    (folder / "assess.yaml").write_text(SETTINGS, "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "offline_eval", "assess", "serve", "--config", "assess.yaml", "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_told_to_stop_the_service_finishes_what_it_accepted_and_refuses_the_rest(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, address), ThreadPoolExecutor(6) as clients:
        with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
            while client.get("/health").status_code != 200:
                time.sleep(0.1)
            client.post("/assess", json={"query": "warm up 1"})
            accepted = [
                clients.submit(client.post, "/assess", json={"query": f"What is the code of room {n}?"})
                for n in range(6)
            ]
            while client.get("/health").json()["accepted"] < 6:
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            while (health := client.get("/health")).status_code == 200:
                time.sleep(0.02)
            assert health.json()["status"] == "stopping"
            refused = client.post("/assess", json={"query": "too late"})
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "stopping")
            assert "retry-after" in refused.headers
            answers = [future.result() for future in accepted]
        assert [answer.status_code for answer in answers] == [200] * 6
        assert [answer.json()["query"] for answer in answers] == [f"What is the code of room {n}?" for n in range(6)]
        assert process.wait(30) == 0
        assert process.stderr is not None
        log = process.stderr.read()
        assert "accepted requests are being finished" in log
        assert "the code of" not in log, "the request log holds no texts"
        lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
        assert sum(line["path"] == "/assess" and line["status"] == 200 for line in lines) == 7


@pytest.mark.slow
def test_under_thirty_clients_nothing_is_lost_or_mixed_up(tmp_path: Path) -> None:
    arguments = argparse.Namespace(
        clients=30, seconds=5.0, workers=2, queue=8, encoders="scripted", distinct=1000, seed=0
    )
    report = load_assess.run(tmp_path, arguments)
    assert report["ok"], report
    assert report["answered"] > 0
    assert report["refused_503"] > 0, "more clients than room: somebody has to be refused"
    assert report["memory"]["end_mib"] < report["memory"]["start_mib"] + 200


def test_the_load_script_notices_an_answer_to_another_question() -> None:
    """So that "nothing was mixed up" means something."""
    body = {"query": load_assess.query_of("7"), "answer": load_assess.answer_of("8"), "cached": True}
    tally = load_assess.Tally()
    load_assess.take(tally, httpx.Response(200, json=body), "7", 0.1)
    load_assess.take(tally, httpx.Response(503), "7", 0.1)
    load_assess.take(tally, httpx.Response(500), "7", 0.1)
    report = load_assess.summary(tally, {}, 0, accepted=2)
    assert (report["ok"], report["mixed_up"], report["503_without_retry_after"]) == (False, 1, 1)
    assert report["accepted_and_lost"] == 1
    assert report["other_statuses"] == {500: 1}
