"""Carries models, wheels, configs and test sets across an air gap in one file, with the hash of everything inside."""

import os
import platform
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from offline_eval import __version__
from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.hashing import file_digest
from offline_eval.core.protocols import ProgressCallback
from offline_eval.core.records import Record
from offline_eval.models.bundle_archive import write_archive
from offline_eval.models.bundle_format import (
    INSTALL_FILE,
    REQUIREMENTS_FILE,
    BundleFile,
    BundleManifest,
    refuse_paths,
)
from offline_eval.models.hashes import MANIFEST_NAME
from offline_eval.models.installed import require_installed
from offline_eval.models.signature import read_key, sign, signature_path
from offline_eval.models.wheels import own_wheel, requirement_lines, wheels_of_environment, wheels_of_lock

_CONFIG_SUFFIXES = (".yaml", ".yml")
_Sources = dict[str, Path]  # path inside the bundle to the file on this machine

_INSTALL_TEXT = """To install this bundle on a machine without a network (Python {python}, {platform}):

    tar xf BUNDLE.tar wheels
    python{python} -m venv .venv
    .venv/bin/python -m pip install --no-index --no-deps --require-hashes --find-links wheels -r wheels/requirements.txt
    .venv/bin/offline-eval bundle install BUNDLE.tar --into carried
    .venv/bin/offline-eval doctor --offline

Compare the bundle's SHA-256 with the one that its maker printed before you run anything of it.
"""


class Wanted(Record):
    """What goes into a bundle.

    Attributes:
        models: Names of installed models.
        configs: Folders or files of YAML configs.
        test_sets: Files or folders.
        wheels: A folder of wheels, taken as they are.
        lock: A lock file whose wheels pip collects; this program's own is added.
        environment: Whether to collect the wheels of everything installed here.
    """

    models: tuple[str, ...] = ()
    configs: tuple[Path, ...] = ()
    test_sets: tuple[Path, ...] = ()
    wheels: Path | None = None
    lock: Path | None = None
    environment: bool = False


def create_bundle(
    wanted: Wanted,
    out: Path,
    *,
    key_file: Path | None = None,
    announce: Callable[[str], None] = lambda line: None,
    progress: ProgressCallback = lambda done, total: None,
) -> BundleManifest:
    """Pack a bundle; the same files give the same bytes.

    Args:
        out: The tar file to write; its signature lies beside it as `.sig`.
        key_file: A local key to sign the manifest with.
        announce: Called with a line about what begins.
        progress: Called with bytes packed and in all.

    Raises:
        UsageError: Nothing to pack, options that exclude each other, or a file that exists.
        ModelError: A model is not installed or was altered.
        DataError: A file that cannot be packed.
    """
    if out.exists():
        raise UsageError(f"{out} exists; remove it or name another file")
    if sum([wanted.wheels is not None, wanted.lock is not None, wanted.environment]) > 1:
        raise UsageError("name one source of wheels: a folder, a lock file, or this environment")
    key = read_key(key_file) if key_file is not None else None
    with tempfile.TemporaryDirectory(prefix="offline-eval-bundle-") as work:
        sources = _sources(wanted, Path(work), announce)
        if not sources:
            raise UsageError(
                "nothing to pack; name --models, --wheels, --lock, --environment, --configs or --test-sets"
            )
        manifest = _manifest(sources, Path(work), announce)
        out.parent.mkdir(parents=True, exist_ok=True)
        body = write_archive(out, manifest, sources, progress=progress)
    if key is not None:
        sign(body, key, signature_path(out))
    return manifest


def _sources(wanted: Wanted, work: Path, announce: Callable[[str], None]) -> _Sources:
    sources: _Sources = {}
    for name in wanted.models:
        model = require_installed(name)
        for path in (*model.files, MANIFEST_NAME):
            sources[f"models/{name}/{path}"] = model.folder / path
    for part, chosen in (("configs", wanted.configs), ("test-sets", wanted.test_sets)):
        for path, file in _chosen(part, chosen):
            if path in sources:
                raise UsageError(f"two of the {part} are named {path.partition('/')[2]!r}; rename one")
            sources[path] = file
    sources |= _wheels(wanted, work, announce)
    refuse_paths(list(sources))
    return sources


def _chosen(part: str, chosen: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Every file below the chosen ones; a folder of test sets keeps its name, one of configs does not."""
    for given in chosen:
        if not given.exists():
            raise UsageError(f"{given}: no such file or folder")
        root = given.parent if given.is_file() or part == "test-sets" else given
        for file in [given] if given.is_file() else _files_below(given):
            if part == "configs" and file.suffix not in _CONFIG_SUFFIXES:
                raise UsageError(f"{file} is no config; configs are YAML files")
            yield f"{part}/{file.relative_to(root).as_posix()}", file


def _files_below(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders.sort()
        linked = [name for name in folders if (Path(root) / name).is_symlink()]
        for name in sorted([*names, *linked]):
            file = Path(root) / name
            if not stat.S_ISREG(file.lstat().st_mode):
                raise DataError(f"{file} is a link or a device; a bundle holds plain files only")
            yield file


def _wheels(wanted: Wanted, work: Path, announce: Callable[[str], None]) -> _Sources:
    folder = work / "wheels"
    if wanted.wheels is not None:
        if not wanted.wheels.is_dir():
            raise UsageError(f"{wanted.wheels}: no such folder of wheels")
        folder = wanted.wheels
    elif wanted.lock is not None:
        wheels_of_lock(wanted.lock, folder, progress=announce)
        if not any(folder.glob("offline_eval-*.whl")):
            own_wheel(folder, progress=announce)
    elif wanted.environment:
        wheels_of_environment(folder, progress=announce)
    else:
        return {}
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        raise UsageError(f"{folder} holds no wheels")
    requirements = work / "requirements.txt"
    requirements.write_text(requirement_lines(wheels), encoding="utf-8")
    return {**{f"wheels/{wheel.name}": wheel for wheel in wheels}, REQUIREMENTS_FILE: requirements}


def _manifest(sources: _Sources, work: Path, announce: Callable[[str], None]) -> BundleManifest:
    python, system = ".".join(platform.python_version_tuple()[:2]), f"{platform.system()} {platform.machine()}"
    how = work / INSTALL_FILE
    how.write_text(_INSTALL_TEXT.format(python=python, platform=system), encoding="utf-8")
    sources[INSTALL_FILE] = how
    announce(f"hashing {len(sources)} files")
    return BundleManifest(
        program=f"offline-eval {__version__}",
        python=python,
        platform=system,
        files=tuple(
            BundleFile(path=path, size=file.stat().st_size, sha256=file_digest(file))
            for path, file in sorted(sources.items())
        ),
    )
