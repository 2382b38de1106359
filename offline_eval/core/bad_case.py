"""A case that went wrong, with every run in which it did: what the bad-case library keeps."""

from typing import Literal

from pydantic import Field

from offline_eval.core.diagnosis import Fault, Tag
from offline_eval.core.records import Case, Record, Response


class Sighting(Record):
    """One run in which one system did badly on the case.

    Attributes:
        why: What put it here: `failed`, `low`, `faulty` or `named`.
        tags: Causes that were found; empty when none was, or when the run lacks the evidence.
        fault: Part at fault; None when nothing could be examined.
        reasons: One sentence a cause.
        values: Metric to value.
        failures: Metric to the reason why there is no value.
        note: A person's own words.
    """

    run_id: str
    system: str
    response: Response
    why: Literal["failed", "low", "faulty", "named"]
    tags: tuple[Tag, ...] = ()
    fault: Fault | None = None
    reasons: tuple[str, ...] = ()
    values: dict[str, float] = Field(default_factory=dict)
    failures: dict[str, str] = Field(default_factory=dict)
    note: str | None = None


class BadCase(Record):
    """A case and its sightings, the oldest first."""

    format: Literal["offline-eval bad case 1"] = "offline-eval bad case 1"
    case: Case
    sightings: tuple[Sighting, ...] = Field(min_length=1)

    @property
    def tags(self) -> tuple[Tag, ...]:
        """Every cause that was ever found, in the order of finding."""
        return tuple(dict.fromkeys(tag for sighting in self.sightings for tag in sighting.tags))
