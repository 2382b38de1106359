"""The whole demo, encoders, retrieval and the default judge included: traced, and in a namespace without network.

    python scripts/prove_airgap.py WORK [--cases N] [--only traced|closed|both]

Run as root on Linux with strace and iproute2. Prints what ran, how many network calls there were and how many of them
named an address beyond this machine; exit code 1 when one did, or when a run or its refused attempts were not clean.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from importlib.resources import as_file, files
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support.network_trace import NO_NETWORK, network_calls, outbound_calls, traced

EMBEDDER = "all-minilm-l6-v2"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--cases", type=int, default=80, help="of the demo's 80")
    parser.add_argument("--only", choices=["traced", "closed", "both"], help="[default: one, then the other]")
    options = parser.parse_args()
    project = prepare(options.work / "project", options.cases)
    ways = [options.only] if options.only else ["traced", "closed"]
    proved = [prove(way, project, options.work / way) for way in ways]
    return 0 if all(proved) else 1


def prepare(folder: Path, cases: int) -> Path:
    """The demo's files, and its English passages apart, since the default embedder is for English."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with as_file(files("offline_eval.demo")) as demo:
        for name in ("cases", "answers-careful", "answers-hasty"):
            lines = (demo / f"{name}.jsonl").read_text("utf-8").splitlines(keepends=True)
            step = max(1, len(lines) // cases)
            (folder / f"{name}.jsonl").write_text("".join(lines[::step][:cases]), "utf-8")
        passages = (demo / "passages.jsonl").read_text("utf-8").splitlines(keepends=True)
        (folder / "all.jsonl").write_text("".join(passages), "utf-8")
        english = [line for line in passages if json.loads(line)["text"].isascii()]
        (folder / "english.jsonl").write_text("".join(english), "utf-8")
    return folder


def prove(way: str, project: Path, work: Path) -> bool:
    """Run every step one way and say what was seen."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    calls = outbound = 0
    for number, command in enumerate(steps(project.resolve())):
        log = work.resolve() / f"trace-{number}"
        prefix = (*(() if way == "traced" else NO_NETWORK), *(() if way == "closed" else traced(log)))
        started = time.monotonic()
        program = [sys.executable, "-m", "offline_eval", *command]
        done = subprocess.run(
            [*prefix, *program], cwd=work, stdout=subprocess.PIPE, text=True, check=False, env=os.environ
        )
        print(
            f"{way}: {command[0]} {command[1]}: exit {done.returncode}, {time.monotonic() - started:.0f} s", flush=True
        )
        if done.returncode:
            return False
        if way != "closed":
            calls, outbound = calls + len(network_calls(log)), outbound + len(outbound_calls(log))
            print("\n".join(outbound_calls(log)[:20]))
    shown = subprocess.run(
        [sys.executable, "-m", "offline_eval", "runs", "show", "latest"], cwd=work, capture_output=True, check=True
    )
    released = [event for event in json.loads(shown.stdout)["events"] if event["event"] == "release"]
    refused = sum(event["refused_connections"] for event in released)
    print(f"{way}: {len(released)} models used, {refused} outbound attempts refused by the guard")
    if way != "closed":
        print(f"{way}: {calls} network calls with an internet address, {outbound} of them beyond this machine")
    return refused == 0 and outbound == 0


def steps(project: Path) -> list[list[str]]:
    """Index, search, and judge."""
    answers = [part for name in ("careful", "hasty") for part in ("--responses", f"{project}/answers-{name}.jsonl")]
    cases = f"{project}/cases.jsonl"
    return [
        ["retrieve", "index", f"{project}/english.jsonl", "--out", "dense", "--embedder", EMBEDDER, "--hnsw"],
        ["retrieve", "search", "--index", "dense", "--retriever", "hybrid", "days of annual leave"],
        ["retrieve", "index", f"{project}/all.jsonl", "--out", "index"],
        ["retrieve", "eval", "--index", "index", "--retriever", "bm25", "--cases", cases],
        [
            "run",
            cases,
            *answers,
            "--metrics",
            "panel,claims,context",
            "--dtype",
            "auto",
            "--reasons",
            "none",
            "--max-failed",
            "1",
        ],
    ]


if __name__ == "__main__":
    sys.exit(main())
