"""What a replay of a run found, as data: what was compared, what differs, and on what it was replayed."""

from pydantic import Field

from offline_eval.core.records import Record


class Difference(Record):
    """A part of the set-up that is not what the run had.

    Attributes:
        part: What it is, for example `weights of qwen3-8b` or `version of torch`.
        then: What the run had; None for nothing.
        now: What is here; None for nothing.
    """

    part: str
    then: str | None
    now: str | None


class Changed(Record):
    """A piece of evidence that did not come out the same.

    Attributes:
        kind: Of evidence.
        fields: Names of what differs.
        label_then: The stored label, of a verdict.
        label_now: The replay's.
        largest_move: Largest difference of a stored probability, in [0, 1]; None where there are none.
    """

    response_key: str
    kind: str
    dimension: str | None
    judge: str | None
    fields: tuple[str, ...]
    label_then: str | None = None
    label_now: str | None = None
    largest_move: float | None = None


class Verification(Record):
    """A replay.

    Attributes:
        batches: Batches that were replayed, each whole.
        compared: Pieces of evidence in them.
        verdicts: Judges' verdicts among them.
        changed: Those that differ, in the order of the run.
        setup: What differs in the set-up; empty unless that was allowed.
    """

    run_id: str
    batches: int = Field(ge=0)
    compared: int = Field(ge=0)
    verdicts: int = Field(ge=0)
    changed: tuple[Changed, ...]
    setup: tuple[Difference, ...] = ()

    @property
    def flips(self) -> int:
        """Verdicts with another label."""
        return sum(found.label_then != found.label_now for found in self.changed)

    @property
    def largest_move(self) -> float:
        """Of a stored probability, over all verdicts."""
        return max((found.largest_move or 0.0 for found in self.changed), default=0.0)
