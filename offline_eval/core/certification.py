"""Whether a run's verdicts come out the same again: what was measured on its own prompts, as data for every report."""

from typing import Literal

from pydantic import Field

from offline_eval.core.records import Record
from offline_eval.core.results import Interval

ArmName = Literal["resumed", "warm", "reversed", "one_at_a_time"]
SAME_BATCHES: frozenset[ArmName] = frozenset({"resumed"})
"""Arms that repeat a batch as a run repeats it; the others change what is computed together or kept."""


class Arm(Record):
    """One other way of asking the same prompts, compared with asking all of them at once of a fresh engine.

    Attributes:
        name: `resumed`: the same batch again from an empty cache, after other work; `warm`: from a cache that holds its
            prompts; `reversed`: in the other order; `one_at_a_time`: in batches of one.
        n: Prompts that were compared.
        moved: Of them, those whose verdict would not be stored with the same bytes.
        flips: Of them, those with another label.
        largest_move: Largest difference of a stored probability, in [0, 1].
    """

    name: ArmName
    n: int = Field(ge=0)
    moved: int = Field(ge=0)
    flips: int = Field(ge=0)
    largest_move: float = Field(ge=0, le=1)


class SelfTest(Record):
    """What one judge was measured to do.

    Attributes:
        engine_fingerprint: Of the engine that was tested.
        setting: Engine, number format and device, in words.
        n: Prompts that were answered.
        flips: Prompts whose label changed in any arm.
        flip_interval: Of the flip rate; None without prompts.
        largest_move: Over all arms, of a stored probability.
        noise: Largest move of a margin between the best label and the next, in [0, 2].
    """

    judge: str
    engine_fingerprint: str
    setting: str
    n: int = Field(ge=0)
    arms: tuple[Arm, ...]
    flips: int = Field(ge=0)
    flip_interval: Interval | None
    largest_move: float = Field(ge=0, le=1)
    noise: float = Field(ge=0, le=2)

    @property
    def holds_for(self) -> Literal["any_batches", "same_batches", "nothing"]:
        """What the verdicts were bit-identical over."""
        moved = {arm.name for arm in self.arms if arm.moved}
        if not self.n or moved & SAME_BATCHES:
            return "nothing"
        return "same_batches" if moved else "any_batches"


class UnstableVerdict(Record):
    """A verdict whose margin is inside the noise measured for its judge: asked again, it could be another label."""

    response_key: str
    dimension: str
    judge: str
    label: str
    margin: float


class Certification(Record):
    """What a run may claim about being repeated.

    Attributes:
        wanted: Whether certified mode was on.
        status: `certified` over batch sizes, order and cache; `certified_same_batches` only for the batches that the
            plan fixes; `not_certified`; `not_tested`.
        why: The reason for that status, in words.
        tests: One a judge.
        unstable: Lowest margin first.
    """

    wanted: bool
    status: Literal["certified", "certified_same_batches", "not_certified", "not_tested"]
    why: str
    tests: tuple[SelfTest, ...] = ()
    unstable: tuple[UnstableVerdict, ...] = ()
