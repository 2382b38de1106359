"""A full disk: one clear message, exit 3, nothing lost that was written; with room again the run goes on."""

import json
import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import command, environment, offline_eval

N = 30
RUN = ("run", "rows.jsonl", "--engine", "scripted", "--batch-size", "1", "--format", "json")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    lines = [
        {"id": f"c{n}", "query": f"第{n}天几点开门？", "answer": f"{n}点开门。", "contexts": [f"第{n}天{n}点开门。"]}
        for n in range(N)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return tmp_path


def export(cwd: Path, folder: str) -> str:
    done = offline_eval("runs", "export", "latest", "--runs", folder, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def batches(cwd: Path, folder: str) -> int:
    [run] = json.loads(offline_eval("runs", "list", "--runs", folder, "--format", "json", cwd=cwd).stdout)
    count: int = run["batches"]
    return count


def limited(cwd: Path, limit: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run with files of at most so many bytes, which the system refuses like a full disk."""

    def set_limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    return subprocess.run(
        command(*arguments), cwd=cwd, env=environment(), capture_output=True, text=True, check=False,
        preexec_fn=set_limit,
    )  # fmt: skip


@pytest.mark.slow
def test_a_run_on_a_disk_that_fills_up_keeps_its_batches_and_goes_on_with_room(rows: Path) -> None:
    assert offline_eval(*RUN, "--out", "whole", cwd=rows).returncode == 0
    [whole] = (rows / "whole").glob("*.sqlite")
    full = limited(rows, whole.stat().st_size // 2, *RUN, "--out", "full")
    assert full.returncode == 3
    assert "Traceback" not in full.stderr
    assert "what was committed before is kept, run again to continue" in full.stderr
    assert "the disk is full" in full.stderr
    kept = batches(rows, "full")
    assert 3 <= kept < batches(rows, "whole")
    assert offline_eval("runs", "audit", "latest", "--runs", "full", cwd=rows).returncode == 0
    again = offline_eval(*RUN, "--out", "full", cwd=rows)
    assert again.returncode == 0, again.stderr
    assert "were done before and are kept" in again.stderr
    assert export(rows, "full") == export(rows, "whole")


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="a small disk is mounted as root only")
def test_a_run_on_a_small_disk_of_its_own_ends_with_one_message(rows: Path) -> None:
    words = " ".join(command(*RUN, "--out", "small"))
    script = (
        f"mkdir small && mount -t tmpfs -o size=300k none small && {{ {words}; echo code $? >&2; cp small/* kept/; }}"
    )
    (rows / "kept").mkdir()
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], cwd=rows, env=environment(), capture_output=True, text=True, check=False
    )
    if "mount" in done.stderr and "code" not in done.stderr:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    assert "code 3" in done.stderr
    assert "the disk is full; make room" in done.stderr
    assert "Traceback" not in done.stderr
    again = offline_eval(*RUN, "--out", "kept", cwd=rows)
    assert again.returncode == 0, again.stderr
    assert "were done before and are kept" in again.stderr
    assert offline_eval(*RUN, "--out", "whole", cwd=rows).returncode == 0
    assert export(rows, "kept") == export(rows, "whole")
