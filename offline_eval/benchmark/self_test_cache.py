"""Self-tests that were made, kept beside the models: a judge is tested once for each rubric version and weights."""

import os
from pathlib import Path

from pydantic import ValidationError

from offline_eval.benchmark.self_test import SelfTest
from offline_eval.models.home import models_home

_FOLDER = ".self-tests"


def recall(key: str) -> SelfTest | None:
    """The kept result; None when there is none that can be read."""
    try:
        found = SelfTest.model_validate_json(_file(key).read_text("utf-8"))
    except (OSError, ValidationError, ValueError):
        return None
    return found if found.key == key else None


def keep(result: SelfTest) -> None:
    """Keep a result; a home that cannot be written only costs the next run a dozen requests."""
    target = _file(result.key)
    part = target.with_suffix(f".{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(result.model_dump_json(indent=1), "utf-8")
        part.replace(target)
    except OSError:
        return


def _file(key: str) -> Path:
    return models_home() / _FOLDER / f"{key}.json"
