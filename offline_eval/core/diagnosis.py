"""What went wrong with a response and which part to mend, as data that reports and the bad-case library read.

Sentences come in every language a report has, because the rule that writes one knows the numbers it is about.
"""

from typing import Literal, get_args

from pydantic import Field

from offline_eval.core.records import Record
from offline_eval.core.results import Interval, Status

Tag = Literal[
    "retrieval_miss",
    "ranking",
    "noise",
    "invention",
    "contradiction_ignored",
    "incomplete",
    "off_topic",
    "should_refuse",
    "over_refusal",
    "wrong_citation",
]
Part = Literal["retrieval", "generation", "both"]
Fault = Literal["retrieval", "generation", "both", "none_found"]

TAGS: tuple[Tag, ...] = get_args(Tag)
FAULTS: tuple[Fault, ...] = get_args(Fault)


class Text(Record):
    """One sentence or name in English and Chinese."""

    en: str
    zh: str


class Cause(Record):
    """One thing that went wrong.

    Attributes:
        name: The tag, for people.
        part: Which part of the system has to change.
        reason: What was seen, with its numbers.
        advice: What to try.
        measured: Metric to the value the rule read.
    """

    tag: Tag
    name: Text
    part: Part
    reason: Text
    advice: Text
    measured: dict[str, float] = Field(default_factory=dict)


class CaseDiagnosis(Record):
    """Which part of the system is at fault for one response.

    Attributes:
        status: `not_applicable` when no rule could be examined, `failed` when the system gave no answer.
        fault: Set if and only if `status` is `scored`; `none_found` speaks only for the rules that were examined.
        unchecked: Tags whose rule could not be examined, with the evidence that lacks.
    """

    response_key: str
    case_id: str
    system: str
    status: Status
    status_reason: str | None = None
    fault: Fault | None = None
    causes: tuple[Cause, ...] = ()
    unchecked: dict[Tag, str] = Field(default_factory=dict)


class TagCount(Record):
    """How often one thing went wrong.

    Attributes:
        n: Responses with this tag.
        examined: Responses for which the rule could be examined.
        share: `n` of `examined`, in [0, 1]; None when the rule could never be examined.
        interval: Of the share; None with a reason.
        lacking: Reason to count, for the responses that could not be examined.
    """

    tag: Tag
    name: Text
    part: Part
    advice: Text
    n: int = Field(ge=0)
    examined: int = Field(ge=0)
    share: float | None
    interval: Interval | None
    interval_reason: str | None = None
    lacking: dict[str, int] = Field(default_factory=dict)


class SystemDiagnosis(Record):
    """Where a system goes wrong, over its responses.

    Attributes:
        n: All responses.
        failed: Responses without an answer.
        lacking: Responses for which no rule could be examined.
        faults: Part at fault to the number of responses, over those that were diagnosed.
        tags: The most frequent first.
        reading: Which part to mend first, and why.
    """

    system: str
    n: int = Field(ge=0)
    failed: int = Field(ge=0)
    lacking: int = Field(ge=0)
    faults: dict[Fault, int]
    tags: tuple[TagCount, ...]
    reading: Text
