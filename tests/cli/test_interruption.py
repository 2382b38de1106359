"""Ctrl-C and foreign endpoints: what was finished is kept, and how to go on is said."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.support.chat_server import chat_server, obedient
from tests.support.cli import command, environment, offline_eval


def rows(count: int) -> str:
    row = {"contexts": ["The pool opens at nine."], "answer": "It opens at nine."}
    return "".join(
        json.dumps(row | {"id": str(n), "question": f"When does pool {n} open?"}) + "\n" for n in range(count)
    )


def test_ctrl_c_keeps_finished_batches_and_says_how_to_continue(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(rows(12))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's background jobs ignore it, and so would ours
    with chat_server(delay=0.05) as (url, seen):
        options = ("run", "rows.jsonl", "--engine", "endpoint", "--url", url, "--judge", "served")
        options += ("--batch-size", "1", "--reasons", "none", "--format", "json", "--self-test", "skip")
        process = subprocess.Popen(
            command(*options),
            cwd=tmp_path,
            env=environment(),
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        while len(seen) < 10:  # three questions a batch: some are committed by then
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "run the same command again" in told
        before = len(seen)
        done = offline_eval(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "were done before and are kept" in done.stderr
    assert json.loads(done.stdout)["n_verdicts"] == 36
    assert len(seen) - before < 36  # committed batches were not asked again


def test_a_chatty_endpoint_without_grammar_is_off_menu_with_its_words_kept(tmp_path: Path) -> None:
    def chatty(body: dict[str, Any]) -> str:
        return "Sure! Here is the JSON: I would say it is quite good."

    (tmp_path / "rows.jsonl").write_text(rows(2))
    with chat_server(chatty) as (url, _):
        done = offline_eval(
            *("run", "rows.jsonl", "--engine", "endpoint", "--url", url, "--judge", "served", "--format", "json"),
            cwd=tmp_path,
        )
    assert done.returncode == 4
    summary = json.loads(done.stdout)
    assert summary["n_failed"] == 6
    assert summary["judge_counts"][0]["guarantee"] == "none"
    exported = json.loads(offline_eval("runs", "export", "latest", cwd=tmp_path).stdout)
    verdicts = [piece["verdict"] for piece in exported["evidence"] if piece["kind"] == "verdict"]
    assert all(verdict["status_reason"].startswith("off_menu") and "Sure!" in verdict["raw"] for verdict in verdicts)


def test_an_endpoint_that_obeys_the_schema_is_told_apart_from_one_that_does_not(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(rows(1))
    with chat_server(obedient) as (url, _):
        options = ("run", "rows.jsonl", "--engine", "endpoint", "--url", url, "--judge", "served", "--format", "json")
        done = offline_eval(*options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["judge_counts"][0]["guarantee"] == "server_schema"


def test_an_endpoint_beyond_this_machine_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(rows(1))
    done = offline_eval("run", "rows.jsonl", "--engine", "endpoint", "--url", "http://192.0.2.1:9/v1", cwd=tmp_path)
    assert done.returncode == 3
    assert "--allow-host 192.0.2.1" in done.stderr
