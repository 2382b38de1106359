"""`doctor` says what is there, what is missing, and whether the gap may close."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from offline_eval.airgap.switches import OFFLINE_SWITCHES
from offline_eval.cli.doctor import size_text
from offline_eval.core.hashing import file_digest
from offline_eval.engines.readiness import look_offline
from tests.support.cli import offline_eval
from tests.support.tiny_models import tiny_models


@pytest.mark.parametrize(
    ("size", "text"),
    # 25276502016 / 2^30 = 23.54; 1023 stays in bytes
    [(25_276_502_016, "23.5 GiB"), (1023, "1.02e+03 B"), (1024, "1 KiB"), (None, "unknown"), (3 << 40, "3 TiB")],
)
def test_sizes_are_for_people(size: int | None, text: str) -> None:
    assert size_text(size) == text


def test_an_empty_machine_is_told_what_to_bring(tmp_path: Path) -> None:
    done = offline_eval("doctor", "--offline", cwd=tmp_path, home=tmp_path / "home")
    assert done.returncode == 3
    assert "missing: a judge" in done.stdout
    assert "offline-eval models fetch smollm2-135m-instruct" in done.stdout
    assert "all-minilm-l6-v2" in done.stdout
    assert "socket guard: armed" in done.stdout
    assert done.stdout.endswith("not ready: bring what is named above\n")
    for name, value in OFFLINE_SWITCHES.items():
        assert f"switch {name}: {value!r}\n" in done.stdout


def test_every_model_file_is_listed_with_its_hash_and_an_altered_one_is_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    model = tiny_models(tmp_path / "tiny")["llama"]
    options = ("--name", "tiny-llama", "--kind", "judge")
    assert offline_eval("models", "import", model, *options, cwd=tmp_path, home=home).returncode == 0
    done = offline_eval("doctor", "--offline", "--format", "json", cwd=tmp_path, home=home)
    found = json.loads(done.stdout)
    folder = home / "models" / "tiny-llama"
    [state] = found["models"]
    assert state["files"] == {
        path.name: file_digest(path) for path in sorted(folder.iterdir()) if path.name != "model.json"
    }
    assert state["problems"] == []
    assert found["ready"] is (found["engine"] is not None)
    assert done.returncode == (0 if found["ready"] else 3)
    (folder / "config.json").write_text("{}")
    again = offline_eval("doctor", "--offline", cwd=tmp_path, home=home)
    assert again.returncode == 3
    assert "missing: tiny-llama, unaltered" in again.stdout
    assert "config.json was altered" in again.stdout


def test_a_switch_that_is_not_set_or_a_guard_that_is_not_armed_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFLINE_EVAL_HOME", str(tmp_path))
    monkeypatch.setattr("offline_eval.engines.readiness.is_armed", lambda: True)
    found = look_offline("smollm2-135m-instruct", [], environ={**OFFLINE_SWITCHES, "HF_HUB_OFFLINE": "0"})
    assert found.switch_problems[0] == "HF_HUB_OFFLINE is '0', must be '1'"
    assert not found.ready
    closed = found.model_copy(update={"switch_problems": (), "missing": ()})
    assert closed.ready
    assert not closed.model_copy(update={"guard_armed": False}).ready


def test_the_table_shows_no_raw_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from offline_eval.cli.doctor import command

    monkeypatch.setenv("OFFLINE_EVAL_HOME", str(tmp_path))
    lines = CliRunner().invoke(command).output.splitlines()
    sizes = [line for line in lines if line.startswith(("memory", "disk"))]
    assert len(sizes) == 3
    assert all(line.endswith(("iB", "unknown")) for line in sizes)
