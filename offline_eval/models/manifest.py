"""The manifest beside a model: its config and every file's SHA-256, so that changes are seen and copies checked."""

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from offline_eval.core.errors import ModelError
from offline_eval.core.records import Record
from offline_eval.models.config import ModelConfig
from offline_eval.models.hashes import MANIFEST_NAME, Hashes


class Manifest(Record):
    """What stands in `model.json`.

    Attributes:
        config: The config at the time of installing, with source and licence.
        files: Path inside the folder to SHA-256, for every file but hidden ones and the manifest.
    """

    format: Literal[1] = 1
    config: ModelConfig
    files: Hashes


def read_manifest(folder: Path) -> Manifest | None:
    """Read a folder's manifest; None when it has none.

    Raises:
        ModelError: There is one, but it cannot be read.
    """
    path = folder / MANIFEST_NAME
    if not path.is_file():
        return None
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except (ValidationError, OSError) as error:
        raise ModelError(f"{path} is damaged; remove the folder {folder} and install the model again") from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a folder's manifest as readable JSON."""
    (folder / MANIFEST_NAME).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")


def differences(expected: Hashes, actual: Hashes) -> list[str]:
    """What differs between two sets of files, one line each."""
    missing = [f"{path} is missing" for path in expected.keys() - actual.keys()]
    added = [f"{path} was added" for path in actual.keys() - expected.keys()]
    altered = [f"{path} was altered" for path in expected.keys() & actual.keys() if expected[path] != actual[path]]
    return sorted(missing) + sorted(altered) + sorted(added)
