"""Refuses model folders that could run code when loaded; checked when a model is taken in and each time it is used."""

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from offline_eval.core.errors import ModelError

TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "spm.model", "spiece.model", "sentencepiece.bpe.model")
VOCABULARY_FILES = ("vocab.txt", "vocab.json")

_PICKLED = frozenset(
    {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".dill", ".npy", ".npz", ".h5", ".keras", ".msgpack"}
)
_CODE = frozenset({".py", ".pyc", ".pyd", ".so", ".dll", ".dylib", ".sh"})
_REMOTE_CODE_KEYS = frozenset({"auto_map", "custom_pipelines", "trust_remote_code"})
_MAX_HEADER_BYTES = 100_000_000
_LFS_START = b"version https://git-lfs"


def check_folder_is_safe(folder: Path) -> None:
    """Refuse a folder that is not a complete, code-free safetensors model.

    Args:
        folder: A model in the usual layout: `config.json`, `*.safetensors`, a tokenizer.

    Raises:
        ModelError: Everything that is wrong with it, one line each, with what to do.
    """
    problems = safety_problems(folder)
    if problems:
        raise ModelError("\n".join([f"{folder} is refused:", *(f"  - {problem}" for problem in problems)]))


def safety_problems(folder: Path) -> list[str]:
    """What is wrong with a model folder, one sentence each; empty when it is safe to load."""
    if not folder.is_dir():
        return ["there is no such folder; give the folder that holds config.json"]
    files = [path for path in sorted(folder.rglob("*")) if not _hidden(path.relative_to(folder))]
    return [
        *_link_problems(folder, files),
        *_suffix_problems(folder, files),
        *_config_problems(folder, files),
        *_weight_problems(folder, files),
        *_tokenizer_problems(folder),
    ]


def read_safetensors_header(path: Path) -> dict[str, Any]:
    """Read a safetensors file's header and check it against the file's size; no tensor is read.

    Returns:
        Tensor name to its dtype, shape and data_offsets, with `__metadata__` where there is one.

    Raises:
        ValueError: The header does not parse or does not fit the file.
    """
    size = path.stat().st_size
    with path.open("rb") as stream:
        start = stream.read(8)
        if start == _LFS_START[:8]:
            raise ValueError("is a Git LFS pointer, not the weights; fetch the real file with `git lfs pull`")
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > min(_MAX_HEADER_BYTES, size - 8):
            raise ValueError("is cut short or is no safetensors file; copy it again")
        raw = stream.read(length)
    try:
        header: dict[str, Any] = json.loads(raw)
        ends = [int(entry["data_offsets"][1]) for name, entry in header.items() if name != "__metadata__"]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise ValueError("has a header that does not parse; copy the file again") from error
    if not ends:
        raise ValueError("holds no tensors; copy the file again")
    if max(ends) != size - 8 - length:
        raise ValueError(f"should have {8 + length + max(ends):,} bytes but has {size:,}; copy the file again")
    return header


def _hidden(relative: Path) -> bool:
    return any(part.startswith(".") for part in relative.parts)


def _link_problems(folder: Path, files: list[Path]) -> Iterator[str]:
    root = folder.resolve()
    for path in files:
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            yield f"{path.relative_to(folder)} is a link that leaves the folder; copy the folder with `cp -rL` first"
        elif path.is_symlink() and not path.exists():
            yield f"{path.relative_to(folder)} is a link to nothing; copy the folder again with `cp -rL`"


def _suffix_problems(folder: Path, files: list[Path]) -> Iterator[str]:
    for path in files:
        name, suffix = path.relative_to(folder), path.suffix.lower()
        if suffix in _PICKLED:
            yield (
                f"{name} may run code when loaded; convert the weights to safetensors on a machine you trust, "
                f"or delete the file if the folder also has safetensors weights"
            )
        elif suffix in _CODE:
            yield f"{name} is code; models are loaded without code of their own: delete it or use another model"


def _config_problems(folder: Path, files: list[Path]) -> Iterator[str]:
    if not (folder / "config.json").is_file():
        yield "config.json is missing; give the folder that holds it"
    for path in files:
        if path.suffix != ".json" or ("config" not in path.name and path.name != "modules.json"):
            continue
        name = path.relative_to(folder)
        try:
            data = json.loads(path.read_bytes())
        except (ValueError, OSError, RecursionError):
            yield f"{name} is not valid JSON; copy it again"
            continue
        if path == folder / "config.json" and not isinstance(data, dict):
            yield f"{name} is not a JSON object; copy it again"
        for key in sorted(_REMOTE_CODE_KEYS & set(_keys_that_are_on(data))):
            yield f"{name} asks for remote code ({key}); use a model that the installed libraries know themselves"
        if path.name == "modules.json":
            yield from _module_problems(name, data)


def _module_problems(name: Path, data: Any) -> Iterator[str]:
    entries = data if isinstance(data, list) else []
    for entry in entries:
        kind = str(entry.get("type", "")) if isinstance(entry, dict) else ""
        path = str(entry.get("path", "")) if isinstance(entry, dict) else ""
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            yield f"{name} loads {path!r}, which leads outside the folder; use another model"
        if not kind.startswith("sentence_transformers."):
            yield f"{name} loads {kind or 'an unnamed module'}, which is code from elsewhere; use another model"


def _keys_that_are_on(data: Any) -> Iterator[str]:
    pending = [data]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield from (key for key, inner in value.items() if inner)
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)


def _weight_problems(folder: Path, files: list[Path]) -> Iterator[str]:
    weights = [path for path in files if path.suffix == ".safetensors" and path.parent == folder]
    if not weights:
        yield "there are no safetensors weights; convert the model to safetensors on a machine you trust"
    for path in files:
        if path.suffix != ".safetensors" or not path.is_file():
            continue
        try:
            read_safetensors_header(path)
        except ValueError as error:
            yield f"{path.relative_to(folder)} {error}"
    yield from _index_problems(folder)


def _index_problems(folder: Path) -> Iterator[str]:
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return
    try:
        shards = {str(shard) for shard in json.loads(index.read_bytes())["weight_map"].values()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield f"{index.name} does not parse; copy it again"
        return
    present = {path.name for path in folder.iterdir()}
    for shard in sorted(shards):
        if shard not in present:  # a path that leads elsewhere is never present
            yield f"{shard} is named by {index.name} but missing; copy the whole folder"


def _tokenizer_problems(folder: Path) -> Iterator[str]:
    if any((folder / name).is_file() for name in (*TOKENIZER_FILES, *VOCABULARY_FILES)):
        return
    if (folder / "tekken.json").is_file():
        yield "tekken.json alone is not read; add the same model's tokenizer.json"
        return
    yield "the tokenizer is missing; copy tokenizer.json (or tokenizer.model) beside the weights"
