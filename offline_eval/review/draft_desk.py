"""One person at a file of drafts: what they may decide, each decision a line of the file.

Why the file itself and no log of its own: a version takes what the drafts file says is accepted, and nothing else.
"""

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

from offline_eval.core.records import Passage
from offline_eval.review.decision_log import utc_now
from offline_eval.review.draft_fields import FieldFault, field_text, field_value, lines_of
from offline_eval.testset.draft import Draft, Edit, EditedField, Review
from offline_eval.testset.draft_file import DraftFile

LONGEST_FIELD = 4000  # characters; a form's body has a limit of its own
EDITED: tuple[EditedField, ...] = (
    "query", "reference", "key_points", "relevant_passages", "answerable", "query_type", "difficulty",
)  # fmt: skip
"""Fields that the page offers, each as the text `field_text` gives."""


class SourceText(NamedTuple):
    """A passage that a draft was written from, or that it expects.

    Attributes:
        passage: None where its text is not at hand.
        grade: Expected relevance; None for a source that is not expected.
    """

    id: str
    passage: Passage | None
    grade: int | None


class DraftDesk:
    """A reviewer's place at a file of drafts.

    Args:
        drafts: Open drafts come first, then those that checks threw out, each in the file's order.
        passages: Texts of the sources, by id.
        known: Ids that a passage may have; None where no index or corpus says so.
        clock: Gives a decision's time.
    """

    def __init__(
        self,
        drafts: DraftFile,
        *,
        person: str,
        passages: Mapping[str, Passage] | None = None,
        known: Container[str] | None = None,
        clock: Callable[[], str] = utc_now,
    ) -> None:
        self.person = person
        self._file = drafts
        self._passages: Mapping[str, Passage] = {} if passages is None else passages
        self._known = known
        self._clock = clock
        found = drafts.drafts
        thrown_out = [draft.id for draft in found if draft.decided_by == "check"]
        self.ids: tuple[str, ...] = (*(draft.id for draft in found if draft.decided_by != "check"), *thrown_out)

    def drafts(self) -> list[Draft]:
        """Every draft as it is now, in the queue's order."""
        now = {draft.id: draft for draft in self._file.drafts}
        return [now[id] for id in self.ids]

    def sources(self, draft: Draft) -> list[SourceText]:
        """What a draft was written from and what it expects, each once."""
        grades = draft.case.relevant_passages
        ids = dict.fromkeys((*draft.sources, *grades))
        return [SourceText(id, self._passages.get(id), grades.get(id)) for id in ids]

    def accept(self, draft: Draft, fields: Mapping[str, str]) -> Draft:
        """Accept a draft with the texts of its fields as they are now; those that differ are kept as edits.

        Args:
            fields: Field of `EDITED` to its text; a missing one stays as it was.

        Raises:
            FieldFault: A field that cannot be read, or names a passage that is not known.
            DataError: The edits make no valid case.
        """
        edits = tuple(edits_of(draft, fields))
        self._check_passages(edits)
        return self._decide(draft, Review(reviewer=self.person, decision="accepted", edits=edits, at=self._clock()))

    def reject(self, draft: Draft, reason: str) -> Draft:
        """Reject a draft; the reason is not empty."""
        return self._decide(
            draft, Review(reviewer=self.person, decision="rejected", reason=reason.strip(), at=self._clock())
        )

    def _check_passages(self, edits: Sequence[Edit]) -> None:
        for edit in edits:
            if edit.field != "relevant_passages" or self._known is None or not isinstance(edit.after, dict):
                continue
            missing = [id for id in edit.after if id not in self._known]
            if missing:
                raise FieldFault("unknown_passages", ids=", ".join(missing))

    def _decide(self, draft: Draft, review: Review) -> Draft:
        return self._file.review(draft.id, review)


def next_open(drafts: Sequence[Draft], *, after: int = -1) -> int | None:
    """Place of the next draft nobody decided on, from the beginning again after the end; None when all are decided."""
    places = [*range(after + 1, len(drafts)), *range(after + 1)]
    return next((place for place in places if drafts[place].status == "draft"), None)


def status_counts(drafts: Sequence[Draft]) -> dict[str, int]:
    """Drafts by status; a status that none has is 0."""
    counts = Counter(draft.status for draft in drafts)
    return {status: counts[status] for status in ("draft", "accepted", "rejected")}


def edits_of(draft: Draft, fields: Mapping[str, str]) -> list[Edit]:
    """The fields of a form that say something else than the draft; white space at the ends and line ends aside.

    Raises:
        FieldFault: A field that cannot be read.
    """
    found = []
    for field in EDITED:
        if field not in fields or not is_changed(draft, field, fields[field]):
            continue
        before, after = draft.case.model_dump(mode="json")[field], field_value(field, fields[field])
        if before != after:
            found.append(Edit(field=field, before=before, after=after))
    return found


def is_changed(draft: Draft, field: EditedField, text: str) -> bool:
    """Whether a form's text says something else than the draft's field."""
    return lines_of(text) != lines_of(field_text(draft, field))
