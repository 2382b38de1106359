"""Takes a bundle in on the far side: everything is checked before anything gets its name."""

import platform
import tempfile
from collections.abc import Callable
from pathlib import Path

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.protocols import ProgressCallback
from offline_eval.core.records import Record
from offline_eval.models.bundle_archive import check_archive, read_manifest_bytes
from offline_eval.models.bundle_format import PARTS, BundleManifest
from offline_eval.models.hashes import hash_files
from offline_eval.models.importer import import_folder
from offline_eval.models.installed import find_installed, verify
from offline_eval.models.signature import check_signature, read_key, signature_path
from offline_eval.models.wheels import install_wheels


class Placed(Record):
    """Where a bundle's parts lie now.

    Attributes:
        models: Name to the model's folder.
        folders: Part (`configs`, `test-sets`, `wheels`) to its folder.
        environment: The virtual environment that was made; None when none was wanted.
    """

    models: dict[str, str]
    folders: dict[str, str]
    environment: str | None


def verify_bundle(
    bundle: Path, *, key_file: Path | None = None, progress: ProgressCallback = lambda done, total: None
) -> BundleManifest:
    """Check a bundle's signature, when a key is given, and every file.

    Raises:
        UsageError: The key cannot be used.
        DataError: What is wrong first.
    """
    _check_signature(bundle, key_file)
    return check_archive(bundle, progress=progress)


def install_bundle(
    bundle: Path,
    into: Path,
    *,
    venv: Path | None = None,
    key_file: Path | None = None,
    announce: Callable[[str], None] = lambda line: None,
    progress: ProgressCallback = lambda done, total: None,
) -> Placed:
    """Install a bundle: models into the home, the other parts into a folder; asks no network.

    Args:
        into: A new or empty folder for configs, test sets and wheels.
        venv: A new folder for an environment with the bundle's wheels; none is made without it.
        key_file: Also check the signature beside the bundle.
        announce: Called with a line about what begins.
        progress: Called with bytes unpacked and in all.

    Raises:
        UsageError: A folder that is in use.
        DataError: The bundle is not what its manifest says, or is for another machine.
        ModelError: A model is unsafe, or another one has its name.
    """
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise UsageError(f"{into} is not an empty folder; name a new one with --into")
    if venv is not None and venv.exists():
        raise UsageError(f"{venv} exists; name a new folder for the environment")
    _check_signature(bundle, key_file)
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into.parent, prefix=".unpacking-") as staging:
            manifest = check_archive(bundle, into=Path(staging), progress=progress)
            if venv is not None:
                _check_machine(manifest)
            models = {name: _install_model(Path(staging), name, announce) for name in manifest.models}
            folders = _place(Path(staging), into)
    except OSError as error:
        raise DataError(f"{bundle} cannot be unpacked beside {into}: {error}; name another folder") from error
    if venv is not None:
        install_wheels(into / "wheels", venv, progress=announce)
    return Placed(models=models, folders=folders, environment=str(venv) if venv is not None else None)


def _check_signature(bundle: Path, key_file: Path | None) -> None:
    if key_file is not None:
        check_signature(read_manifest_bytes(bundle), read_key(key_file), signature_path(bundle))


def _check_machine(manifest: BundleManifest) -> None:
    if not manifest.of("wheels"):
        raise UsageError("the bundle holds no wheels; leave --venv out")
    here = (".".join(platform.python_version_tuple()[:2]), f"{platform.system()} {platform.machine()}")
    if here != (manifest.python, manifest.platform):
        raise DataError(
            f"the wheels are for Python {manifest.python} on {manifest.platform}, this is {here[0]} on {here[1]}; "
            "make the bundle on a machine like this one"
        )


def _install_model(staging: Path, name: str, announce: Callable[[str], None]) -> str:
    folder = staging / "models" / name
    present = find_installed(name)
    if present is not None and present.files == hash_files(folder, trust_memory=False) and not verify(name):
        announce(f"{name} is installed already and intact")
        return str(present.folder)
    announce(f"installing {name}")
    return str(import_folder(folder, name=name, copy=False).folder)


def _place(staging: Path, into: Path) -> dict[str, str]:
    folders: dict[str, str] = {}
    into.mkdir(exist_ok=True)
    for part in PARTS:
        if part != "models" and (staging / part).is_dir():
            (staging / part).rename(into / part)
            folders[part] = str(into / part)
    return folders
