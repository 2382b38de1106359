"""Builds a model folder out of sight and renames it into place, so that a half-installed model never has a name."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offline_eval.core.errors import ModelError
from offline_eval.models.config import ModelConfig
from offline_eval.models.hashes import hash_files, remember
from offline_eval.models.home import models_home
from offline_eval.models.installed import InstalledModel, describe_folder
from offline_eval.models.manifest import Manifest, write_manifest
from offline_eval.models.safety import check_folder_is_safe


@contextmanager
def staging_folder() -> Iterator[Path]:
    """A temporary folder on the models' own disk, removed afterwards.

    Raises:
        ModelError: The disk is full or may not be written.
    """
    home = models_home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home, prefix=".staging-") as folder:
            yield Path(folder)
    except OSError as error:
        raise ModelError(
            f"cannot write the model under {home} ({error}); free space there or set OFFLINE_EVAL_HOME"
        ) from error


def put_in_place(staged: Path, config: ModelConfig) -> InstalledModel:
    """Check a finished folder, write its manifest and give it its name; an older one of that name is replaced.

    Args:
        staged: A model folder inside a `staging_folder`.
        config: What the manifest says about it; its name becomes the folder's.

    Raises:
        ModelError: The folder is not safe to load.
    """
    check_folder_is_safe(staged)
    files = hash_files(staged, trust_memory=False)
    write_manifest(staged, Manifest(config=config, files=files))
    target = models_home() / config.name
    if target.exists():
        # Two renames rather than a deletion: the old model keeps its name until the new one is ready.
        target.rename(staged.parent / f"{staged.name}.replaced")
    staged.rename(target)
    remember(target, files)
    return describe_folder(target, config)


def copy_file(source: Path, target: Path, *, hard_link: bool = False) -> None:
    """Copy a file's bytes, following links; with `hard_link`, share them where the disk allows it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if hard_link:
        try:
            target.hardlink_to(source.resolve())
        except OSError:  # another disk, or a file system without hard links
            shutil.copyfile(source, target)
        return
    shutil.copyfile(source, target)
