"""Thresholds a run is held against, and what became of each: the form of a gates file and of its outcome."""

from typing import Literal, Self

from pydantic import Field, model_validator

from offline_eval.core.comparison import Difference
from offline_eval.core.records import Record
from offline_eval.core.results import Interval

COVERAGE = "coverage"
REVIEW_LOAD = "review_load"

Bound = Literal["value", "lower bound", "upper bound"]
WhyCode = Literal[
    "missed",
    "missed_of",
    "no_interval",
    "empty_slice",
    "nothing_scored",
    "applies_nowhere",
    "no_verdicts",
    "no_baseline",
    "no_pair",
    "no_worst_value",
]


class Requirement(Record):
    """The condition of a gate: the value or one end of its interval, and the limit it is held against."""

    bound: Bound
    sign: Literal["≥", "≤"]
    limit: float


class Why(Record):
    """Why a gate did not pass, as a code and its values; the wording of every code is the reports'.

    Attributes:
        code: `missed` the limit, `missed_of` with the metric that was worst; `no_interval` to hold against it;
            `empty_slice`; `nothing_scored`; `applies_nowhere`: no metric of the run does; `no_verdicts` that could be
            sent to review; `no_baseline` with this system; `no_pair` scored on both sides; `no_worst_value` for a
            failed item on the metric's range.
        values: Of `missed` and `missed_of`: held, metric; of `no_interval`: why; of `empty_slice`: slice.
        unscored: Of `nothing_scored`: status and reason, each once, three at most.
    """

    code: WhyCode
    values: dict[str, str | float] = Field(default_factory=dict)
    unscored: tuple[tuple[str, str], ...] = ()


class Gate(Record):
    """One threshold.

    Attributes:
        metric: A metric's name, `coverage` (share scored of what applies) or `review_load` (share sent to review).
        of: The metric whose coverage is meant; None for the worst over the run's metrics.
        at_least: The measured value must not lie below this.
        at_most: The measured value must not lie above this.
        use: `bound` holds the interval's bad end against the limit, `value` the value alone.
        slice: `all`, or `query_type=…`, `language=…`, `tag=…`.
        system: One of the run's systems; None for each of them.
        difference: Measure the paired difference to the baseline instead of the value.
        case_at_least: Measure the share of cases whose value is this or more.
        case_at_most: Measure the share of cases whose value is this or less.
        name: What reports call it; None for a name made of the rest.
    """

    metric: str = Field(min_length=1)
    of: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    use: Literal["bound", "value"] = "bound"
    slice: str = "all"
    system: str | None = None
    difference: bool = False
    case_at_least: float | None = None
    case_at_most: float | None = None
    name: str | None = None

    @model_validator(mode="after")
    def _is_one_threshold(self) -> Self:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("needs either at_least or at_most")
        if self.case_at_least is not None and self.case_at_most is not None:
            raise ValueError("takes case_at_least or case_at_most, not both")
        counts_cases = self.case_at_least is not None or self.case_at_most is not None
        if counts_cases and self.difference:
            raise ValueError("a share of cases cannot be a difference")
        if self.metric in (COVERAGE, REVIEW_LOAD) and (counts_cases or self.difference):
            raise ValueError(f"{self.metric} takes neither difference nor case_at_least/case_at_most")
        if self.of is not None and self.metric != COVERAGE:
            raise ValueError("`of` belongs to coverage")
        if self.slice != "all" and self.slice.partition("=")[0] not in ("query_type", "language", "tag"):
            raise ValueError(f"slice {self.slice!r}: write all, query_type=…, language=… or tag=…")
        return self

    @property
    def title(self) -> str:
        """Its name, or one made of what it measures."""
        if self.name is not None:
            return self.name
        parts = [self.metric + (f" of {self.of}" if self.of else "")]
        if self.case_at_least is not None:
            parts.append(f"share of cases ≥ {self.case_at_least:g}")
        if self.case_at_most is not None:
            parts.append(f"share of cases ≤ {self.case_at_most:g}")
        if self.difference:
            parts.append("difference to the baseline")
        if self.slice != "all":
            parts.append(self.slice)
        return ", ".join(parts)

    @property
    def required(self) -> Requirement:
        """The condition."""
        is_least = self.at_least is not None
        bound: Bound = "value" if self.use == "value" else ("lower bound" if is_least else "upper bound")
        return Requirement(bound=bound, sign="≥" if is_least else "≤", limit=self.limit)

    @property
    def limit(self) -> float:
        """The threshold itself."""
        return self.at_least if self.at_least is not None else self.at_most or 0.0


class GateResult(Record):
    """What became of a gate for one system.

    Attributes:
        outcome: `undetermined` when there was nothing to hold against the limit; it counts as not passed.
        value: None when nothing was scored.
        n: Items with a value.
        n_failed: Failed items; they count at the end of the range that the gate guards against.
        reason: Why it did not pass; None when it did.
    """

    gate: str
    required: Requirement
    system: str
    slice: str
    outcome: Literal["passed", "failed", "undetermined"]
    value: float | None
    interval: Interval | None
    n: int = Field(ge=0)
    n_failed: int = Field(ge=0)
    reason: Why | None = None


class GateReport(Record):
    """A run held against its gates.

    Attributes:
        passed: Whether every gate did; a run without gates did not.
        notes: What differs from the baseline's run, when that was allowed.
    """

    run_id: str
    baseline: str | None
    passed: bool
    results: tuple[GateResult, ...]
    notes: tuple[Difference, ...] = ()
