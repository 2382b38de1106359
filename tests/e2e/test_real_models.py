"""The main job with real engines: three model families in one run, no network at all, and SIGKILL in the middle."""

import json
import re
import shutil
import signal
import subprocess
import time
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from offline_eval.models.installed import find_installed
from tests.support.cli import command, environment, offline_eval
from tests.support.tiny_models import tiny_models

pytestmark = pytest.mark.slow

DEFAULT_JUDGE = "smollm2-135m-instruct"
NO_NETWORK = ("unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with six demo cases of each language, one system's answers, and the tiny models installed in home/."""
    folder = tmp_path_factory.mktemp("project")
    with as_file(files("offline_eval.demo")) as demo:
        cases = [json.loads(line) for line in (demo / "cases.jsonl").read_text("utf-8").splitlines()]
        answers = [json.loads(line) for line in (demo / "answers-careful.jsonl").read_text("utf-8").splitlines()]
    chosen = [case for lang in ("en", "zh") for case in [c for c in cases if c["language"] == lang][:6]]
    ids = {case["id"] for case in chosen}
    write(folder / "cases.jsonl", chosen)
    write(folder / "answers.jsonl", [answer for answer in answers if answer["case_id"] in ids])
    for family, model in tiny_models(folder / "tiny").items():
        done = offline_eval(
            "models", "import", model, "--name", f"tiny-{family}", "--kind", "judge", cwd=folder, home=folder / "home"
        )
        assert done.returncode == 0, done.stderr
    return folder


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def run_options(project: Path, *more: str) -> tuple[str, ...]:
    return (
        "run",
        str(project / "cases.jsonl"),
        "--responses",
        str(project / "answers.jsonl"),
        "--format",
        "json",
        *more,
    )


def test_three_families_judge_one_run_with_one_model_in_memory_at_a_time(project: Path, tmp_path: Path) -> None:
    judges = ("faithfulness=tiny-llama", "relevance=tiny-qwen", "completeness=tiny-gemma")
    options = run_options(
        project, "--engine", "transformers", *(part for judge in judges for part in ("--judge", judge))
    )
    done = offline_eval(*options, cwd=tmp_path, home=project / "home")
    assert done.returncode == 0, done.stderr
    steps = re.findall(r"^(loaded|released) (tiny-\w+)", done.stderr, re.MULTILINE)
    assert steps == [
        (step, f"tiny-{family}") for family in ("llama", "qwen", "gemma") for step in ("loaded", "released")
    ]
    assert len(re.findall(r"peak memory [\d.]+ GiB", done.stderr)) == 3
    summary = json.loads(done.stdout)
    assert summary["n_failed"] == 0
    assert {count["judge"] for count in summary["judge_counts"]} == {"tiny-llama", "tiny-qwen", "tiny-gemma"}
    assert all(count["reasons_failed"] == 0 and count["reasons"] > 0 for count in summary["judge_counts"])


def test_a_run_killed_at_five_points_ends_with_the_same_results_and_judges_nothing_twice(
    project: Path, tmp_path: Path
) -> None:
    engine = ("--engine", "transformers", "--judge", "tiny-llama", "--batch-size", "2")
    options = run_options(project, *engine, "--no-cache")  # else the whole run's answers would be taken
    whole = tmp_path / "whole"
    whole.mkdir()
    assert offline_eval(*options, cwd=whole, home=project / "home").returncode == 0
    wanted = offline_eval("runs", "export", "latest", cwd=whole).stdout
    killed = tmp_path / "killed"
    killed.mkdir()
    for kill in range(5):
        kill_after_next_commit(options, killed, project / "home", delay=0.01 * kill)
    done = offline_eval(*options, cwd=killed, home=project / "home")
    assert done.returncode == 0, done.stderr
    assert offline_eval("runs", "export", "latest", cwd=killed).stdout == wanted
    shown = json.loads(offline_eval("runs", "show", "latest", cwd=killed).stdout)
    loads = sum(event["event"] == "load" for event in shown["events"])
    assert loads >= 3  # it really was interrupted while judging
    evidence = json.loads(wanted)["evidence"]
    keys = [(p["kind"], p["response_key"], p.get("dimension"), p.get("judge")) for p in evidence]
    assert len(keys) == len(set(keys))


def kill_after_next_commit(options: tuple[str, ...], folder: Path, home: Path, *, delay: float) -> None:
    """Start the run, wait until a model is loaded and the file has grown, and kill it with everything it started."""
    process = subprocess.Popen(
        command(*options), cwd=folder, env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    with process.stderr:
        while (line := process.stderr.readline()) and not line.startswith(b"loaded "):
            pass
        size, deadline = total_size(folder), time.monotonic() + 120
        while total_size(folder) <= size and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(delay)  # into the next batch, each life a little further
        process.send_signal(signal.SIGKILL)
        process.wait()


def total_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("runs/*.sqlite"))


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
def test_the_default_judge_runs_without_any_network_from_an_empty_folder(
    project: Path, tmp_path: Path, engine: str
) -> None:
    if find_installed(DEFAULT_JUDGE) is None:
        pytest.skip(f"{DEFAULT_JUDGE} is not installed: offline-eval models fetch {DEFAULT_JUDGE}")
    if not shutil.which("ip") or subprocess.run([*NO_NETWORK, "true"], check=False, capture_output=True).returncode:
        pytest.skip("network namespaces need root and the ip command (package iproute2)")
    every = {"vllm": 6, "transformers": 12}[engine]  # an English and a Chinese case; the slower engine gets the first
    cases = [json.loads(line) for line in (project / "cases.jsonl").read_text("utf-8").splitlines()][::every]
    write(tmp_path / "cases.jsonl", cases)
    shutil.copy(project / "answers.jsonl", tmp_path / "all.jsonl")
    answers = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text("utf-8").splitlines()]
    write(tmp_path / "answers.jsonl", [a for a in answers if a["case_id"] in {case["id"] for case in cases}])
    empty = tmp_path / "empty"
    empty.mkdir()
    options = ("run", "../cases.jsonl", "--responses", "../answers.jsonl", "--engine", engine, "--format", "json")
    done = offline_eval(*options, cwd=empty, prefix=NO_NETWORK, timeout=1200)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["n_failed"] == 0
    assert summary["judge_counts"][0]["judge"] == DEFAULT_JUDGE
    assert summary["judge_counts"][0]["guarantee"] == "grammar"
    assert summary["judge_counts"][0]["reasons_failed"] == 0
    events = json.loads(offline_eval("runs", "show", "latest", cwd=empty).stdout)["events"]
    assert [event["refused_connections"] for event in events if event["event"] == "release"] == [0]
