"""Two systems or more on the same cases, as data: what a comparison says, apart from how it is shown."""

from typing import Literal

from pydantic import Field

from offline_eval.core.records import Record
from offline_eval.core.results import Interval

Outcome = Literal["better", "worse", "cannot tell"]


class Compared(Record):
    """One side of a comparison.

    Attributes:
        label: How it is called in this comparison; unique there.
        n: Its responses.
    """

    label: str
    run_id: str
    system: str
    n: int = Field(ge=0)


class Difference(Record):
    """Something that differs between two runs beside their systems.

    Attributes:
        what: What it is, by the name that reports have words for.
        detail: Both sides' values.
    """

    what: str
    detail: str


class Mismatch(Record):
    """Something that differs between two runs and makes their numbers hard to compare.

    Attributes:
        what: For example `test set`, `judges`, `rubrics`.
        blocks: Whether a comparison is refused because of it.
        detail: What differs, with both sides' values.
    """

    what: str
    blocks: bool
    label: str
    detail: str


class MetricComparison(Record):
    """One metric, a candidate against the baseline, over the responses that both have.

    Attributes:
        difference: Candidate less baseline, mean over pairs, failed items counted at the bad end of the metric's range;
            None when undefined, with the reason.
        n: Pairs.
        n_left_out: Pairs to which the metric does not apply on one side.
        unpaired: Responses that only one side has.
        failed_baseline: Pairs whose baseline item failed.
        p: Two-sided, before the correction; None when no pair differs.
        adjusted_p: After Holm's correction over everything in the comparison.
        smallest_difference: What this many cases show with power .8; None without spread.
        verdict: By interval and adjusted p together.
    """

    metric: str
    higher_is_better: bool
    baseline: str
    candidate: str
    baseline_mean: float | None
    candidate_mean: float | None
    difference: float | None
    reason: str | None = None
    interval: Interval | None
    interval_reason: str | None = None
    n: int = Field(ge=0)
    n_left_out: int = Field(ge=0)
    unpaired: int = Field(ge=0)
    failed_baseline: int = Field(ge=0)
    failed_candidate: int = Field(ge=0)
    wins: int = Field(ge=0)
    ties: int = Field(ge=0)
    losses: int = Field(ge=0)
    p: float | None
    p_method: str
    adjusted_p: float | None = None
    smallest_difference: float | None
    verdict: Outcome


class Moved(Record):
    """A case on which the candidate did much better or worse.

    Attributes:
        cell: Case, variant and attempt.
        change: Candidate less baseline; failed items count at the bad end.
        baseline_text: Value, or the reason why it failed.
    """

    metric: str
    baseline: str
    candidate: str
    cell: str
    query: str
    change: float
    gain: bool
    baseline_text: str
    candidate_text: str
    baseline_answer: str
    candidate_answer: str


class Comparison(Record):
    """The first side against each of the others.

    Attributes:
        level: Coverage of the intervals; 1 less it is the error rate of the verdicts.
        left_out: Metrics that not every side has.
        n_tests: Tests the correction is for.
    """

    sides: tuple[Compared, ...]
    metrics: tuple[MetricComparison, ...]
    mismatches: tuple[Mismatch, ...]
    moved: tuple[Moved, ...]
    left_out: tuple[str, ...]
    n_tests: int
    level: float
    seed: int
