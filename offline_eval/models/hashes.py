"""SHA-256 of every file of a model folder, remembered by size and time: hashing gigabytes at each run would be slow."""

import json
import os
from pathlib import Path

from offline_eval.core.hashing import digest, file_digest
from offline_eval.models.home import models_home

MANIFEST_NAME = "model.json"

Hashes = dict[str, str]
"""Path relative to the model's folder, with forward slashes, to the file's SHA-256."""

_Remembered = dict[str, tuple[int, int, str]]  # relative path: size in bytes, mtime in ns, sha256


def model_files(folder: Path) -> list[str]:
    """The files that make up a model, relative to its folder, sorted; hidden ones and our manifest are left out."""
    found: list[str] = []
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        here = Path(root).relative_to(folder)
        found.extend((here / name).as_posix() for name in names if not name.startswith("."))
    return sorted(path for path in found if path != MANIFEST_NAME)


def hash_files(folder: Path, *, trust_memory: bool = True) -> Hashes:
    """Hash a model's files.

    Args:
        folder: A model's folder.
        trust_memory: Take a file's remembered hash when its size and modification time are unchanged.
    """
    memory = _recall(folder) if trust_memory else {}
    hashes: Hashes = {}
    for path in model_files(folder):
        size, mtime = _stamp(folder / path)
        known = memory.get(path)
        hashes[path] = known[2] if known and known[:2] == (size, mtime) else file_digest(folder / path)
    if {path: entry[2] for path, entry in memory.items()} != hashes:
        remember(folder, hashes)
    return hashes


def remember(folder: Path, hashes: Hashes) -> None:
    """Note hashes that were just computed; a home that cannot be written only costs time at the next run."""
    stamped = {path: (*_stamp(folder / path), sha) for path, sha in hashes.items()}
    memory_file = _memory_file(folder)
    part = memory_file.with_suffix(f".{os.getpid()}")
    try:
        memory_file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(stamped), encoding="utf-8")
        part.replace(memory_file)
    except OSError:
        return


def folder_digest(hashes: Hashes) -> str:
    """One hash over a folder's files and their names."""
    return digest("ModelFolder", hashes)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _memory_file(folder: Path) -> Path:
    # Beside the models, not inside the folder: a folder used in place may be read-only or someone else's.
    return models_home() / ".hashes" / f"{digest('ModelFolderPath', str(folder.resolve()))}.json"


def _recall(folder: Path) -> _Remembered:
    try:
        data = json.loads(_memory_file(folder).read_text(encoding="utf-8"))
        return {path: (int(size), int(mtime), str(sha)) for path, (size, mtime, sha) in data.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
