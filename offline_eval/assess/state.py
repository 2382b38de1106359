"""What is known of one request so far, and how much time it has left; every stage adds to it and changes nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from offline_eval.assess.policy import Policy
from offline_eval.assess.protocols import StageCallback
from offline_eval.assess.records import KeptPassage, Stage, StageEvent, StageTiming
from offline_eval.assess.stages import Found
from offline_eval.assess.timed import Outcome
from offline_eval.confidence.signals import Signal, SignalStatus, missing
from offline_eval.core.evidence import AnswerabilityEvidence, Conflict, ContradictionEvidence, Evidence
from offline_eval.core.records import Passage

SIGNAL_OF = {
    Stage.ANSWERABILITY: "answerability",
    Stage.CONSENSUS: "consensus",
    Stage.ALIGNMENT: "alignment",
    Stage.CONTRADICTION: "coherence",
    Stage.GENERATE: "generation",
    Stage.GROUNDING: "grounding",
    Stage.CITATIONS: "citations",
}
_SHARES = {Stage.RETRIEVE: 0.4, Stage.GENERATE: 0.8}


@dataclass(frozen=True)
class State:
    """A request on its way.

    Attributes:
        signals: Of the stages that are over.
        answer: Empty until there is one.
        early_exit: Why nothing is generated.
    """

    query: str
    language: str
    passages: tuple[KeptPassage, ...] = ()
    rankings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    signals: tuple[Signal, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    answer: str = ""
    citations: tuple[str, ...] = ()
    early_exit: str | None = None

    def plus(self, *found: Found) -> "State":
        """With what stages found out."""
        signals = tuple(signal for one in found for signal in one.signals)
        evidence = tuple(piece for one in found for piece in one.evidence)
        return replace(self, signals=self.signals + signals, evidence=self.evidence + evidence)

    def value(self, name: str) -> float | None:
        """A signal's value; None without one."""
        return next((signal.value for signal in self.signals if signal.name == name), None)

    @property
    def shown(self) -> tuple[Passage, ...]:
        """Passages the answer may rest on: those the generator was shown."""
        return tuple(entry.passage for entry in self.passages if entry.in_context)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Between passages."""
        return tuple(c for piece in self.evidence if isinstance(piece, ContradictionEvidence) for c in piece.conflicts)

    @property
    def best_chunks(self) -> dict[str, tuple[int, int]]:
        """Passage id to the part of it that answers best, where the encoder said so."""
        pieces = (piece for piece in self.evidence if isinstance(piece, AnswerabilityEvidence))
        return {
            id_: cell.chunk
            for piece in pieces
            for id_, cell in zip(piece.passage_ids, piece.passages, strict=False)
            if cell.chunk is not None
        }

    def with_answerability(self) -> "State":
        """With each passage's own probability of an answer beside it."""
        pieces = [piece for piece in self.evidence if isinstance(piece, AnswerabilityEvidence)]
        known = {
            id_: cell.entailment
            for piece in pieces
            for id_, cell in zip(piece.passage_ids, piece.passages, strict=False)
        }
        kept = tuple(p.model_copy(update={"answers": known.get(p.passage.id)}) for p in self.passages)
        return replace(self, passages=kept)


class Timekeeper:
    """One request's clock: what is left of its deadline, what each stage took, who is told.

    Args:
        clock: Seconds, rising.
    """

    def __init__(
        self, policy: Policy, deadline_s: float | None, *, clock: Callable[[], float], on_stage: StageCallback | None
    ) -> None:
        self._clock = clock
        self._limits = policy.stage_limits_s
        self._begin = clock()
        self._end = self._begin + (policy.deadline_s if deadline_s is None else deadline_s)
        self._on_stage = on_stage
        self._timings: dict[Stage, float] = {}

    @property
    def timings(self) -> tuple[StageTiming, ...]:
        """In the order of the stages."""
        return tuple(StageTiming(stage=s, ms=self._timings[s]) for s in Stage if s in self._timings)

    @property
    def total_ms(self) -> float:
        """Since the request began."""
        return max(0.0, (self._clock() - self._begin) * 1000)

    def limit_s(self, stage: Stage) -> float:
        """Seconds a stage that begins now may take; 0 or less when the deadline has passed."""
        left = (self._end - self._clock()) * _SHARES.get(stage, 1.0)
        return min(left, self._limits.get(stage, left))

    def started(self, stages: Sequence[Stage]) -> None:
        """Tell that stages begin."""
        for stage in stages:
            self._tell(StageEvent(stage=stage, status="started"))

    def ended(self, stage: Stage, status: SignalStatus, ms: float) -> None:
        """Note how a stage ended."""
        self._timings[stage] = max(0.0, ms)
        told = {SignalStatus.TIMED_OUT: "timed_out", SignalStatus.FAILED: "failed", SignalStatus.SKIPPED: "skipped"}
        self._tell(
            StageEvent.model_validate({"stage": stage, "status": told.get(status, "finished"), "ms": max(0.0, ms)})
        )

    def skipped(self, stage: Stage) -> None:
        """Tell that a stage is left out."""
        self._tell(StageEvent(stage=stage, status="skipped"))

    def now_ms(self) -> float:
        """Milliseconds of the clock, for differences."""
        return self._clock() * 1000

    def _tell(self, event: StageEvent) -> None:
        if self._on_stage is not None:
            self._on_stage(event)


def found_by(stage: Stage, outcome: Outcome[Found]) -> Found:
    """What a stage found out; one that failed or ran out of time is its signal without a value."""
    if outcome.value is not None:
        return outcome.value
    return Found((missing(SIGNAL_OF[stage], outcome.status, outcome.reason or "no result"),))
