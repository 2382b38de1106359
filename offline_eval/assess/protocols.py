"""What an assessment asks of somebody's retrievers and generator, and of the encoders that check them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from offline_eval.assess.records import StageEvent
from offline_eval.core.evidence import Conflict
from offline_eval.core.protocols import Embedder, PairScorer
from offline_eval.core.records import Passage, Record


@runtime_checkable
class PassageRetriever(Protocol):
    """Finds passages for a query; trouble is raised and becomes a named signal."""

    @property
    def name(self) -> str:
        """What signals and rankings call it."""
        ...

    @property
    def version(self) -> str:
        """Changes when its results may change; part of the cache key."""
        ...

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        """At most k passages, best first, each with its text."""
        ...


class GenerationRequest(Record):
    """What the generator is given.

    Attributes:
        prompt: Instruction, fenced passages, marked contradictions and the question in one text.
        passages: Those inside the prompt, as shown.
        contradictions: Those between the shown passages.
    """

    query: str
    language: str
    prompt: str
    passages: tuple[Passage, ...]
    contradictions: tuple[Conflict, ...] = ()


class Generated(Record):
    """An answer.

    Attributes:
        citations: Ids of the passages it says it used.
    """

    answer: str
    citations: tuple[str, ...] = ()


@runtime_checkable
class Generator(Protocol):
    """Writes an answer; trouble is raised and becomes a named signal."""

    @property
    def name(self) -> str:
        """What signals and rankings call it."""
        ...

    @property
    def version(self) -> str:
        """Changes when its results may change; part of the cache key."""
        ...

    def generate(self, request: GenerationRequest) -> Generated:
        """Answer from the passages of the request."""
        ...


@dataclass(frozen=True)
class Encoders:
    """The encoders that check; one that is None makes its signals missing, never good.

    Attributes:
        support: Reads premise and claim (`entailment`, perhaps `contradiction`).
        answerability: Reads query and passage.
        embedder: For alignment.
    """

    support: PairScorer | None = None
    answerability: PairScorer | None = None
    embedder: Embedder | None = None

    def close(self) -> None:
        """Close all of them."""
        for engine in (self.support, self.answerability, self.embedder):
            if engine is not None:
                engine.close()


StageCallback = Callable[[StageEvent], None]
