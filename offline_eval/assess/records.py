"""What an assessment says: the tier, every signal with its status, the marked claims, and the text a reader gets."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from offline_eval.confidence.combine import Confidence
from offline_eval.confidence.profile import Tier
from offline_eval.confidence.signals import Signal, SignalStatus
from offline_eval.core.evidence import Conflict
from offline_eval.core.records import Passage, Record


class Stage(StrEnum):
    """The stages, in their order; those between `retrieve` and `context` run side by side."""

    RETRIEVE = "retrieve"
    ANSWERABILITY = "answerability"
    CONSENSUS = "consensus"
    ALIGNMENT = "alignment"
    CONTRADICTION = "contradiction"
    CONTEXT = "context"
    GENERATE = "generate"
    GROUNDING = "grounding"
    CITATIONS = "citations"
    CONFIDENCE = "confidence"
    WORDING = "wording"


class Mark(StrEnum):
    """What was found out about a claim; `unchecked` when the encoder could not be asked."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    UNCHECKED = "unchecked"


class ClaimMark(Record):
    """One claim of the answer.

    Attributes:
        start: First character in the answer; None when it has no place there.
        end: The character after its last.
        support: Largest probability that a passage entails it, in [0, 1]; None when it was not checked.
        passage_ids: Passages that support it; for a contradicted claim those that contradict it.
        reason: Why it was not checked.
    """

    text: str
    start: int | None = Field(default=None, ge=0)
    end: int | None = Field(default=None, ge=0)
    mark: Mark
    support: float | None = Field(default=None, ge=0, le=1)
    passage_ids: tuple[str, ...] = ()
    reason: str | None = None


class KeptPassage(Record):
    """A retrieved passage with what became of it.

    Attributes:
        retrievers: Names of those that found it.
        answers: Probability that it answers the query, in [0, 1]; None when it was not asked.
        in_context: Whether the generator was shown it, whole or as an excerpt.
        excerpt: First character shown and the one after the last; None for the whole text.
        set_aside: Why the generator was not shown it.
    """

    passage: Passage
    retrievers: tuple[str, ...] = ()
    answers: float | None = Field(default=None, ge=0, le=1)
    in_context: bool = False
    excerpt: tuple[int, int] | None = None
    set_aside: str | None = None


DoubtKind = Literal[
    "contradiction",
    "unsupported_claims",
    "old_source",
    "undated_source",
    "missing_part",
    "retrievers_disagree",
    "off_topic",
    "not_answerable",
    "instructions_in_passage",
    "bad_citations",
    "not_checked",
    "no_passages",
    "no_answer",
]


class Doubt(Record):
    """Something a reader should know before relying on the answer.

    Attributes:
        signal: The signal it comes from.
        items: What it is about: passage ids, claims, words, signal names.
        text: The sentence in the reader's language.
    """

    kind: DoubtKind
    signal: str
    items: tuple[str, ...] = ()
    text: str = ""


class StageTiming(Record):
    """How long a stage took, in milliseconds of wall-clock time."""

    stage: Stage
    ms: float = Field(ge=0)


class StageEvent(Record):
    """Told while an assessment is under way.

    Attributes:
        status: `started`, or how it ended.
        ms: Of the stage, once it has ended.
    """

    stage: Stage
    status: Literal["started", "finished", "skipped", "timed_out", "failed"]
    ms: float | None = Field(default=None, ge=0)


class Assessment(Record):
    """The full result for one query.

    Attributes:
        tier: Same as `confidence.tier`.
        action: What the text does: gives the answer, gives it with its doubts, asks back, or hands over to a person.
        answer: What the generator (or the caller) said, word for word; empty when there is none.
        text: What a reader is shown.
        limiting: Name of the signal that limits the confidence.
        contradictions: Between passages.
        clarify: Search terms offered instead of an answer.
        early_exit: Why nothing was generated; None when the generator was asked.
        degraded: Whether a stage failed or ran out of time.
        versions: What could move the result: program, profile, wording, engines, generator, retrievers.
        cached: Whether it was computed for an earlier request over the same passages.
    """

    query: str
    language: str
    profile: str
    tier: Tier
    action: Literal["answer", "answer_with_doubt", "ask", "hand_over"]
    confidence: Confidence
    signals: tuple[Signal, ...]
    limiting: str | None = None
    answer: str = ""
    text: str
    claims: tuple[ClaimMark, ...] = ()
    contradictions: tuple[Conflict, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    passages: tuple[KeptPassage, ...] = ()
    rankings: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    clarify: tuple[str, ...] = ()
    early_exit: str | None = None
    degraded: bool = False
    timings: tuple[StageTiming, ...] = ()
    total_ms: float = Field(default=0.0, ge=0)
    versions: dict[str, str] = Field(default_factory=dict)
    cached: bool = False

    def signal(self, name: str) -> Signal | None:
        """The signal of this name; None when there is none."""
        return next((signal for signal in self.signals if signal.name == name), None)


__all__ = [
    "Assessment",
    "ClaimMark",
    "Confidence",
    "Doubt",
    "DoubtKind",
    "KeptPassage",
    "Mark",
    "Signal",
    "SignalStatus",
    "Stage",
    "StageEvent",
    "StageTiming",
    "Tier",
]
