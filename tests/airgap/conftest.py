"""Tests of switches look at this process as if it had just begun."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _as_in_a_fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether another test has imported the hub library must not matter here."""
    monkeypatch.delitem(sys.modules, "huggingface_hub.constants", raising=False)
