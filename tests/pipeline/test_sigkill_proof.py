"""The proof of `scripts/prove_sigkill.py`, made shorter: a run that is killed again and again ends as if left alone."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.tiny_models import make_tiny_model

ROOT = Path(__file__).parents[2]


def proof(folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, "scripts/prove_sigkill.py", "--folder", str(folder), *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OFFLINE_EVAL_RUN")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "options"), [(6, ()), (3, ("--cache",))], ids=["computed", "cached"])
def test_a_run_of_a_script_that_is_killed_many_times_ends_in_the_same_bytes(
    kills: int, options: tuple[str, ...], tmp_path: Path
) -> None:
    figures = proof(tmp_path, "--kills", str(kills), "--cases", "60", "--seed", "1", *options)
    assert (figures["kills"], figures["faults"]) == (kills, [])
    assert len(set(figures["document_sha256"])) == 1
    assert figures["batches"] == 60 + 15 + 1  # a response each, refusals by four, and the mark of the end
    assert figures["lives_that_committed_something"] >= 1


@pytest.mark.slow
def test_a_run_of_a_model_with_random_weights_that_is_killed_ends_in_the_same_bytes(tmp_path: Path) -> None:
    model = make_tiny_model("llama", tmp_path / "tiny")
    options = ("--engine", "transformers", "--judge", str(model), "--kills", "2", "--cases", "30", "--reasons", "none")
    figures = proof(tmp_path / "proof", *options)
    assert (figures["kills"], figures["faults"]) == (2, [])
    assert len(set(figures["document_sha256"])) == 1
