"""A thousand malformed inputs of every kind the program reads: none is answered with a traceback, a hang or a shrug."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import environment
from tests.support.malformed_inputs import DOCUMENTED
from tests.support.malformed_kinds import KINDS

ROOT = Path(__file__).resolve().parents[2]
SEED = 20_261
EACH = 50  # of 22 kinds: over a thousand

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What became of all inputs; in a process of its own, since the program arms its guard for good."""
    # Warnings are errors there as in every test; that a command leaves closing its files to its end is no fault.
    python = [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning"]
    done = subprocess.run(
        [*python, "-m", "tests.support.malformed_inputs", str(SEED), str(EACH)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def test_there_are_more_than_a_thousand(found: dict[str, Any]) -> None:
    assert set(found) == set(KINDS)
    assert sum(kind["inputs"] for kind in found.values()) >= 1000


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_one_ends_with_a_message_and_a_documented_exit_code(found: dict[str, Any], kind: str) -> None:
    assert found[kind]["faults"] == []
    assert {int(code) for code in found[kind]["codes"]} <= DOCUMENTED


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_inputs_really_are_malformed(found: dict[str, Any], kind: str) -> None:
    refused = sum(number for code, number in found[kind]["codes"].items() if code in ("2", "3"))
    assert refused >= EACH // 5  # the rest is damage that leaves the input good, such as a changed letter
