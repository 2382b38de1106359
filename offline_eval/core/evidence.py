"""Evidence: what models and rules found out about a response. Metrics read it; nothing changes it."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from offline_eval.core.records import Record
from offline_eval.core.results import Status


class Guarantee(StrEnum):
    """How sure it is that an engine's output fits the requested form."""

    GRAMMAR = "grammar"
    SERVER_SCHEMA = "server_schema"
    NONE = "none"


class Provenance(Record):
    """Who made a piece of evidence, precisely enough to make it again.

    Attributes:
        producer: Registered name of the check.
        version: The check's version; raised when its output changes.
        parameters_hash: Hash of everything the check was set to (rubric included).
        engine_fingerprint: `EngineInfo.fingerprint`; None when no model was asked.
    """

    producer: str
    version: str
    parameters_hash: str
    engine_fingerprint: str | None = None


class Verdict(Record):
    """One judge's or one rule's grade on one dimension of one response.

    Attributes:
        label: The label as written on the wire (ASCII).
        grade: The label's place on the rubric's scale; None for labels without one.
        probabilities: Label to its probability before any mask, each in [0, 1]; empty when the engine gives none.
        off_label_mass: Probability the model gave to anything but the labels, in [0, 1].
        expected_grade: Mean grade under the probabilities, renormalised over the labels.
        margin: Probability of the best label less the runner-up's, renormalised over the labels, in [0, 1].
        note: The rule's own sentence, for a verdict decided by rule.
        window: `(i, n)` when the passages did not fit and were judged in n windows; this is the i-th, from 1.
        raw: What the model wrote, kept when it could not be read.
    """

    status: Status
    status_reason: str | None = None
    decided_by: Literal["judge", "rule"]
    label: str | None = None
    grade: float | None = None
    probabilities: dict[str, float] = Field(default_factory=dict)
    off_label_mass: float | None = None
    expected_grade: float | None = None
    margin: float | None = None
    note: str | None = None
    window: tuple[int, int] | None = None
    raw: str | None = None

    @model_validator(mode="after")
    def _label_matches_status(self) -> Self:
        if (self.label is not None) != (self.status is Status.SCORED):
            raise ValueError("a verdict has a label if and only if its status is 'scored'")
        if self.status is not Status.SCORED and not self.status_reason:
            raise ValueError(f"a verdict with status {self.status!r} needs a reason")
        return self


class VerdictEvidence(Record):
    """A verdict with its place in the run.

    Attributes:
        response_key: `Response.key`.
        dimension: The rubric's dimension, for example `faithfulness`.
        rubric: `name.language@version`.
        judge: Registered name of the judge model, or `rule`.
        role: `examiner` for the panel's own judges, `arbiter` for one asked after a disagreement.
    """

    kind: Literal["verdict"] = "verdict"
    response_key: str
    dimension: str
    rubric: str
    judge: str
    role: Literal["examiner", "arbiter"] = "examiner"
    guarantee: Guarantee
    verdict: Verdict
    prompt_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    provenance: Provenance


class ReasonEvidence(Record):
    """Why a judge gave a label: the second half of its verdict, written with the label already fixed.

    Attributes:
        quote: Copied from the material, or empty.
        quote_verbatim: Whether the quote stands in the shown material word for word; None without a quote.
        whole: The whole verdict as one JSON object, valid by construction.
    """

    kind: Literal["reason"] = "reason"
    response_key: str
    dimension: str
    rubric: str
    judge: str
    role: Literal["examiner", "arbiter"] = "examiner"
    status: Status
    status_reason: str | None = None
    quote: str | None = None
    quote_verbatim: bool | None = None
    reason: str | None = None
    whole: str | None = None
    raw: str | None = None
    prompt_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    provenance: Provenance


class RefusalEvidence(Record):
    """Whether the answer declines to answer.

    Attributes:
        matched: The words that gave it away; None when it is not a refusal.
    """

    kind: Literal["refusal"] = "refusal"
    response_key: str
    refused: bool
    matched: str | None = None
    provenance: Provenance


Evidence = Annotated[VerdictEvidence | ReasonEvidence | RefusalEvidence, Field(discriminator="kind")]

_EVIDENCE: TypeAdapter[Evidence] = TypeAdapter(Evidence)


def parse_evidence(data: object) -> Evidence:
    """Read one piece of evidence back from JSON data.

    Raises:
        pydantic.ValidationError: The data is not evidence of a known kind.
    """
    return _EVIDENCE.validate_python(data)
