"""What the guard refused during a run stands in the run's events and in its report."""

import json
from pathlib import Path

from tests.support.cli import offline_eval

SYSTEM = """
import socket
def answer(query):
    for host in ("192.0.2.1", "judge.invalid"):  # reserved for documentation: nobody is ever called
        try:
            socket.create_connection((host, 80), timeout=1)
        except Exception:
            pass
    return "Five days."
"""


def test_a_system_that_tries_to_call_out_is_counted(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"id": "1", "query": "How many days?"}\n{"id": "2", "query": "几天？"}\n')
    (tmp_path / "curious.py").write_text(SYSTEM)
    options = ("run", "cases.jsonl", "--system", "curious:answer", "--engine", "scripted", "--format", "json")
    done = offline_eval(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["refused_attempts"] == 4  # two cases, two hosts
    events = json.loads(offline_eval("runs", "show", "latest", cwd=tmp_path).stdout)["events"]
    assert [event["refused_connections"] for event in events if event["event"] == "air_gap"] == [4]
    assert "4 outbound attempts refused by the socket guard" in offline_eval("report", "latest", cwd=tmp_path).stdout


def test_a_run_without_attempts_says_none(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"question": "几天？", "contexts": ["15天。"], "answer": "15天。"}\n')
    done = offline_eval("run", "rows.jsonl", "--engine", "scripted", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0 outbound attempts refused by the socket guard" in done.stdout
    document = json.loads(offline_eval("runs", "export", "latest", cwd=tmp_path).stdout)
    assert "refused_attempts" not in document["summary"]  # of the session, not of the results
