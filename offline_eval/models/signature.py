"""A detached signature with a local key: HMAC-SHA256, so that the standard library alone can make and check it.

Why not a key pair: the bare core has no library for one. Whoever can check a signature can also make one; keep the key
off the medium that carries the bundle.
"""

import hashlib
import hmac
from pathlib import Path

from offline_eval.core.errors import DataError, UsageError

SIGNATURE_SUFFIX = ".sig"
_SHORTEST_KEY = 32  # bytes
_LONGEST_KEY = 4096
_ALGORITHM = "hmac-sha256"


def read_key(path: Path) -> bytes:
    """Read a key file; every byte counts.

    Raises:
        UsageError: Not readable, or not of 32 to 4,096 bytes.
    """
    try:
        with path.open("rb") as stream:
            key = stream.read(_LONGEST_KEY + 1)
    except OSError as error:
        raise UsageError(f"the key {path} cannot be read: {error.strerror}") from error
    if not _SHORTEST_KEY <= len(key) <= _LONGEST_KEY:
        raise UsageError(
            f"the key {path} must have 32 to 4,096 bytes; make one with `head -c 32 /dev/urandom > {path}`"
        )
    return key


def signature_path(signed: Path) -> Path:
    """Where a file's signature lies: beside it."""
    return signed.with_name(signed.name + SIGNATURE_SUFFIX)


def sign(content: bytes, key: bytes, path: Path) -> None:
    """Write the signature of some content.

    Raises:
        DataError: The file cannot be written.
    """
    try:
        path.write_text(f"{_ALGORITHM} {_mac(content, key)}\n", encoding="ascii")
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error}") from error


def check_signature(content: bytes, key: bytes, path: Path) -> None:
    """Compare content with its signature.

    Raises:
        DataError: There is no signature, or it was made with another key or for other content.
    """
    try:
        with path.open("rb") as stream:
            found = stream.read(256)
    except OSError as error:
        raise DataError(f"the signature {path} cannot be read: {error.strerror}; carry it beside the bundle") from error
    if not hmac.compare_digest(found.strip(), f"{_ALGORITHM} {_mac(content, key)}".encode()):
        raise DataError(f"the signature {path} does not fit: other content, or another key; do not use this bundle")


def _mac(content: bytes, key: bytes) -> str:
    return hmac.new(key, b"offline-eval bundle\x00" + content, hashlib.sha256).hexdigest()
