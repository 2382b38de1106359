"""How signals are weighed in one domain: weights, vetoes and tier bounds, read from a YAML file.

A lawyer's assistant has to be silent where a shop's may answer; that is a table, never a branch in the code.
"""

from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError, field_validator, model_validator

from offline_eval.core.errors import DataError, UnknownNameError
from offline_eval.core.records import Record
from offline_eval.core.yaml_text import YamlDocument, parse_yaml, read_yaml

WEIGHTED = ("consensus", "alignment", "grounding")
"""Signals the default profiles weigh."""


class Tier(StrEnum):
    """What may be done with an answer: give it, give it with its doubt, or assert nothing."""

    ANSWER = "answer"
    DOUBT = "doubt"
    ABSTAIN = "abstain"

    @property
    def rank(self) -> int:
        """0 for the lowest tier."""
        return _ASCENDING.index(self)

    def lowered(self, by: int) -> "Tier":
        """The tier `by` steps below, the lowest at most."""
        return _ASCENDING[max(0, self.rank - by)]


_ASCENDING = (Tier.ABSTAIN, Tier.DOUBT, Tier.ANSWER)


def lowest_tier(*tiers: Tier) -> Tier:
    """The lowest of some tiers."""
    return min(tiers, key=lambda tier: tier.rank)


class Veto(Record):
    """A signal that holds the tier down, however good the others are.

    Attributes:
        below: The veto applies where the signal's value is smaller.
        lower_by: Tiers to go down from what the score alone would give.
        at_most: Highest tier that is left.
        if_missing: Highest tier that is left when the signal has no value though it was to be had (failed, timed out,
            skipped); None when its absence does not matter.
    """

    signal: str
    below: float = Field(gt=0, le=1)
    lower_by: int = Field(default=0, ge=0, le=2)
    at_most: Tier | None = None
    if_missing: Tier | None = None

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if (self.lower_by > 0) == (self.at_most is not None):
            raise ValueError("a veto says either lower_by or at_most")
        return self


class Profile(Record):
    """How one domain weighs signals.

    Attributes:
        weights: Signal to weight, 0 or more; they are divided by their sum.
        answer_from: Confidence from which an answer is given.
        doubt_from: Confidence from which it is given with its doubt.
        vetoes: All of them apply; the lowest tier wins.
        least_known: Share of the weight that must have values, in (0, 1]; with less the tier is at most
            `missing_at_most`. A weighted signal that failed, timed out or was skipped lowers it in any case; only one
            that is not applicable may be left out within this share.
        missing_at_most: Highest tier when too much is missing.
        exit_below: Answerability below which nothing is generated.
        oldest_days: Age in days from which a source counts as old; None when age does not matter.
        undated_is_old: Whether a source without a date counts as old.
        hand_over: Whether the lowest tier goes to a person instead of asking back.
        always_deep: Whether the model is asked about contradictions whatever the routing says.
    """

    name: str = Field(min_length=1)
    weights: dict[str, float]
    answer_from: float = Field(default=0.8, gt=0, le=1)
    doubt_from: float = Field(default=0.5, gt=0, le=1)
    vetoes: tuple[Veto, ...] = ()
    least_known: float = Field(default=0.75, gt=0, le=1)
    missing_at_most: Tier = Tier.DOUBT
    exit_below: float = Field(default=0.3, ge=0, le=1)
    oldest_days: int | None = Field(default=None, gt=0)
    undated_is_old: bool = False
    hand_over: bool = False
    always_deep: bool = False

    @field_validator("weights")
    @classmethod
    def _weights_weigh(cls, weights: dict[str, float]) -> dict[str, float]:
        if any(weight < 0 for weight in weights.values()) or sum(weights.values()) <= 0:
            raise ValueError("weights must be 0 or more, and one of them above 0")
        return weights

    @model_validator(mode="after")
    def _bounds_rise(self) -> Self:
        if self.doubt_from >= self.answer_from:
            raise ValueError("doubt_from must be below answer_from")
        if self.missing_at_most is Tier.ANSWER:
            raise ValueError("missing_at_most must be doubt or abstain, since what is missing never raises a tier")
        return self

    def tier_of(self, confidence: float) -> Tier:
        """The tier of a confidence in [0, 1] by its bounds alone."""
        if confidence >= self.answer_from:
            return Tier.ANSWER
        return Tier.DOUBT if confidence >= self.doubt_from else Tier.ABSTAIN

    def without(self, signal: str) -> "Profile":
        """The profile as if a signal did not exist: no weight, no veto; to measure what it contributes.

        Raises:
            ValueError: Nothing else has a weight.
        """
        data = self.model_dump()
        data["weights"] = {name: weight for name, weight in self.weights.items() if name != signal}
        data["vetoes"] = [veto for veto in data["vetoes"] if veto["signal"] != signal]
        if signal == "answerability":
            data["exit_below"] = 0.0
        return Profile.model_validate(data)


def profile_names() -> list[str]:
    """The shipped profiles, sorted."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _folder().iterdir() if entry.name.endswith(".yaml"))


def load_profile(name_or_file: str | Path) -> Profile:
    """Read a shipped profile by name, or a file of one's own.

    Raises:
        UnknownNameError: No such profile; the message offers the nearest name.
        DataError: A file that cannot be read, or says something that cannot be.
    """
    name = str(name_or_file)
    if name.lower().endswith((".yaml", ".yml")):
        return _validated(read_yaml(Path(name)), name, default_name=Path(name).stem)
    if name not in profile_names():
        raise UnknownNameError("profile", name, profile_names())
    text = (_folder() / f"{name}.yaml").read_bytes()
    return _validated(parse_yaml(text, f"{name}.yaml"), f"{name}.yaml", default_name=name)


def _validated(document: YamlDocument, source: str, *, default_name: str) -> Profile:
    if not isinstance(document.data, dict):
        raise DataError(f"{source}: is no profile; expected fields such as weights and vetoes")
    try:
        return Profile.model_validate({"name": default_name} | document.data)
    except ValidationError as error:
        raise DataError([f"{source}: {'.'.join(map(str, f['loc']))}: {f['msg']}" for f in error.errors()]) from None


def _folder() -> Traversable:
    return files("offline_eval.confidence") / "profiles"
