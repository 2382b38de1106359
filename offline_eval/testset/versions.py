"""Finds what a user means by a version of a test set: a file, `FILE@NUMBER`, and how a file stands to its changelog."""

from pathlib import Path
from typing import NamedTuple

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.records import Case
from offline_eval.formats.reader import read_cases
from offline_eval.formats.writer import write_cases
from offline_eval.testset.changelog import SUFFIX, Changelog
from offline_eval.testset.diff import diff_cases

_OTHER_FORMATS = (".csv", ".tsv", ".parquet")


class Restored(NamedTuple):
    """A version that was written as a file again."""

    label: str
    n_cases: int


def cases_at(spec: str) -> list[Case]:
    """The cases of `FILE`, or of a version as `FILE@NUMBER`.

    Raises:
        UsageError: No such version.
        DataError: The file cannot be read, or is gone while its changelog is there.
    """
    path, number = _taken_apart(spec)
    changelog = Changelog(path)
    return read_present(path, changelog) if number is None else changelog.cases_of(number)


def before_and_now(spec: str) -> tuple[list[Case], list[Case]]:
    """A version of a file's cases, the last one unless `FILE@NUMBER` says which, and the file as it is.

    Raises:
        UsageError: It has no version, or not this one.
        DataError: The file cannot be read, or is gone while its changelog is there.
    """
    path, number = _taken_apart(spec)
    changelog = Changelog(path)
    if not changelog.versions:
        raise UsageError(no_version(path, changelog))
    before = changelog.last_cases() if number is None else changelog.cases_of(number)
    return before, read_present(path, changelog)


def read_present(path: Path, changelog: Changelog) -> list[Case]:
    """The cases of a file.

    Raises:
        DataError: The file cannot be read, or is gone while its changelog is there.
    """
    if changelog.versions and not path.exists():
        raise DataError(_gone(path, changelog))
    return read_cases(path)


def standing(path: Path, changelog: Changelog) -> str:
    """How a file stands to the versions in its changelog, of which there are some, in words and with what to do."""
    if not path.exists():
        return _gone(path, changelog)
    last = changelog.versions[-1]
    try:
        cases = read_cases(path)
    except DataError as error:
        return f"{path} cannot be read as cases ({error.problems[0]}); {_how_to_restore(path, changelog)}"
    version = changelog.version_of(cases)
    if version is None:
        summary = diff_cases(changelog.last_cases(), cases).summary
        return (
            f"{path} is no version: {summary} since {changelog.label(last)}; "
            f"`offline-eval testset version {path}` makes it one"
        )
    if version.cases_hash != last.cases_hash:
        return f"{path} is {changelog.label(version)}, not the last one; {_how_to_restore(path, changelog)}"
    return f"{path} is {changelog.label(version)}, the last one"


def no_version(path: Path, changelog: Changelog) -> str:
    """That there is none yet; names the changelog that files with several suffixes once shared, where it is there."""
    shared = path.with_name(f"{path.name.split('.', 1)[0]}{SUFFIX}")
    said = f"{changelog.path}: there is no version yet; `offline-eval testset version {path}` makes one"
    if shared == changelog.path or not shared.is_file():
        return said
    return f"{said}; if {shared.name} holds this file's versions, rename it to {changelog.path.name}"


def check_writable_as_cases(path: Path) -> None:
    """Refuse a name that would be read in another format than the one it is written in.

    Raises:
        UsageError: Such a name.
    """
    if path.suffix.lower() in _OTHER_FORMATS:
        raise UsageError(f"{path}: cases are written as JSON Lines; name a file that ends in .jsonl")


def restore_version(spec: str, out: Path) -> Restored:
    """Write a version, the last one unless `FILE@NUMBER` says which, as a file of cases in the order of ids.

    Raises:
        UsageError: No such version, or `out` holds something that is no version and would be lost.
        DataError: The file cannot be written.
    """
    check_writable_as_cases(out)
    path, number = _taken_apart(spec)
    changelog = Changelog(path)
    if not changelog.versions:
        raise UsageError(no_version(path, changelog))
    number = len(changelog.versions) if number is None else number
    cases = changelog.cases_of(number)
    if out.exists() and not _is_version(out, changelog):
        raise UsageError(
            f"{out}: holds what is in no version of {changelog.path} and would be lost; name another file, or move it"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    write_cases(cases, out)
    return Restored(changelog.label(changelog.versions[number - 1]), len(cases))


def _taken_apart(spec: str) -> tuple[Path, int | None]:
    name, at, number = spec.rpartition("@")
    if at and name and number.isascii() and number.isdecimal() and not Path(spec).exists():
        return Path(name), int(number)
    return Path(spec), None


def _is_version(path: Path, changelog: Changelog) -> bool:
    try:
        return changelog.version_of(read_cases(path)) is not None
    except DataError:
        return False


def _gone(path: Path, changelog: Changelog) -> str:
    known = f"has its versions 1 to {len(changelog.versions)}"
    return f"{path}: no such file, but {changelog.path} {known}; {_how_to_restore(path, changelog)}"


def _how_to_restore(path: Path, changelog: Changelog) -> str:
    spec = f"{path}@{len(changelog.versions)}"
    return f"`offline-eval testset restore {spec} --out {path}` writes the last one again"
