"""A case in the making: what was written, from what, what the checks and the reviewer said about it.

Why apart from `Case`: a test set takes over finished cases only; how one came about is kept beside it, for review.
"""

from typing import Literal, Self, get_args

from pydantic import Field, JsonValue, model_validator

from offline_eval.core.records import Case, Record

QuestionType = Literal["simple", "multi_hop", "conditional", "counterfactual", "unanswerable", "adversarial"]
QUESTION_TYPES: tuple[QuestionType, ...] = get_args(QuestionType)

Status = Literal["draft", "accepted", "rejected"]
Outcome = Literal["passed", "rejected", "not_checked"]
UNREVIEWED = "unreviewed"
"""Tag of a case that no person has read."""

EditedField = Literal["query", "reference", "key_points", "query_type", "difficulty", "relevant_passages", "answerable"]


class StepResult(Record):
    """What one step of the writing gave.

    Attributes:
        step: For example `facts`, `question`, `reference`, `distractor`, `critic`.
        output: Field to what was written; empty when the step failed.
        failure: `reason: detail` when the engine gave nothing.
        cut_off: Fields that filled the room they had and do not end like a sentence.
    """

    step: str
    output: dict[str, JsonValue] = Field(default_factory=dict)
    failure: str | None = None
    cut_off: tuple[str, ...] = ()


class CheckResult(Record):
    """What one check said about a draft.

    Attributes:
        check: Its name, for example `grounded`.
        reason: Why it rejects, as a short code that is counted; or why it could not look (`no_engine`, `language: zh`).
        detail: The same in words, with the place.
        value: What was compared, for example a probability in [0, 1].
        threshold: What it was compared with.
    """

    check: str
    outcome: Outcome
    reason: str | None = None
    detail: str | None = None
    value: float | None = None
    threshold: float | None = None

    @model_validator(mode="after")
    def _reason_matches(self) -> Self:
        if self.outcome != "passed" and not self.reason:
            raise ValueError(f"a check that is {self.outcome} needs a reason")
        return self


class Edit(Record):
    """One field of the case that a reviewer changed."""

    field: EditedField
    before: JsonValue
    after: JsonValue


class Review(Record):
    """One decision of a person about one draft.

    Attributes:
        reason: Required for a rejection.
        at: When, as ISO 8601; None where no clock was given.
    """

    reviewer: str = Field(min_length=1)
    decision: Literal["accepted", "rejected"]
    reason: str | None = None
    edits: tuple[Edit, ...] = ()
    at: str | None = None

    @model_validator(mode="after")
    def _a_rejection_says_why(self) -> Self:
        if self.decision == "rejected" and not (self.reason or "").strip():
            raise ValueError("a rejection needs a reason")
        return self


class DraftProvenance(Record):
    """Who wrote a draft, precisely enough to write it again.

    Attributes:
        prompts: `language@version` of the wording.
        slot: Place in the plan, from 0.
        attempt: 1 for the first try at that place.
        engine_fingerprint: Of the judge that wrote it.
        settings_hash: Of the whole generation's settings, the file's identity.
    """

    prompts: str
    slot: int = Field(ge=0)
    attempt: int = Field(ge=1)
    seed: int
    judge: str
    engine_fingerprint: str
    settings_hash: str


class Draft(Record):
    """A case in the making.

    Attributes:
        case: As it would enter the set; `case.relevant_passages` are the expected passages with their grades.
        sources: Ids of the passages it was written from, also for an unanswerable question, which expects none.
        false_premise: What an adversarial or counterfactual question takes for granted against the documents.
        distractor: A wrong answer that looks right.
        status: `draft` while nobody decided; `rejected` by a check or a person; `accepted` by a person or unreviewed.
        status_reason: The reason code of a rejection, a person's own words, or `unreviewed`.
        decided_by: Who set the status; None while it is a draft.
    """

    id: str = Field(min_length=1)
    type: QuestionType
    case: Case
    sources: tuple[str, ...] = ()
    false_premise: str | None = None
    distractor: str | None = None
    steps: tuple[StepResult, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    status: Status = "draft"
    status_reason: str | None = None
    decided_by: Literal["check", "review", "unreviewed"] | None = None
    reviews: tuple[Review, ...] = ()
    provenance: DraftProvenance | None = None

    @model_validator(mode="after")
    def _status_is_explained(self) -> Self:
        if (self.status == "draft") != (self.decided_by is None):
            raise ValueError("a draft is undecided, everything else was decided by somebody")
        if self.status == "rejected" and not self.status_reason:
            raise ValueError("a rejected draft needs a reason")
        return self

    def reviewed(self, review: Review) -> "Draft":
        """The draft after a person's decision, with its edits made; the latest decision counts.

        What a person accepts has been read: the tag that says otherwise goes.

        Raises:
            pydantic.ValidationError: An edit that makes no valid case.
        """
        changed: dict[str, JsonValue] = {edit.field: edit.after for edit in review.edits}
        if review.decision == "accepted" and UNREVIEWED in self.case.tags:
            changed["tags"] = [tag for tag in self.case.tags if tag != UNREVIEWED]
        case = Case.model_validate({**self.case.model_dump(mode="json"), **changed}) if changed else self.case
        return self.model_copy(
            update={
                "case": case,
                "status": review.decision,
                "status_reason": review.reason,
                "decided_by": "review",
                "reviews": (*self.reviews, review),
            }
        )

    def accepted_unreviewed(self) -> "Draft":
        """The draft taken as it is; the case's tags say that nobody read it."""
        return self.model_copy(
            update={
                "case": as_unreviewed(self.case),
                "status": "accepted",
                "status_reason": "unreviewed",
                "decided_by": "unreviewed",
            }
        )

    def rejected(self, reason: str) -> "Draft":
        """The draft after a check threw it out."""
        return self.model_copy(update={"status": "rejected", "status_reason": reason, "decided_by": "check"})


def as_unreviewed(case: Case) -> Case:
    """The case with the tag that nobody read it."""
    return case.model_copy(update={"tags": tuple(dict.fromkeys((*case.tags, UNREVIEWED)))})
