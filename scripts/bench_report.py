"""How long the HTML report of a large run takes, how much memory it needs and how large it gets; prints the figures.

The run is made once, with scripted judges, from copies of the demo's cases whose texts all differ, so that nothing is
saved by texts being the same.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

_COMMAND = [sys.executable, "-m", "offline_eval"]
_WANTED = "at most 10 s, 500 MB and 15 MB wanted"


def main() -> None:
    """Make the run unless it is there, then write its report in fresh processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--metrics", default="panel,claims,refusal")
    parser.add_argument("--folder", type=Path, help="where the run is kept for the next time; default: nowhere")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        runs = folder / f"runs-{arguments.cases}"
        if not runs.is_dir():
            _make_run(folder, runs, arguments.cases, arguments.metrics)
        for number in range(arguments.rounds):
            out = folder / "report.html"
            seconds, busy, peak = _measured(
                "report", "latest", "--runs", str(runs), "--format", "html", "--out", str(out)
            )
            size = out.stat().st_size / 1e6
            figures = f"{seconds:.1f} s ({busy:.1f} s of processor time), at most {peak:.0f} MB, file {size:.1f} MB"
            print(f"round {number + 1}: {figures} ({_WANTED})")


def _make_run(folder: Path, runs: Path, cases: int, metrics: str) -> None:
    demo = folder / "demo"
    if not demo.is_dir():
        subprocess.run([*_COMMAND, "demo", str(demo)], check=True, stdout=subprocess.DEVNULL)
    asked, answered = _rows(demo / "cases.jsonl"), {row["case_id"]: row for row in _rows(demo / "answers-hasty.jsonl")}
    copies = [(number, row) for number, row in enumerate(islice(cycle(asked), cases))]
    _write(folder / "cases.jsonl", [{**row, "id": f"{row['id']}-{number}"} for number, row in copies])
    _write(folder / "answers.jsonl", [_answer(answered[row["id"]], number) for number, row in copies])
    sources = [str(folder / "cases.jsonl"), "--responses", str(folder / "answers.jsonl")]
    options = ["--engine", "scripted", "--metrics", metrics, "--out", str(runs), "--format", "json"]
    subprocess.run([*_COMMAND, "run", *sources, *options], check=True, stdout=subprocess.DEVNULL)


def _answer(row: dict[str, Any], number: int) -> dict[str, Any]:
    """The row for another case, with texts of its own."""
    passages = [{**passage, "text": f"{passage['text']} ({number})"} for passage in row.get("passages", [])]
    answer = f"{row['answer']} ({number})" if row.get("answer") else ""
    return {**row, "case_id": f"{row['case_id']}-{number}", "answer": answer, "passages": passages}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _measured(*arguments: str) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and the most memory in MB that one command took, its start included."""
    start = time.perf_counter()
    process = subprocess.Popen([*_COMMAND, *arguments], stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"the report ended with status {os.waitstatus_to_exitcode(status)}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    main()
