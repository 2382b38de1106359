"""What came of a generation, counted: wanted and kept by type, thrown out by reason, let pass by each check."""

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from offline_eval.core.records import Record
from offline_eval.core.results import Interval
from offline_eval.stats.intervals import wilson
from offline_eval.testset.draft import Draft, QuestionType
from offline_eval.testset.generate import GenerationSettings
from offline_eval.testset.plan import wanted_counts


class TypeCount(Record):
    """One type of question.

    Attributes:
        wanted: By the plan.
        kept: That no check threw out.
        tried: Drafts that were written.
        rejected: Reason to drafts thrown out for it.
        shortfall: Why fewer were kept than wanted; None when they were not.
    """

    type: QuestionType
    wanted: int = Field(ge=0)
    kept: int = Field(ge=0)
    tried: int = Field(ge=0)
    rejected: dict[str, int] = Field(default_factory=dict)
    shortfall: str | None = None


class StepRate(Record):
    """How often one step or check let a draft through.

    Attributes:
        passed: Drafts it let pass; of checks named `distractor…`, wrong answers, without which a draft can stay.
        looked_at: Drafts, or wrong answers, that it could judge.
        rejected: Reason to those it did not let pass.
        not_checked: Reason to drafts that it could not.
        interval: Of the rate, 95 %, Wilson; None when it judged none.
        threshold: What it compared with; None where it compares nothing, or by language.
    """

    step: str
    passed: int = Field(ge=0)
    looked_at: int = Field(ge=0)
    rejected: dict[str, int] = Field(default_factory=dict)
    not_checked: dict[str, int] = Field(default_factory=dict)
    interval: Interval | None = None
    threshold: float | None = None


class Tally(Record):
    """The whole generation."""

    types: tuple[TypeCount, ...]
    steps: tuple[StepRate, ...]

    @property
    def kept(self) -> int:
        """Drafts that no check threw out."""
        return sum(count.kept for count in self.types)

    @property
    def wanted(self) -> int:
        """Questions by the plan."""
        return sum(count.wanted for count in self.types)

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """Why drafts were thrown out, with how many, the commonest first."""
        found: Counter[str] = Counter()
        for count in self.types:
            found.update(count.rejected)
        return found.most_common()


def tally(drafts: Sequence[Draft], settings: GenerationSettings) -> Tally:
    """Count.

    Args:
        drafts: As they were made, before any review.
    """
    wanted = wanted_counts(settings.mix, settings.size)
    return Tally(
        types=tuple(_type_count(kind, number, drafts, settings) for kind, number in wanted.items()),
        steps=tuple(step_rates(drafts)),
    )


def step_rates(drafts: Sequence[Draft]) -> list[StepRate]:
    """How much each step of the writing gave and each check let pass, in the order drafts meet them."""
    outcomes: dict[str, list[tuple[str, str | None]]] = {}
    thresholds: dict[str, set[float]] = {}
    for draft in drafts:
        for step in draft.steps:
            code = step.failure.partition(":")[0] if step.failure else None
            outcomes.setdefault(f"write {step.step}", []).append(("rejected" if code else "passed", code))
        for check in draft.checks:
            outcomes.setdefault(f"check {check.check}", []).append((check.outcome, check.reason))
            if check.threshold is not None:
                thresholds.setdefault(f"check {check.check}", set()).add(check.threshold)
    one = {step: next(iter(values)) for step, values in thresholds.items() if len(values) == 1}
    return [_rate(step, found, one.get(step)) for step, found in outcomes.items()]


def _type_count(kind: QuestionType, wanted: int, drafts: Sequence[Draft], settings: GenerationSettings) -> TypeCount:
    ours = [draft for draft in drafts if draft.type == kind]
    rejected = Counter(draft.status_reason or "" for draft in ours if draft.status == "rejected")
    kept = len(ours) - rejected.total()
    return TypeCount(
        type=kind,
        wanted=wanted,
        kept=kept,
        tried=len(ours),
        rejected=dict(rejected.most_common()),
        shortfall=_shortfall(kind, wanted, ours, settings),
    )


def _shortfall(kind: QuestionType, wanted: int, drafts: Sequence[Draft], settings: GenerationSettings) -> str | None:
    rejected = Counter(draft.status_reason or "" for draft in drafts if draft.status == "rejected")
    if len(drafts) - rejected.total() >= wanted:
        return None
    if not drafts:
        why = "the step links was left out" if "links" not in settings.steps else "no two passages belong together"
        return f"nothing to ask about: {why}" if kind == "multi_hop" else "nothing to ask about"
    reasons = ", ".join(f"{reason} {count}" for reason, count in rejected.most_common()) or "none"
    tries = [draft.provenance for draft in drafts if draft.provenance is not None]
    places = len({made.slot for made in tries})
    if 0 < places < wanted:
        return f"passages that belong together give at most {places} different questions; thrown out: {reasons}"
    attempts = max(settings.attempts, *(made.attempt for made in tries)) if tries else settings.attempts
    return f"{attempts} attempts each were used up; thrown out: {reasons}"


def _rate(step: str, outcomes: Sequence[tuple[str, str | None]], threshold: float | None) -> StepRate:
    passed = sum(outcome == "passed" for outcome, _ in outcomes)
    looked_at = sum(outcome != "not_checked" for outcome, _ in outcomes)
    interval = wilson(passed, looked_at) if looked_at else None
    return StepRate(
        step=step,
        passed=passed,
        looked_at=looked_at,
        rejected=_counted(outcomes, "rejected"),
        not_checked=_counted(outcomes, "not_checked"),
        interval=interval if isinstance(interval, Interval) else None,
        threshold=threshold,
    )


def _counted(outcomes: Sequence[tuple[str, str | None]], wanted: str) -> dict[str, int]:
    """Reason to how often it stands beside one outcome, the commonest first."""
    return dict(Counter(reason or "" for outcome, reason in outcomes if outcome == wanted).most_common())
