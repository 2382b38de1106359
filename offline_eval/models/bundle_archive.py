"""A bundle as a plain tar file: the same files give the same bytes, and nothing is believed that was not checked.

Why plain: the far side may have nothing but `tar` and Python, and weights do not compress.
"""

import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from offline_eval.core.errors import DataError
from offline_eval.core.protocols import ProgressCallback
from offline_eval.models.bundle_format import MANIFEST_FILE, MOST_MANIFEST_BYTES, BundleFile, BundleManifest

_CHUNK = 1 << 20
# Longer headers than this are not ours; tarfile would read one of any size into memory.
_LARGEST_READ = _CHUNK + 2 * tarfile.RECORDSIZE
_BROKEN = (tarfile.TarError, OSError, ValueError, EOFError, OverflowError, RecursionError)


def write_archive(
    out: Path, manifest: BundleManifest, sources: Mapping[str, Path], *, progress: ProgressCallback
) -> bytes:
    """Write the manifest and then every file it names.

    Args:
        out: The file to write; it appears under its name only when it is whole.
        sources: Path inside the bundle to the file on this machine.
        progress: Called with bytes done and in all.

    Returns:
        The manifest's bytes, which a signature covers.

    Raises:
        DataError: A file changed while it was packed, or the disk is full.
    """
    body = (manifest.model_dump_json(indent=1) + "\n").encode()
    part = out.with_name(f"{out.name}.part")
    done = 0
    try:
        with tarfile.open(part, "w:", format=tarfile.PAX_FORMAT, encoding="utf-8") as tar:
            tar.addfile(_header(MANIFEST_FILE, len(body)), io.BytesIO(body))
            for file in manifest.files:
                with sources[file.path].open("rb") as stream:
                    hashed = _Hashed(stream)
                    tar.addfile(_header(file.path, file.size), hashed)
                    if hashed.sha.hexdigest() != file.sha256 or stream.read(1):
                        raise DataError(f"{sources[file.path]} changed while it was packed; run the command again")
                done += file.size
                progress(done, manifest.size)
        part.replace(out)
    except OSError as error:
        raise DataError(f"{out} cannot be written: {error}; make room or name another folder") from error
    finally:
        part.unlink(missing_ok=True)
    return body


def read_manifest_bytes(bundle: Path) -> bytes:
    """The bytes of a bundle's manifest, unchecked: what a signature covers.

    Raises:
        DataError: Not a bundle.
    """
    with _opened(bundle) as tar:
        return _manifest_bytes(bundle, tar)


def check_archive(
    bundle: Path, *, into: Path | None = None, progress: ProgressCallback = lambda done, total: None
) -> BundleManifest:
    """Read a bundle from its first byte to its last and compare it with its manifest.

    Args:
        into: A new folder to unpack to; nothing is written without it.
        progress: Called with bytes done and in all.

    Raises:
        DataError: The first file that is altered, missing, added, of another size, or no plain file.
    """
    with _opened(bundle) as tar:
        manifest = _manifest(bundle, _manifest_bytes(bundle, tar))
        done = 0
        for position, file in enumerate(manifest.files):
            member = _next(bundle, tar)
            if member is None or member.name != file.path:
                raise DataError(f"{bundle}: {_misplaced(member, manifest.files[position:])}")
            _check_member(bundle, member, size=file.size)
            _take(bundle, tar, member, file, into)
            done += file.size
            progress(done, manifest.size)
        extra = _next(bundle, tar)
        if extra is not None:
            raise DataError(f"{bundle}: {_misplaced(extra, ())}")
        _check_tail(bundle, tar.offset)
    return manifest


class _Hashed(io.RawIOBase):
    """Hashes what is read through it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.sha = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.sha.update(data)
        return data


class _SmallReads(io.FileIO):
    """Refuses to read more at once than our archives ever need: a declared size must not become memory."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= _LARGEST_READ:
            raise tarfile.ReadError(f"a header of {size} bytes")
        return super().read(size) or b""


@contextmanager
def _opened(bundle: Path) -> Iterator[tarfile.TarFile]:
    try:
        stream = _SmallReads(bundle)
    except OSError as error:
        raise DataError(f"{bundle} cannot be read: {error.strerror}; name a bundle") from error
    with stream:
        try:
            tar = tarfile.open(fileobj=stream, mode="r:", encoding="utf-8")  # noqa: SIM115 - closed below
        except _BROKEN as error:
            raise DataError(f"{bundle} is no bundle, or is cut short; copy it again") from error
        with tar:
            yield tar


def _header(path: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(path)  # no owner, no time: the same files give the same bytes
    header.size, header.mode = size, 0o644
    return header


def _manifest_bytes(bundle: Path, tar: tarfile.TarFile) -> bytes:
    member = _next(bundle, tar)
    if member is None or member.name != MANIFEST_FILE:
        raise DataError(f"{bundle} is no bundle: it does not begin with {MANIFEST_FILE}")
    if member.size > MOST_MANIFEST_BYTES:
        raise DataError(f"{bundle}: {MANIFEST_FILE} has {member.size:,} bytes, more than any bundle of ours")
    _check_member(bundle, member, size=member.size)
    return b"".join(_pieces(bundle, tar, member))


def _manifest(bundle: Path, body: bytes) -> BundleManifest:
    try:
        manifest = BundleManifest.model_validate_json(body)
    except ValidationError as error:
        item = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in item["loc"])
        raise DataError(f"{bundle}: {MANIFEST_FILE}: {where}: {item['msg']}; do not use this bundle") from error
    if manifest.size > bundle.stat().st_size:
        raise DataError(f"{bundle}: {MANIFEST_FILE} promises {manifest.size:,} bytes, more than the file has")
    return manifest


def _next(bundle: Path, tar: tarfile.TarFile) -> tarfile.TarInfo | None:
    try:
        return tar.next()
    except _BROKEN as error:
        raise DataError(f"{bundle} is damaged ({error}); copy it again") from error


def _check_member(bundle: Path, member: tarfile.TarInfo, *, size: int) -> None:
    if member.type != tarfile.REGTYPE or member.issparse():
        raise DataError(f"{bundle}: {member.name!r} is a link, a folder or a device; a bundle holds plain files only")
    if member.size != size:
        raise DataError(f"{bundle}: {member.name!r} has {member.size:,} bytes, the manifest says {size:,}")


def _misplaced(member: tarfile.TarInfo | None, expected: tuple[BundleFile, ...]) -> str:
    if member is not None and member.name not in {file.path for file in expected}:
        return f"{member.name!r} is extra: the manifest does not name it here; do not use this bundle"
    return f"{expected[0].path!r} is missing; copy the bundle again"


def _take(bundle: Path, tar: tarfile.TarFile, member: tarfile.TarInfo, file: BundleFile, into: Path | None) -> None:
    """Hash one file and, with `into`, write it there."""
    sha = hashlib.sha256()
    pieces = _pieces(bundle, tar, member)
    if into is None:
        for piece in pieces:
            sha.update(piece)
    else:
        target = into / file.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as stream:
                for piece in pieces:
                    sha.update(piece)
                    stream.write(piece)
        except OSError as error:
            raise DataError(f"{target} cannot be written: {error}; make room or name another folder") from error
    if sha.hexdigest() != file.sha256:
        raise DataError(f"{bundle}: {file.path!r} was altered: its SHA-256 is {sha.hexdigest()}; copy the bundle again")


def _pieces(bundle: Path, tar: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    """A member's bytes in pieces; exactly as many as its header says."""
    left = member.size
    try:
        stream = tar.extractfile(member)
        while stream is not None and left:
            piece = stream.read(min(_CHUNK, left))
            if not piece:
                break
            left -= len(piece)
            yield piece
    except _BROKEN as error:
        raise DataError(f"{bundle}: {member.name!r} is cut short ({error}); copy the bundle again") from error
    if left:
        raise DataError(f"{bundle}: {member.name!r} is cut short; copy the bundle again")


def _check_tail(bundle: Path, offset: int) -> None:
    """After the last file come zeros up to a full record, and nothing else."""
    size = bundle.stat().st_size
    records = -(-(offset + 2 * tarfile.BLOCKSIZE) // tarfile.RECORDSIZE) * tarfile.RECORDSIZE
    with bundle.open("rb") as stream:
        stream.seek(min(offset, size))
        tail = stream.read(2 * tarfile.RECORDSIZE + 1)
    if any(tail) or size > records:
        raise DataError(f"{bundle}: there is data after the last file; do not use this bundle")
