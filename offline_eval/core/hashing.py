"""Canonical JSON and tagged SHA-256, so that the same content has the same identity everywhere."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_CHUNK_BYTES = 1 << 20
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def canonical_json(value: Any) -> bytes:
    """Serialise JSON data to one byte string per value.

    Keys are sorted, no white space, UTF-8, shortest float form.

    Args:
        value: JSON data (dict with string keys, list, tuple, str, int, finite float, bool, None).

    Returns:
        The bytes that are hashed.

    Raises:
        ValueError: A number that is not finite.
    """
    return _canonical(value).encode("utf-8", "surrogatepass")


def digest(tag: str, value: Any) -> str:
    """Hash a JSON value under a tag; values hashed under different tags never collide.

    Returns:
        64 hex digits.
    """
    return hashlib.sha256(tag.encode() + b"\x00" + canonical_json(value)).hexdigest()


def file_digest(path: Path) -> str:
    """Hash a file's bytes (plain SHA-256, comparable with `sha256sum`); reads it in 1 MiB pieces."""
    sha = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            sha.update(chunk)
    return sha.hexdigest()


def digest_all(tag: str, hashes: Iterable[str]) -> str:
    """Hash a sequence of hashes in its order."""
    return digest(tag, list(hashes))
