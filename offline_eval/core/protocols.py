"""What engines, checks, metrics and systems promise each other: batch-first, order-preserving, errors as items."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import Field, JsonValue

from offline_eval.core.evidence import Evidence, Guarantee
from offline_eval.core.hashing import digest
from offline_eval.core.records import Case, Record, Response
from offline_eval.core.results import Score


class Message(Record):
    """One turn of a conversation. No part of `content` can ever become a control token of the model."""

    role: Literal["system", "user", "assistant"]
    content: str


class LabelChoice(Record):
    """Exactly one of these labels; the engine also returns each label's unmasked probability."""

    kind: Literal["label"] = "label"
    labels: tuple[str, ...] = Field(min_length=2)


class ObjectTail(Record):
    """The rest of a JSON object whose opening stands in the prefill.

    Attributes:
        fields: The object's remaining string fields in order: name to longest value, in characters.
    """

    kind: Literal["object_tail"] = "object_tail"
    fields: dict[str, int] = Field(min_length=1)


class GenerateRequest(Record):
    """One constrained generation.

    Attributes:
        prefill: Start of the assistant's turn, already written.
    """

    messages: tuple[Message, ...] = Field(min_length=1)
    prefill: str = ""
    constraint: LabelChoice | ObjectTail = Field(discriminator="kind")


class Generation(Record):
    """What came back for one request.

    Attributes:
        label_logprobs: Natural log probability of every label before any mask; None when the engine has none.
    """

    kind: Literal["generation"] = "generation"
    text: str
    label_logprobs: dict[str, float] | None = None
    prompt_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)


class Failure(Record):
    """Why one item has no result.

    Attributes:
        reason: Short code, for example `off_menu`, `prompt_too_long`, `engine_error`, `time_limit`.
        raw: What the model wrote, where it wrote anything.
    """

    kind: Literal["failure"] = "failure"
    reason: str
    detail: str
    raw: str | None = None


class EngineInfo(Record):
    """Everything about an engine that can move a number.

    Attributes:
        weights_hash: One hash over all weight files.
        options: Engine options that were set, as JSON data.
    """

    engine: str
    model: str
    family: str
    weights_hash: str
    tokenizer_hash: str
    template_hash: str
    dtype: str
    device: str
    context_length: int = Field(gt=0)
    guarantee: Guarantee
    grammar_backend: str
    versions: dict[str, str] = Field(default_factory=dict)
    options: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Hash of all of the above."""
        return digest("EngineInfo", self.model_dump(mode="json"))


@runtime_checkable
class TextEngine(Protocol):
    """A language model that answers constrained requests."""

    @property
    def info(self) -> EngineInfo: ...

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]: ...

    def close(self) -> None: ...


@runtime_checkable
class PrefixCached(Protocol):
    """An engine that keeps what it computed of earlier prompts, and can forget it as if it had just been loaded."""

    def forget_prefixes(self) -> None: ...


class PairScorer(Protocol):
    """A cross-encoder.

    `score` returns one row a pair: label to probability for classifiers, `{"score": x}` for one-logit heads.
    """

    @property
    def info(self) -> EngineInfo: ...

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]: ...

    def close(self) -> None: ...


class Embedder(Protocol):
    """A text embedder; `embed` returns an array of shape (n_texts, dimension), float32, rows of length 1."""

    @property
    def info(self) -> EngineInfo: ...

    def embed(self, texts: Sequence[str]) -> Any: ...

    def close(self) -> None: ...


class Hit(Record):
    """One retrieved passage; higher scores are better."""

    passage_id: str
    score: float


class Retriever(Protocol):
    """Ranks a corpus; ties are broken by passage id, ascending."""

    @property
    def name(self) -> str: ...

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]: ...


class Item(Record):
    """A response with its case: the unit checks and metrics work on."""

    case: Case
    response: Response


class Metric(Protocol):
    """Pure arithmetic over one response's evidence. The docstring of the class is the metric's card.

    Attributes:
        name: Registered name, the stem of its file.
        low: Lowest possible value.
        high: Highest possible value.
        higher_is_better: Which end of the range is the good one; failed items are counted at the other.
        needs: Names of the checks whose evidence it reads.
    """

    @property
    def name(self) -> str: ...

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def higher_is_better(self) -> bool: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score: ...


@runtime_checkable
class GroupMetric(Protocol):
    """Pure arithmetic over several responses of one system to one case: its variants and attempts.

    Attributes:
        of: Name of the metric whose scores it compares; None when it compares the answers themselves.
    """

    @property
    def name(self) -> str: ...

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def higher_is_better(self) -> bool: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    @property
    def of(self) -> str | None: ...

    def score_group(self, case: Case, responses: Sequence[Response], scores: Sequence[Score]) -> Score: ...


EngineKind = Literal["judge", "nli", "answerability", "embedder"]


class Check(Protocol):
    """Makes evidence, of all items of a batch at once and in their order; nothing of it depends on the rest of the run.

    Attributes:
        name: Registered name, the stem of its file.
        version: Raised when its output changes.
        needs: Names of the checks whose evidence it reads.
        engine: The kind of engine it asks; None for rules alone.
    """

    name: str
    version: str
    needs: tuple[str, ...]
    engine: EngineKind | None

    def run(self, items: Sequence[Item], *, evidence: Mapping[str, Sequence[Evidence]], engine: Any) -> list[Evidence]:
        """Make evidence.

        Args:
            items: A batch of responses with their cases.
            evidence: Response key to the evidence of the checks it needs.
            engine: Of the kind it asks for; None to apply the rules alone.
        """
        ...


class RagSystem(Protocol):
    """A system under test; trouble with one case is a `Response` with `error` set."""

    @property
    def name(self) -> str: ...

    def answer(self, cases: Sequence[Case]) -> list[Response]: ...


ProgressCallback = Callable[[int, int], None]
"""Called with (done, total)."""
