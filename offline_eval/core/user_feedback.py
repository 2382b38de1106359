"""How far metrics follow what users said with thumbs up and down."""

from typing import Literal

from pydantic import Field

from offline_eval.core.records import Record
from offline_eval.core.results import Interval


class Satisfaction(Record):
    """A system's users.

    Attributes:
        share: Thumbs up among thumbs up and down, in [0, 1]; None without any.
        neutral: Responses with a feedback that is neither.
        n_responses: All responses of the system.
    """

    system: str
    up: int = Field(ge=0)
    down: int = Field(ge=0)
    neutral: int = Field(ge=0)
    n_responses: int = Field(ge=0)
    share: float | None
    interval: Interval | None
    interval_reason: str | None = None


class Following(Record):
    """One metric against the users' feedback.

    Attributes:
        correlation: Spearman's rho in [-1, 1], its sign turned where lower is better, so that more is closer to users.
        n: Responses with feedback and a value.
        n_unscored: Responses with feedback and no value.
        change: Interval of the correlation less that of the earlier run; None without one.
        reading: `follows` the interval lies above 0; `against` below; `cannot tell` it includes 0; `undefined`.
        drifts: Whether the metric cannot be trusted to stand for users: it does not follow them, or fell.
    """

    system: str
    metric: str
    correlation: float | None
    interval: Interval | None
    reason: str | None = None
    n: int = Field(ge=0)
    n_unscored: int = Field(ge=0)
    earlier: float | None = None
    change: Interval | None = None
    reading: Literal["follows", "against", "cannot tell", "undefined"]
    fell: bool = False
    drifts: bool


class FeedbackReport(Record):
    """A run's metrics against its users."""

    run_id: str
    earlier_run: str | None
    satisfaction: tuple[Satisfaction, ...]
    following: tuple[Following, ...]
