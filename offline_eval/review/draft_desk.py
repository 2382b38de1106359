"""One person at a file of drafts: what they may decide, each decision a line of the file.

Why the file itself and no log of its own: a version takes what the drafts file says is accepted, and nothing else.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from offline_eval.core.records import Passage
from offline_eval.review.decision_log import utc_now
from offline_eval.testset.draft import Draft, Edit, EditedField, Review
from offline_eval.testset.draft_file import DraftFile

LONGEST_FIELD = 4000  # characters; a form's body has a limit of its own
EDITED: tuple[EditedField, ...] = ("query", "reference", "key_points", "query_type", "difficulty")
"""Fields that the page offers; of `key_points` each line is one."""


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
        clock: Gives a decision's time.
    """

    def __init__(
        self,
        drafts: DraftFile,
        *,
        person: str,
        passages: Mapping[str, Passage] | None = None,
        clock: Callable[[], str] = utc_now,
    ) -> None:
        self.person = person
        self._file = drafts
        self._passages = passages or {}
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
            DataError: The edits make no valid case.
        """
        edits = tuple(edits_of(draft, fields))
        return self._decide(draft, Review(reviewer=self.person, decision="accepted", edits=edits, at=self._clock()))

    def reject(self, draft: Draft, reason: str) -> Draft:
        """Reject a draft; the reason is not empty."""
        return self._decide(
            draft, Review(reviewer=self.person, decision="rejected", reason=reason.strip(), at=self._clock())
        )

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


def field_text(draft: Draft, field: EditedField) -> str:
    """A field as it stands in the form."""
    value = getattr(draft.case, field)
    return "\n".join(value) if field == "key_points" else value or ""


def edits_of(draft: Draft, fields: Mapping[str, str]) -> list[Edit]:
    """The fields of a form that say something else than the draft; white space at the ends and line ends aside."""
    found = []
    for field in EDITED:
        if field not in fields:
            continue
        text = fields[field].replace("\r\n", "\n")
        if _lines(text) == _lines(field_text(draft, field)):
            continue
        before: JsonValue = draft.case.model_dump(mode="json")[field]
        after: JsonValue = [*_lines(text)] if field == "key_points" else text.strip() or None
        found.append(Edit(field=field, before=before, after=after))
    return found


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n") if line.strip()]
