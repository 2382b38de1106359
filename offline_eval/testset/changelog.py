"""A test set's versions: an append-only file beside the cases, each entry with its reason and exactly what changed.

Why whole changes and not only hashes: any version can be made again out of the file, and compared with any other.
"""

import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.hashing import digest
from offline_eval.core.records import Case, Record
from offline_eval.pipeline.config import case_set_hash
from offline_eval.testset.diff import CaseSetDiff, apply_diff, diff_cases

SUFFIX = ".changelog.jsonl"
_GENESIS = "0" * 64


class FromDrafts(Record):
    """What a file of drafts did in a version.

    Attributes:
        gave: Ids of the cases that stand in the version as their drafts gave them.
        withdrew: Ids of the cases that left because a person rejected their drafts.
    """

    gave: tuple[str, ...] = ()
    withdrew: tuple[str, ...] = ()


class Version(Record):
    """One version of a test set.

    Attributes:
        number: From 1, without gaps.
        reason: Why there is a new one.
        author: Who made it; None where nobody said.
        at: When, as ISO 8601; None where no clock was given.
        cases_hash: Of all cases, as runs carry it; independent of their order.
        unreviewed: How many added or changed cases no person has accepted; None where the source does not say.
        diff: Against the version before.
        drafts: None where the version was made of cases alone, or by a program that did not write it down.
        previous: Hash of the entry before; 64 zeros for the first.
    """

    number: int = Field(ge=1)
    reason: str = Field(min_length=1)
    author: str | None = None
    at: str | None = None
    cases_hash: str
    n_cases: int = Field(ge=0)
    unreviewed: int | None = None
    diff: CaseSetDiff
    drafts: FromDrafts | None = None
    previous: str

    @property
    def hash(self) -> str:
        """Hash of the whole entry; covers those before it as well."""
        return digest("TestSetVersion", self.as_entry())

    def as_entry(self) -> dict[str, Any]:
        """The entry as it is written and hashed; without `drafts` where it says nothing, as older entries are."""
        return self.model_dump(mode="json", exclude={"drafts"} if self.drafts is None else None)


class Changelog:
    """The versions of one file of cases.

    Args:
        cases_path: The file of cases; the changelog lies beside it.

    Raises:
        DataError: The changelog was altered or cannot be read.
    """

    def __init__(self, cases_path: Path) -> None:
        self.path = changelog_path(cases_path)
        self.name = self.path.name.removesuffix(SUFFIX)
        self.versions: tuple[Version, ...] = tuple(_read(self.path))

    def cases_of(self, number: int) -> list[Case]:
        """The cases of a version, in the order of ids.

        Raises:
            UsageError: No such version.
        """
        if not 1 <= number <= len(self.versions):
            known = f"1 to {len(self.versions)}" if self.versions else "none; `offline-eval testset version` makes one"
            raise UsageError(f"{self.path}: there is no version {number}; known: {known}")
        cases: list[Case] = []
        for version in self.versions[:number]:
            cases = apply_diff(cases, version.diff)
        return cases

    def last_cases(self) -> list[Case]:
        """The cases of the last version; none before the first."""
        return self.cases_of(len(self.versions)) if self.versions else []

    def version_of(self, cases: Sequence[Case]) -> Version | None:
        """The last version that holds exactly these cases."""
        wanted = case_set_hash(cases)
        return next((version for version in reversed(self.versions) if version.cases_hash == wanted), None)

    def label(self, version: Version) -> str:
        """`NAME@NUMBER`, as runs carry it."""
        return f"{self.name}@{version.number}"

    def add(
        self,
        cases: Sequence[Case],
        *,
        reason: str,
        author: str | None = None,
        at: str | None = None,
        unreviewed: Collection[str] | None = None,
        drafts: FromDrafts | None = None,
    ) -> Version:
        """Write a new version down, on disk before this returns.

        Args:
            unreviewed: As for `prepare`.

        Raises:
            UsageError: No reason, or nothing changed.
            DataError: No cases, or the file cannot be written.
        """
        version = self.prepare(cases, reason=reason, author=author, at=at, unreviewed=unreviewed, drafts=drafts)
        self.append(version)
        return version

    def prepare(
        self,
        cases: Sequence[Case],
        *,
        reason: str,
        author: str | None = None,
        at: str | None = None,
        unreviewed: Collection[str] | None = None,
        drafts: FromDrafts | None = None,
    ) -> Version:
        """The next version, not written yet: its cases can be put on disk first.

        Args:
            unreviewed: Ids of cases that no person accepted; those that are added or changed are counted.

        Raises:
            UsageError: No reason, or nothing changed.
            DataError: No cases.
        """
        if not reason.strip():
            raise UsageError("a version needs a reason; say what changed and why with --reason")
        if not cases:
            raise DataError(f"{self.path}: a version without any case cannot be evaluated; nothing was written")
        diff = diff_cases(self.last_cases(), cases)
        if not diff:
            raise UsageError(f"{self.path}: nothing changed since version {len(self.versions)}; no version was made")
        touched = {case.id for case in diff.added} | {change.id for change in diff.changed}
        return Version(
            number=len(self.versions) + 1,
            reason=reason.strip(),
            author=author,
            at=at,
            cases_hash=case_set_hash(cases),
            n_cases=len(cases),
            unreviewed=None if unreviewed is None else len(touched & set(unreviewed)),
            diff=diff,
            drafts=drafts,
            previous=self.versions[-1].hash if self.versions else _GENESIS,
        )

    def append(self, version: Version) -> None:
        """Write a prepared version down, on disk before this returns.

        Raises:
            DataError: The file cannot be written.
        """
        _append(self.path, version)
        self.versions = (*self.versions, version)


def set_name(cases_path: Path) -> str:
    """A test set's name: that of its file without the last suffix, `s.zh` for `s.zh.jsonl`; `.gz` only packs it."""
    packed = cases_path.suffix == ".gz"
    return (cases_path.with_suffix("") if packed else cases_path).stem


def changelog_path(cases_path: Path) -> Path:
    """Where the versions of a file of cases are kept: beside it, `cases.changelog.jsonl` for `cases.jsonl`."""
    return cases_path.with_name(f"{set_name(cases_path)}{SUFFIX}")


def version_label(cases_path: Path, cases: Sequence[Case]) -> tuple[str | None, str | None]:
    """What a run says about the version of its cases.

    Returns:
        `NAME@NUMBER` where the changelog has exactly these cases, and a remark where it has none like them; both None
        without a changelog.

    Raises:
        DataError: The changelog was altered or cannot be read.
    """
    if not changelog_path(cases_path).is_file():
        return None, None
    changelog = Changelog(cases_path)
    version = changelog.version_of(cases)
    if version is not None:
        return changelog.label(version), None
    return None, (
        f"{cases_path} is no version of its changelog ({len(changelog.versions)} versions); "
        "`offline-eval testset version` makes it one"
    )


def _read(path: Path) -> list[Version]:
    if not path.is_file():
        return []
    found: list[Version] = []
    previous, cases = _GENESIS, list[Case]()
    *lines, torn = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            version = Version.model_validate_json(line)
            cases = apply_diff(cases, version.diff)
        except (ValidationError, ValueError) as error:
            raise DataError(f"{path}:{number}: no entry of a changelog ({str(error).splitlines()[0]})") from None
        if (version.number, version.previous) != (number, previous) or version.cases_hash != case_set_hash(cases):
            raise DataError(
                f"{path}:{number}: the entry does not follow from those before it; the file was altered, "
                "take it from a backup"
            )
        previous = version.hash
        found.append(version)
    if torn.strip():
        raise DataError(f"{path}:{len(lines) + 1}: the last line is cut off; remove it and make the version again")
    return found


def _append(path: Path, version: Version) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(version.as_entry(), ensure_ascii=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error}); check the folder") from None
