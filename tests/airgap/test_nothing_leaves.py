"""The whole job, encoders and retrieval included: without a network it runs, and traced it never tries to leave."""

import json
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from offline_eval.models.installed import find_installed
from tests.support.cli import offline_eval
from tests.support.network_trace import (
    NO_NETWORK,
    network_calls,
    outbound_calls,
    traced,
    why_no_namespace,
    why_no_trace,
)
from tests.support.tiny_models import tiny_models

EMBEDDER = "all-minilm-l6-v2"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two demo cases of each language with their answers, the corpus, and a tiny judge in home/."""
    folder = tmp_path_factory.mktemp("project")
    with as_file(files("offline_eval.demo")) as demo:
        cases = [json.loads(line) for line in (demo / "cases.jsonl").read_text("utf-8").splitlines()]
        answers = [json.loads(line) for line in (demo / "answers-careful.jsonl").read_text("utf-8").splitlines()]
        passages = [json.loads(line) for line in (demo / "passages.jsonl").read_text("utf-8").splitlines()]
    chosen = [case for language in ("en", "zh") for case in [c for c in cases if c["language"] == language][:2]]
    ids = {case["id"] for case in chosen}
    # The default embedder is for English, and an index says so about a corpus that is not.
    _write(folder / "passages.jsonl", [passage for passage in passages if passage["text"].isascii()])
    _write(folder / "cases.jsonl", chosen)
    _write(folder / "answers.jsonl", [answer for answer in answers if answer["case_id"] in ids])
    return folder


@pytest.fixture(scope="module")
def home(project: Path) -> Path:
    """A home with a tiny judge, and the default embedder linked in from the real one."""
    present = find_installed(EMBEDDER)
    if present is None:
        pytest.skip(f"{EMBEDDER} is not installed: offline-eval models fetch {EMBEDDER}")
    model = tiny_models(project / "tiny")["llama"]
    home = project / "home"
    for folder, name in ((model, "tiny-llama"), (present.folder, EMBEDDER)):
        kind = ("--kind", "judge") if name == "tiny-llama" else ()
        done = offline_eval("models", "import", folder, "--name", name, "--link", *kind, cwd=project, home=home)
        assert done.returncode == 0, done.stderr
    return home


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


@pytest.fixture(scope="module")
def evaluated(project: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Index with vectors, search, then judge with panel, claims and similarities; in a worker and in the program.

    All of it without network and traced, as far as this machine can do either.
    """
    folder = tmp_path_factory.mktemp("evaluated")
    without = NO_NETWORK if why_no_namespace() is None else ()
    commands = [
        ("retrieve", "index", project / "passages.jsonl", "--out", "index", "--embedder", EMBEDDER),
        ("retrieve", "eval", "--index", "index", "--retriever", "hybrid", "--cases", project / "cases.jsonl"),
        (
            *("run", project / "cases.jsonl", "--responses", project / "answers.jsonl", "--engine", "transformers"),
            *("--judge", "tiny-llama", "--metrics", "panel,claims,context", "--reasons", "none", "--max-failed", "1"),
        ),
    ]
    for number, command in enumerate(commands):
        trace = traced(folder / f"trace-{number}") if why_no_trace(folder) is None else ()
        done = offline_eval(*command, cwd=folder, home=home, prefix=(*without, *trace))
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_everything_runs_in_a_namespace_without_network(evaluated: Path, home: Path) -> None:
    if reason := why_no_namespace():
        pytest.skip(reason)
    shown = json.loads(offline_eval("runs", "show", "latest", cwd=evaluated, home=home).stdout)
    released = [event for event in shown["events"] if event["event"] == "release"]
    assert len(released) >= 3  # the judge in its worker, the support scorer and the embedder in the program itself
    assert [event["refused_connections"] for event in released] == [0] * len(released)
    report = offline_eval("report", "latest", cwd=evaluated, home=home).stdout
    assert "0 outbound attempts refused" in report


@pytest.mark.slow
def test_no_system_call_of_the_whole_job_names_an_address_beyond_this_machine(evaluated: Path) -> None:
    if reason := why_no_trace(evaluated):
        pytest.skip(reason)
    logs = sorted(evaluated.glob("trace-*"))
    assert len(logs) == 3
    assert [line for log in logs for line in outbound_calls(log)] == []


def test_the_trace_sees_a_call_that_leaves(tmp_path: Path) -> None:
    import subprocess
    import sys

    if reason := why_no_trace(tmp_path):
        pytest.skip(reason)
    # 192.0.2.0/24 and 2001:db8::/32 are reserved for documentation; a UDP connect sends nothing.
    code = (
        "import socket, contextlib\n"
        "socket.socket().bind(('127.0.0.1', 0)); socket.socket().bind(('', 0))\n"
        "for host in ('192.0.2.1', '2001:db8::1', '127.0.0.1'):\n"
        "    family = socket.AF_INET6 if ':' in host else socket.AF_INET\n"
        "    with contextlib.suppress(OSError): socket.socket(family, socket.SOCK_DGRAM).connect((host, 9))\n"
    )
    log = tmp_path / "trace"
    subprocess.run([*traced(log), sys.executable, "-c", code], check=True)
    assert len(network_calls(log)) >= 4
    found = outbound_calls(log)
    assert sum("192.0.2.1" in line for line in found) == 1
    assert sum("2001:db8::1" in line for line in found) <= 1  # a kernel without IPv6 has no such socket
    assert not any("127.0.0.1" in line or "0.0.0.0" in line for line in found)


def test_a_port_that_everybody_can_reach_counts_as_leaving(tmp_path: Path) -> None:
    line = '7 {}(3, {{sa_family=AF_INET, sin_port=htons({}), sin_addr=inet_addr("{}")}}, 16) = 0'
    stays = [line.format("bind", 0, "0.0.0.0"), line.format("connect", 80, "127.0.0.1")]
    leaves = [
        line.format("bind", 8000, "0.0.0.0"),
        line.format("connect", 80, "10.0.0.1"),
        "7 connect(3, {sa_family=AF_INET",
    ]
    (tmp_path / "trace").write_text("\n".join([*stays, *leaves, "7 connect(3, {sa_family=AF_UNIX}, 16) = 0"]))
    assert outbound_calls(tmp_path / "trace") == leaves
