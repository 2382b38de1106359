"""Score and Estimate: a number exists only where something was scored; everything else is a status with a reason."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from offline_eval.core.records import Record


class Status(StrEnum):
    """Whether there is a value."""

    SCORED = "scored"
    NOT_APPLICABLE = "not_applicable"
    FAILED = "failed"


class Score(Record):
    """One metric on one response.

    `value` is set if and only if `status` is `scored`; any other status has a `reason`.

    Attributes:
        response_key: `Response.key`; for a group metric, the case id with its system.
        cluster: What resampling keeps together, the case id.
    """

    metric: str
    response_key: str
    cluster: str
    system: str
    status: Status
    value: float | None = None
    reason: str | None = None

    @model_validator(mode="after")
    def _value_matches_status(self) -> Self:
        if (self.value is not None) != (self.status is Status.SCORED):
            raise ValueError("a score has a value if and only if its status is 'scored'")
        if self.status is not Status.SCORED and not self.reason:
            raise ValueError(f"a score with status {self.status!r} needs a reason")
        return self


class Interval(Record):
    """A two-sided interval.

    Attributes:
        level: Coverage aimed at, between 0 and 1.
        method: How it was computed, with its number of resamples where there are any.
        seed: Seed of the resampling; None for closed forms.
    """

    low: float
    high: float
    level: float
    method: str
    seed: int | None = None


class Estimate(Record):
    """A metric's mean over a system's responses, with everything needed to doubt it.

    Attributes:
        value: Mean with every failed item counted at the bad end of the metric's range, so that a crash can never make
            a system look better; None when nothing was scored.
        mean_scored: Mean of the scored items alone; the same as `value` when nothing failed.
        interval: None when it is undefined; then `interval_reason` says why.
        best: The mean if every failed item had the best possible value; None without a bounded range.
        reasons: Reason to count, for everything that was not scored.
    """

    metric: str
    system: str
    group: str = "all"
    value: float | None
    interval: Interval | None
    interval_reason: str | None = None
    n_scored: int = Field(ge=0)
    n_not_applicable: int = Field(ge=0)
    n_failed: int = Field(ge=0)
    mean_scored: float | None = None
    best: float | None = None
    reasons: dict[str, int] = Field(default_factory=dict)

    @property
    def n(self) -> int:
        """All items, scored or not."""
        return self.n_scored + self.n_not_applicable + self.n_failed
