"""Takes what people decided about drafts into a test set, without undoing what was edited there by hand.

Why the changelog is asked: only it knows what a draft gave before, and so whether a case has been edited since.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from offline_eval.core.errors import DataError
from offline_eval.core.records import Case
from offline_eval.testset.changelog import Changelog, FromDrafts
from offline_eval.testset.diff import apply_diff
from offline_eval.testset.draft import Draft, as_unreviewed
from offline_eval.testset.draft_file import DraftFile

Forms = Mapping[str, Sequence[Case]]
"""A case's id to every form that its draft has had."""


class Intake(NamedTuple):
    """What would enter a version.

    Attributes:
        left_out: Drafts that stay outside because of what was decided, by status.
        unreviewed: How many of the drafts taken no person accepted.
        unreviewed_ids: Ids of all cases whose drafts no person accepted, those that stood in the file before too.
        edited: Ids of cases that stay as they were edited by hand, although their accepted drafts say something else.
        removed: Ids of cases that stay away as they were removed by hand, although their drafts are accepted.
        drafts: What the drafts gave and withdrew.
    """

    cases: list[Case]
    left_out: dict[str, int]
    unreviewed: int
    unreviewed_ids: frozenset[str]
    edited: tuple[str, ...]
    removed: tuple[str, ...]
    drafts: FromDrafts


def take_drafts(
    path: Path,
    *,
    known: Sequence[Case],
    changelog: Changelog | None = None,
    with_unreviewed: bool = False,
    replace_edited: bool = False,
) -> Intake:
    """The accepted drafts, with the cases that are known already.

    A draft replaces the known case with its id, and one that a person rejected takes it away, as long as that case is
    what the draft gave in the last version that took it. A case that was edited or removed by hand stays so.

    Args:
        known: Cases of the file as it is.
        changelog: Of that file; None where it has none.
        with_unreviewed: Take drafts that nobody has decided on as well; rejected ones never.
        replace_edited: Let drafts win over hand edits too.

    Raises:
        DataError: There is nothing to take.
    """
    if not path.exists():
        raise DataError(f"{path}: no such file or folder; check the path")
    file = DraftFile(path)
    taken = [found for draft in file.drafts if (found := _as_taken(draft, with_unreviewed)) is not None]
    standing = _Standing(file, known, changelog)
    rejected = [draft for draft in file.drafts if draft.status == "rejected" and draft.decided_by == "review"]
    withdrawn = [d.case.id for d in rejected if d.case.id in standing.now and not standing.is_edited(d)]
    if not taken and not withdrawn:
        raise DataError(
            f"{file.path}: none of {len(file.drafts)} drafts is accepted; `offline-eval testset review` decides, "
            "--unreviewed takes undecided ones as they are"
        )
    held = [draft.case.id for draft in taken if not replace_edited and standing.is_edited(draft)]
    entering = [draft for draft in taken if draft.case.id not in held]
    cases = standing.now | {draft.case.id: draft.case for draft in entering}
    doubtful = [draft.case.id for draft in entering if draft.decided_by != "review"]
    undecided = [draft for draft in file.drafts if draft.decided_by in (None, "unreviewed")]
    stood = [d.case.id for d in undecided if d.case.id in standing.now and not standing.is_edited(d)]
    ids = {draft.id for draft in taken}
    left = [draft.status for draft in file.drafts if draft.id not in ids]
    return Intake(
        cases=[case for case in cases.values() if case.id not in withdrawn],
        left_out={status: left.count(status) for status in sorted(set(left))},
        unreviewed=len(doubtful),
        unreviewed_ids=frozenset((*doubtful, *stood)),
        edited=tuple(id for id in held if id in standing.now),
        removed=tuple(id for id in held if id not in standing.now),
        drafts=FromDrafts(gave=tuple(draft.case.id for draft in entering), withdrew=tuple(withdrawn)),
    )


def last_given(changelog: Changelog, forms: Forms) -> dict[str, Case]:
    """What drafts gave in the last version that took them, by the cases' ids; what they withdrew since is left out.

    Args:
        forms: Tell what drafts gave in entries of older programs, which did not write it down.
    """
    cases: list[Case] = []
    given: dict[str, Case] = {}
    for version in changelog.versions:
        cases = apply_diff(cases, version.diff)
        by_id = {case.id: case for case in cases}
        gave: Sequence[str] = ()
        if version.drafts is not None:
            gave = version.drafts.gave
        elif version.unreviewed is not None:
            gave = [id for id, known in forms.items() if by_id.get(id) in known]
        given |= {id: by_id[id] for id in gave if id in by_id}
        for id in version.drafts.withdrew if version.drafts is not None else ():
            given.pop(id, None)
    return given


class _Standing:
    """The cases as they are, and what drafts gave of them."""

    def __init__(self, file: DraftFile, known: Sequence[Case], changelog: Changelog | None) -> None:
        self.now = {case.id: case for case in known}
        self._made_again = {draft.case.id: file.made_again(draft.id) for draft in file.drafts}
        self._forms = {
            draft.case.id: [form for case in file.forms_of(draft.id) for form in (case, as_unreviewed(case))]
            for draft in file.drafts
        }
        self._given = {} if changelog is None else last_given(changelog, self._forms)

    def is_edited(self, draft: Draft) -> bool:
        """Whether the case was edited or removed by hand since a draft gave it, to something else than it gives now."""
        id = draft.case.id
        now, given = self.now.get(id), self._given.get(id)
        if now == draft.case or (now is not None and now == self._made_again[id]):
            return False
        if given is not None:
            return now != given
        return now is not None and now not in self._forms[id]


def _as_taken(draft: Draft, with_unreviewed: bool) -> Draft | None:
    if draft.status == "draft" and with_unreviewed:
        return draft.accepted_unreviewed()
    return draft if draft.status == "accepted" else None
