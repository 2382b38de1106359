"""What a bundle holds: a manifest that names every file with size and hash, and the rules for those names.

Why: a bundle comes from another machine and is not trusted; a name that could leave the folder, or a size that could
fill the disk, is refused before a byte is written.
"""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from offline_eval.core.errors import DataError
from offline_eval.core.records import Record
from offline_eval.models.config import NAME_PATTERN

MANIFEST_FILE = "MANIFEST.json"
INSTALL_FILE = "INSTALL.txt"
REQUIREMENTS_FILE = "wheels/requirements.txt"
PARTS = ("configs", "models", "test-sets", "wheels")

MOST_FILES = 100_000
MOST_MANIFEST_BYTES = 32 << 20
_LONGEST_PATH = 1024  # bytes
_LONGEST_NAME = 255  # bytes, what file systems take
_DEEPEST = 16


class BundleFile(Record):
    """One file of a bundle.

    Attributes:
        path: Inside the bundle, with forward slashes; its first part is one of `PARTS`, or it is `INSTALL_FILE`.
        size: Bytes.
        sha256: As `sha256sum` prints it.
    """

    path: str
    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")

    @field_validator("path")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        fault = path_fault(value)
        if fault:
            raise ValueError(f"{value!r} {fault}")
        return value


class BundleManifest(Record):
    """What stands in `MANIFEST.json`, the bundle's first file.

    Attributes:
        program: Name and version of what wrote it.
        python: Version the wheels are for, as `3.11`.
        platform: System and machine the wheels are for, as `Linux x86_64`.
        files: Every other file, sorted by path, in the order in which they follow.
    """

    format: Literal[1] = 1
    program: str
    python: str
    platform: str
    files: tuple[BundleFile, ...] = Field(min_length=1, max_length=MOST_FILES)

    @model_validator(mode="after")
    def _names_each_file_once(self) -> Self:
        paths = [file.path for file in self.files]
        if paths != sorted(set(paths)):
            raise ValueError("files must be sorted by path, and each named once")
        known = set(paths)
        for path in paths:
            above = next((str(folder) for folder in PurePosixPath(path).parents if str(folder) in known), None)
            if above:
                raise ValueError(f"{above!r} is a file and a folder")
        return self

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files)

    def of(self, part: str) -> list[BundleFile]:
        """The files of one of `PARTS`."""
        return [file for file in self.files if file.path.startswith(f"{part}/")]

    @property
    def models(self) -> list[str]:
        """Names of the models inside, sorted."""
        return sorted({PurePosixPath(file.path).parts[1] for file in self.of("models")})


def path_fault(path: str) -> str | None:
    """Why a file inside a bundle may not have this path; None when it may."""
    parts = path.split("/")
    try:
        too_long = len(path.encode()) > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_NAME for part in parts)
    except UnicodeEncodeError:
        return "is not valid Unicode"
    if too_long or len(parts) > _DEEPEST:
        return "is too long or too deep"
    if "\\" in path or any(part in ("", ".", "..") for part in parts):
        return "could lead outside the folder"
    if any(unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") for char in path):
        return "holds invisible characters"
    if path == INSTALL_FILE:
        return None
    if parts[0] not in PARTS or len(parts) < 2:
        return f"belongs to none of {', '.join(PARTS)}"
    if parts[0] == "models" and (len(parts) < 3 or not re.match(NAME_PATTERN, parts[1])):
        return "is not a file of a named model"
    return None


def refuse_paths(paths: Sequence[str]) -> None:
    """Refuse to pack files that could not be installed.

    Raises:
        DataError: All of them, one line each.
    """
    faults = [f"{path!r} {fault}; rename the file or leave it out" for path in paths if (fault := path_fault(path))]
    if len(paths) > MOST_FILES:
        faults.append(f"{len(paths):,} files are more than the {MOST_FILES:,} of one bundle; make several")
    if faults:
        raise DataError(faults)
