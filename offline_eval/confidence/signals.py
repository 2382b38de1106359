"""One thing that was found out about an answer, as a number or as the reason why there is none.

A stage that was left out, failed or ran out of time is a named signal too: nothing missing can pass for a good value.
"""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from offline_eval.core.records import Record


class SignalStatus(StrEnum):
    """Whether a signal has a value.

    `not_applicable`: there is nothing to measure (one retriever has nobody to agree with). `skipped`: the policy or an
    early exit left the stage out. `timed_out`, `failed`: it was tried.
    """

    SCORED = "scored"
    NOT_APPLICABLE = "not_applicable"
    SKIPPED = "skipped"
    TIMED_OUT = "timed_out"
    FAILED = "failed"


class Signal(Record):
    """One signal; `value` is set if and only if `status` is `scored`, any other status has a `reason`.

    Attributes:
        name: For example `alignment`.
        value: In [0, 1], higher is better whatever the signal.
        reason: Why there is no value; beside a value, what should be known about it.
        detail: What the value was computed from, for people: `3 of 4 claims`.
    """

    name: str = Field(min_length=1)
    status: SignalStatus
    value: float | None = Field(default=None, ge=0, le=1)
    reason: str | None = None
    detail: str | None = None

    @model_validator(mode="after")
    def _value_matches_status(self) -> Self:
        if (self.value is not None) != (self.status is SignalStatus.SCORED):
            raise ValueError("a signal has a value if and only if its status is 'scored'")
        if self.status is not SignalStatus.SCORED and not self.reason:
            raise ValueError(f"a signal with status {self.status!r} needs a reason")
        return self


def scored(name: str, value: float, *, detail: str | None = None, reason: str | None = None) -> Signal:
    """A signal with a value in [0, 1]."""
    return Signal(name=name, status=SignalStatus.SCORED, value=value, detail=detail, reason=reason)


def missing(name: str, status: SignalStatus, reason: str) -> Signal:
    """A signal without a value, and why."""
    return Signal(name=name, status=status, reason=reason)
