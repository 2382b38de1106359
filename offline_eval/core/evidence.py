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
    """One judge's, one rule's or one screening encoder's grade on one dimension of one response.

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
    decided_by: Literal["judge", "rule", "screen"]
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
        role: `examiner` for the panel's own judges, `arbiter` for one asked after a disagreement, `screen` for the
            encoder that settles clear cases before any judge is asked.
    """

    kind: Literal["verdict"] = "verdict"
    response_key: str
    dimension: str
    rubric: str
    judge: str
    role: Literal["examiner", "arbiter", "screen"] = "examiner"
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


class Claim(Record):
    """One statement, with its place in the text it was taken from; without one when a judge reworded it."""

    text: str
    start: int | None = Field(default=None, ge=0)
    end: int | None = Field(default=None, ge=0)


class ClaimsEvidence(Record):
    """What a text states, one claim at a time.

    Attributes:
        source: The text: the response's answer, the case's reference, or its key points (split from the reference where
            none are given).
        none_because: Why there are no claims: `refusal`, `no_content`, `no_statement`; None when there are some.
    """

    kind: Literal["claims"] = "claims"
    response_key: str
    source: Literal["answer", "reference", "key_points"]
    status: Status = Status.SCORED
    status_reason: str | None = None
    claims: tuple[Claim, ...] = ()
    none_because: str | None = None
    provenance: Provenance


class Support(Record):
    """How one premise bears on one hypothesis.

    A long premise is read in chunks; support is the largest over them, and the chunk is named.

    Attributes:
        entailment: Probability that the best chunk entails the hypothesis, in [0, 1]; None when it could not be had.
        contradiction: The largest probability of a contradiction over the chunks, in [0, 1]; None when the model only
            tells supported from unsupported.
        chunk: Where the best chunk stands in the premise: first character and the one after the last.
        chunks: How many chunks were read; 0 when a rule decided.
        failure: Why there is no probability.
    """

    entailment: float | None = Field(default=None, ge=0, le=1)
    contradiction: float | None = Field(default=None, ge=0, le=1)
    chunk: tuple[int, int] | None = None
    chunks: int = Field(default=0, ge=0)
    decided_by: Literal["model", "rule"] = "model"
    failure: str | None = None

    @model_validator(mode="after")
    def _failure_matches(self) -> Self:
        if (self.entailment is None) != (self.failure is not None):
            raise ValueError("support has a probability or a failure, never both and never neither")
        return self


class EntailmentEvidence(Record):
    """A matrix: claims of one text × premises of another.

    Attributes:
        premise_ids: The passages' ids, or `reference` or `answer` alone.
        rows: One row a claim in the order of its `ClaimsEvidence`, one cell a premise.
        none_because: As in `ClaimsEvidence`, when there are no rows.
    """

    kind: Literal["entailment"] = "entailment"
    response_key: str
    hypotheses: Literal["answer", "reference", "key_points"]
    premises: Literal["passages", "reference", "answer"]
    premise_ids: tuple[str, ...] = ()
    status: Status = Status.SCORED
    status_reason: str | None = None
    rows: tuple[tuple[Support, ...], ...] = ()
    none_because: str | None = None
    provenance: Provenance


class AnswerabilityEvidence(Record):
    """Whether the passages hold an answer to the query.

    Attributes:
        passages: Each passage alone, in the response's order; `entailment` is the probability of an answer.
        together: All passages as one text, in their order.
    """

    kind: Literal["answerability"] = "answerability"
    response_key: str
    status: Status = Status.SCORED
    status_reason: str | None = None
    passage_ids: tuple[str, ...] = ()
    passages: tuple[Support, ...] = ()
    together: Support | None = None
    provenance: Provenance


class Conflict(Record):
    """Two sentences of two passages that cannot both be true.

    Attributes:
        by: `number`, `date` or `negation` when a rule found it, `nli` when the model did.
        probability: The model's, in [0, 1]; None for a rule.
    """

    first_id: str
    second_id: str
    first: str
    second: str
    by: Literal["number", "date", "negation", "nli"]
    probability: float | None = Field(default=None, ge=0, le=1)


class ContradictionEvidence(Record):
    """Conflicts between the passages.

    Attributes:
        pairs: Pairs of passages that were compared.
        compared: Pairs of sentences about the same thing among them.
        by_model: Whether a model was asked about what rules cannot see; when not, `model_reason` says why.
    """

    kind: Literal["contradiction"] = "contradiction"
    response_key: str
    pairs: int = Field(ge=0)
    compared: int = Field(ge=0)
    conflicts: tuple[Conflict, ...] = ()
    by_model: bool
    model_reason: str | None = None
    provenance: Provenance


class EntityFound(Record):
    """A name, number or date with the first passage that has it; None when none does."""

    text: str
    passage_id: str | None = None


class EntitiesEvidence(Record):
    """Entities of a text, each looked for in the passages."""

    kind: Literal["entities"] = "entities"
    response_key: str
    source: Literal["answer", "reference"]
    status: Status = Status.SCORED
    status_reason: str | None = None
    entities: tuple[EntityFound, ...] = ()
    provenance: Provenance


class CitedStatement(Record):
    """A statement of the answer with what it cites.

    Attributes:
        cited: Ids of the passages it cites, in the order of the marks.
        unknown: Marks that point to no passage of the response.
        support: One cell a cited passage.
    """

    text: str
    cited: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    support: tuple[Support, ...] = ()


class CitationsEvidence(Record):
    """Whether the cited passages support the sentences that cite them."""

    kind: Literal["citations"] = "citations"
    response_key: str
    status: Status = Status.SCORED
    status_reason: str | None = None
    statements: tuple[CitedStatement, ...] = ()
    none_because: str | None = None
    provenance: Provenance


class QuestionsEvidence(Record):
    """Questions that a judge made from the answer alone."""

    kind: Literal["questions"] = "questions"
    response_key: str
    status: Status = Status.SCORED
    status_reason: str | None = None
    questions: tuple[str, ...] = ()
    none_because: str | None = None
    prompt_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    provenance: Provenance


class SimilarityEvidence(Record):
    """Cosine of the query's embedding with others.

    Attributes:
        to: What the query was compared with.
        ids: Passage ids, or the questions' numbers from 1.
        similarities: One an id, in [-1, 1].
    """

    kind: Literal["similarity"] = "similarity"
    response_key: str
    to: Literal["passages", "questions"]
    status: Status = Status.SCORED
    status_reason: str | None = None
    ids: tuple[str, ...] = ()
    similarities: tuple[float, ...] = ()
    none_because: str | None = None
    provenance: Provenance


Evidence = Annotated[
    VerdictEvidence
    | ReasonEvidence
    | RefusalEvidence
    | ClaimsEvidence
    | EntailmentEvidence
    | AnswerabilityEvidence
    | ContradictionEvidence
    | EntitiesEvidence
    | CitationsEvidence
    | QuestionsEvidence
    | SimilarityEvidence,
    Field(discriminator="kind"),
]

_EVIDENCE: TypeAdapter[Evidence] = TypeAdapter(Evidence)


def parse_evidence(data: object) -> Evidence:
    """Read one piece of evidence back from JSON data.

    Raises:
        pydantic.ValidationError: The data is not evidence of a known kind.
    """
    return _EVIDENCE.validate_python(data)


def read_evidence(text: str) -> Evidence:
    """Read one piece of evidence back from the JSON text that was stored.

    Raises:
        pydantic.ValidationError: The text is not evidence of a known kind.
    """
    return _EVIDENCE.validate_json(text)
