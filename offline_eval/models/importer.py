"""Takes in a model folder that was carried here by hand, which is how real judges arrive behind an air gap."""

import re
from pathlib import Path

from offline_eval.core.errors import ModelError, UsageError
from offline_eval.models.config import NAME_PATTERN, FolderSource, ModelConfig, ModelKind, config_names, load_config
from offline_eval.models.derived import derive_config, read_labels
from offline_eval.models.hashes import hash_files, model_files
from offline_eval.models.home import models_home
from offline_eval.models.installed import InstalledModel
from offline_eval.models.manifest import differences, read_manifest
from offline_eval.models.safety import check_folder_is_safe
from offline_eval.models.staging import copy_file, put_in_place, staging_folder


def import_folder(folder: Path, *, name: str, copy: bool = True, kind: ModelKind | None = None) -> InstalledModel:
    """Install a model from a folder.

    A folder that another machine's installation made brings its manifest along and is checked against it.

    Args:
        folder: A model in the usual layout: `config.json`, `*.safetensors`, a tokenizer.
        name: Name to install it under; a config of that name is used, else one is derived from the folder.
        copy: Copy the files; False makes hard links where the disk allows it.
        kind: What the model is for, where its files do not tell.

    Raises:
        UsageError: The name cannot be used, or the kind contradicts the config of that name.
        ModelError: The folder is unsafe, incomplete or altered, or the name is taken by an installed model.
    """
    if not re.match(NAME_PATTERN, name):
        raise UsageError(f"{name!r} cannot be a model's name; use letters, digits, '.', '_' and '-'")
    check_folder_is_safe(folder)
    config = _config_for(folder, name, kind)
    target = models_home() / name
    if target.exists():
        raise ModelError(f"{name} is already installed in {target}; remove that folder first or choose another name")
    with staging_folder() as staging:
        staged = staging / "model"
        for path in model_files(folder):
            copy_file(folder / path, staged / path, hard_link=not copy)
        return put_in_place(staged, config)


def _config_for(folder: Path, name: str, kind: ModelKind | None) -> ModelConfig:
    manifest = read_manifest(folder)
    if manifest:
        changed = differences(manifest.files, hash_files(folder, trust_memory=False))
        if changed:
            raise ModelError(f"{folder} is not what its manifest says: {'; '.join(changed)}; copy it again")
    if name not in config_names():
        return (
            manifest.config.model_copy(update={"name": name})
            if manifest
            else derive_config(folder, name=name, kind=kind)
        )
    config = load_config(name)
    if kind not in (None, config.kind):
        raise UsageError(
            f"{name} is configured as {config.kind}, not {kind}; leave the kind out or choose another name"
        )
    _check_labels(folder, config)
    if manifest and manifest.config.name == name:
        return manifest.config
    if isinstance(config.source, FolderSource):
        return config
    return config.model_copy(update={"source": FolderSource(upstream="unknown", note="imported by hand")})


def _check_labels(folder: Path, config: ModelConfig) -> None:
    labels = read_labels(folder)
    if config.label_map and labels and set(labels) != set(config.label_map):
        raise ModelError(
            f"{folder} has the labels {sorted(labels)}, but the config {config.name} is for a model with "
            f"{sorted(config.label_map)}; import it under another name, or state its labels in a config of your own"
        )
