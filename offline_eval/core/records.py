"""What is asked, what is true and what a system answered: the records everything else is computed from."""

from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from offline_eval.core.hashing import digest


@cache
def _field_names(kind: type[BaseModel]) -> set[str]:
    return set(kind.model_fields)


class Record(BaseModel):
    """A frozen value: unknown fields are refused, numbers are finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def model_post_init(self, context: Any, /) -> None:
        """Let all records of a kind share one set of field names; a set for each would be most of a large run's memory.

        What is stored leaves out defaults, never unset fields, so nobody asks which fields were given.
        """
        object.__setattr__(self, "__pydantic_fields_set__", _field_names(type(self)))

    def content_hash(self) -> str:
        """Hash of the record's whole content under its own type name."""
        return digest(type(self).__name__, self.model_dump(mode="json"))


class Passage(Record):
    """One retrieved piece of a document, in the order the system ranked it.

    Attributes:
        score: The retriever's own score, any real number.
    """

    id: str = Field(min_length=1)
    text: str
    title: str | None = None
    doc_id: str | None = None
    date: str | None = None
    score: float | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class Case(Record):
    """One question with what is known to be true about it.

    Attributes:
        key_points: What a complete answer says, usually three to five sentences.
        relevant_passages: Passage id to relevance grade, 0 or more (qrels).
        relevant_documents: Document id to relevance grade, 0 or more (qrels).
        answerable: Whether the corpus holds the answer; None when nobody said.
        variants: Paraphrases of the query.
    """

    id: str = Field(min_length=1)
    query: str
    language: str | None = None
    query_type: str | None = None
    difficulty: str | None = None
    reference: str | None = None
    key_points: tuple[str, ...] = ()
    relevant_passages: dict[str, int] = Field(default_factory=dict)
    relevant_documents: dict[str, int] = Field(default_factory=dict)
    answerable: bool | None = None
    variants: tuple[str, ...] = ()
    origin: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class Response(Record):
    """What a system under test returned for one case.

    Attributes:
        variant: Index into the case's `variants`; None for the query itself.
        attempt: 1 for the first try; several attempts of one case are allowed.
        rankings: Retriever name to passage ids, best first, when several retrievers are compared.
        citations: Ids of the passages the answer cites.
        feedback: What the system's user thought: 1 thumbs up, -1 thumbs down.
        error: Why there is no answer (time-out, HTTP status, exception); then nothing is judged.
    """

    case_id: str = Field(min_length=1)
    system: str = Field(default="system", min_length=1)
    variant: int | None = Field(default=None, ge=0)
    attempt: int = Field(default=1, ge=1)
    answer: str = ""
    passages: tuple[Passage, ...] = ()
    rankings: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    citations: tuple[str, ...] = ()
    feedback: int | None = Field(default=None, ge=-1, le=1)
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    error: str | None = None

    @property
    def key(self) -> str:
        """The response's identity inside a run: case, system, variant and attempt."""
        variant = "" if self.variant is None else f"~{self.variant}"
        attempt = "" if self.attempt == 1 else f"#{self.attempt}"
        return f"{self.system}/{self.case_id}{variant}{attempt}"


def query_of(case: Case, response: Response) -> str:
    """The wording the system was asked with: the case's query or one of its variants."""
    if response.variant is None or response.variant >= len(case.variants):
        return case.query
    return case.variants[response.variant]


def as_json(record: Record) -> dict[str, Any]:
    """The record as JSON data with defaults left out, the form that is stored and shown."""
    return record.model_dump(mode="json", exclude_defaults=True)
