"""Finds what a user means by a version of a test set, and takes what was accepted into a new one."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.records import Case
from offline_eval.formats.reader import read_cases
from offline_eval.testset.changelog import Changelog
from offline_eval.testset.draft_file import DRAFTS_NAME, DraftFile


class Intake(NamedTuple):
    """What would enter a version.

    Attributes:
        left_out: Drafts that stay outside, by status.
        unreviewed: Cases among `cases` that no person accepted.
    """

    cases: list[Case]
    left_out: dict[str, int]
    unreviewed: int


def is_drafts(path: Path) -> bool:
    """Whether a path holds drafts: `drafts.jsonl`, or a folder with it."""
    return path.name == DRAFTS_NAME or (path / DRAFTS_NAME).is_file()


def take_drafts(path: Path, *, known: Sequence[Case], with_unreviewed: bool = False) -> Intake:
    """The accepted drafts, with the cases that are known already; a draft replaces the known case with its id.

    Args:
        known: Cases of the version before.
        with_unreviewed: Take drafts that nobody has decided on as well; rejected ones never.

    Raises:
        DataError: There is nothing to take.
    """
    drafts = DraftFile(path).drafts
    taken = [draft for draft in drafts if draft.status == "accepted" or (with_unreviewed and draft.status == "draft")]
    if not taken:
        raise DataError(
            f"{path}: none of {len(drafts)} drafts is accepted; `offline-eval testset review` decides, "
            "--unreviewed takes undecided ones as they are"
        )
    left = [draft.status for draft in drafts if draft not in taken]
    cases = {case.id: case for case in known} | {draft.case.id: draft.case for draft in taken}
    return Intake(
        cases=list(cases.values()),
        left_out={status: left.count(status) for status in sorted(set(left))},
        unreviewed=sum(draft.decided_by != "review" for draft in taken),
    )


def cases_at(spec: str) -> list[Case]:
    """The cases of `FILE`, or of a version as `FILE@NUMBER`.

    Raises:
        UsageError: No such version.
        DataError: The file cannot be read.
    """
    name, at, number = spec.rpartition("@")
    if at and number.isdecimal() and not Path(spec).exists():
        return Changelog(Path(name)).cases_of(int(number))
    return read_cases(Path(spec))


def last_and_now(path: Path) -> tuple[list[Case], list[Case]]:
    """The last version of a file's cases, and the file.

    Raises:
        UsageError: It has no version.
    """
    changelog = Changelog(path)
    if not changelog.versions:
        raise UsageError(f"{changelog.path}: there is no version yet; `offline-eval testset version {path}` makes one")
    return changelog.last_cases(), read_cases(path)
