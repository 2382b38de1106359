"""A bundle carries the program itself: packed here, installed in an empty environment without network, run there."""

import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.support.cli import environment, offline_eval
from tests.support.network_trace import NO_NETWORK, why_no_namespace

pytestmark = pytest.mark.slow

CORE = ("click", "jinja2", "numpy", "pydantic", "pyyaml", "rich", "scipy")


def closure(names: tuple[str, ...]) -> list[str]:
    """`name==version` of these packages and all they need, as installed here."""
    from packaging.requirements import Requirement

    found: dict[str, str] = {}
    pending = list(names)
    while pending:
        distribution = metadata.distribution(pending.pop())
        name = distribution.metadata["Name"].lower().replace("_", "-")
        if name in found:
            continue
        found[name] = f"{name}=={distribution.version}"
        needed = [Requirement(text) for text in distribution.requires or []]
        pending += [item.name for item in needed if item.marker is None or item.marker.evaluate({"extra": ""})]
    return sorted(found.values())


def test_a_bundle_is_installed_in_an_empty_environment_without_network_and_judges_the_demo(tmp_path: Path) -> None:
    if reason := why_no_namespace():
        pytest.skip(reason)
    near, far = tmp_path / "near", tmp_path / "far"
    near.mkdir()
    far.mkdir()
    (near / "lock.txt").write_text("\n".join(closure(CORE)) + "\n")
    (near / "key").write_bytes(bytes(range(32)))
    assert offline_eval("demo", "demo", cwd=near).returncode == 0
    made = offline_eval(
        *("bundle", "create", "--lock", "lock.txt", "--test-sets", "demo", "--out", "b.tar", "--key", "key"), cwd=near
    )
    if "could not wheel the packages" in made.stderr:
        pytest.skip(f"pip has no registry here: {made.stderr.splitlines()[-1]}")
    assert made.returncode == 0, made.stderr
    for name in ("b.tar", "b.tar.sig", "key"):
        shutil.copy(near / name, far / name)
    # What INSTALL.txt says, with nothing but tar and Python.
    there = {**environment(far / "home"), "PIP_CONFIG_FILE": "/dev/null"}
    there = {name: value for name, value in there.items() if name == "PIP_CONFIG_FILE" or not name.startswith("PIP_")}
    program = far / "venv" / "bin" / "offline-eval"
    run_options = ("--responses", "carried/test-sets/demo/answers-careful.jsonl", "--engine", "scripted")
    steps = [
        ("tar", "xf", "b.tar", "wheels"),
        (sys.executable, "-m", "venv", "venv"),
        (
            *("venv/bin/python", "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--require-hashes"),
            *("--find-links", "wheels", "-r", "wheels/requirements.txt"),
        ),
        (program, "bundle", "verify", "b.tar", "--key", "key"),
        (program, "bundle", "install", "b.tar", "--into", "carried", "--key", "key"),
        (program, "run", "carried/test-sets/demo/cases.jsonl", *run_options),
    ]
    said = ""
    for step in steps:
        command = [*NO_NETWORK, *(str(part) for part in step)]
        done = subprocess.run(command, cwd=far, env=there, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, f"{step}: {done.stderr}"
        said = done.stdout
    assert "total_grade" in said
    assert list(far.glob("venv/lib/*/site-packages/offline_eval/cli/bundle.py"))  # from the wheel, not from here
