"""The cache on the command line: hits are told and change nothing; what is not a cache is refused or done without."""

import json
import subprocess
from pathlib import Path

import pytest

from offline_eval.cli.cache import open_cache, parse_size
from offline_eval.core.errors import StoreError, UsageError
from tests.support.cli import command, environment, offline_eval

CACHE = ("--cache", "answers.sqlite")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"id": f"c{n}", "query": "几点开门？", "answer": f"{n}点开门。", "contexts": ["九点开门。"]} for n in range(3)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return tmp_path


def run(folder: Path, out: str, *options: str) -> subprocess.CompletedProcess[str]:
    words = command("run", "rows.jsonl", "--engine", "scripted", "--format", "json", "--out", out, *options)
    # Homes of their own, since these tests are about the cache that all others do without.
    env = environment(folder / "home")
    del env["OFFLINE_EVAL_RUN_NO_CACHE"]
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


def export(folder: Path, out: str) -> str:
    return offline_eval("runs", "export", "latest", "--runs", out, cwd=folder).stdout


def test_a_second_run_is_answered_from_the_cache_and_reports_the_same(folder: Path) -> None:
    first, second, plain = (
        run(folder, out, *options) for out, options in [("a", ()), ("b", ()), ("c", ("--no-cache",))]
    )
    assert (first.returncode, second.returncode, plain.returncode) == (0, 0, 0), second.stderr
    # 3 answers x 3 dimensions x (label, reason), less what rules decide
    assert "of 18 requests were answered before" in second.stderr
    assert not any("answered before" in done.stderr for done in (first, plain))
    assert export(folder, "a") == export(folder, "b") == export(folder, "c")


def test_the_cache_is_shown_pruned_and_cleared(folder: Path) -> None:
    assert run(folder, "a", *CACHE).returncode == 0
    shown = offline_eval("cache", "info", *CACHE, "--format", "json", cwd=folder)
    [row] = json.loads(shown.stdout)
    assert (row["model"], row["entries"]) == ("smollm2-135m-instruct", 18)
    pruned = offline_eval("cache", "prune", "--limit", str(row["bytes"] // 2), *CACHE, cwd=folder)
    assert pruned.returncode == 0
    assert "entries went" in pruned.stdout
    cleared = offline_eval("cache", "clear", *CACHE, cwd=folder)
    assert cleared.stdout == "answers.sqlite removed\n"
    missing = offline_eval("cache", "info", *CACHE, cwd=folder)
    assert missing.returncode == 3
    assert "there is no cache yet" in missing.stderr


def test_a_damaged_default_cache_is_told_and_done_without(folder: Path) -> None:
    damaged = folder / "home" / "models" / ".answers.sqlite"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"not a database at all, and long enough to be looked at " * 20)
    done = run(folder, "a")
    assert done.returncode == 0
    assert f"{damaged.name}" in done.stderr
    assert "the run goes on without the cache" in done.stderr


def test_a_named_file_that_is_no_cache_is_refused_before_anything_is_judged(folder: Path) -> None:
    done = run(folder, "a", "--cache", "rows.jsonl")
    assert done.returncode == 3
    assert "rows.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_named_cache_and_no_cache_are_a_contradiction(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leave one of them out"):
        open_cache(tmp_path / "c.sqlite", wanted=False, announce=print)
    with pytest.raises(StoreError):
        open_cache(tmp_path, wanted=True, announce=print)


@pytest.mark.parametrize(
    ("text", "n"), [("0", 0), ("1000", 1000), ("500M", 500 << 20), ("1.5G", 3 << 29), ("2 kB", 2048), ("3MiB", 3 << 20)]
)
def test_sizes_are_read(text: str, n: int) -> None:
    assert parse_size(text) == n


@pytest.mark.parametrize("text", ["", "-1", "many", "5T", "1e9"])
def test_what_is_no_size_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="write a size"):
        parse_size(text)
