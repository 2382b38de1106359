"""What a benchmark says, as data: one table a label set, one line a judge, and who is better than whom."""

from typing import Literal

from pydantic import Field

from offline_eval.benchmark.labels import Kind
from offline_eval.core.records import Record
from offline_eval.stats.measured import Measured
from offline_eval.stats.paired import Outcome

Role = Literal["judge", "panel", "encoder", "scripted", "baseline"]


class Cost(Record):
    """What asking took.

    Attributes:
        seconds: Spent computing answers, loading the model not counted; None for what costs nothing worth telling.
    """

    prompt_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    verdicts: int = Field(default=0, ge=0)
    seconds: float | None = None

    @property
    def verdicts_per_second(self) -> float | None:
        """None without a time."""
        return self.verdicts / self.seconds if self.seconds else None


class JudgeLine(Record):
    """One judge, panel, encoder or baseline on one label set.

    Attributes:
        measures: Name to value with interval; agreement is over the rows the people settled and that apply, failed ones
            counted as the level farthest from the people's. Correlations are with the people's mean, over all rows that
            apply, failed ones at the wrong end.
        share_of_ceiling: Measure to value divided by the human-human ceiling, where both exist and the ceiling is above
            0.
        n: Settled rows that apply, failed ones included.
        n_scored: Of those, rows with a decision.
        n_failed: Of those, rows without one.
        n_not_applicable: Settled rows that this judge is not made for or that its rules leave out.
        reasons: Reason to count, for failed and not applicable rows.
        failed_rows: Ids of failed rows.
        decisions: Level to how often it was decided.
    """

    judge: str
    role: Role
    measures: dict[str, Measured]
    share_of_ceiling: dict[str, float] = Field(default_factory=dict)
    n: int
    n_scored: int
    n_failed: int
    n_not_applicable: int
    reasons: dict[str, int] = Field(default_factory=dict)
    failed_rows: tuple[str, ...] = ()
    decisions: dict[str, int] = Field(default_factory=dict)
    cost: Cost = Cost()
    warnings: tuple[str, ...] = ()

    @property
    def coverage(self) -> float | None:
        """Scored rows among all settled ones, in [0, 1]."""
        asked = self.n + self.n_not_applicable
        return self.n_scored / asked if asked else None


class JudgePair(Record):
    """Two judges on the same rows.

    Attributes:
        difference: Second less first, mean agreement a row (on an ordinal scale: closeness, 1 at the people's level and
            0 at the other end).
        adjusted_p: After Holm's correction over all pairs of the table.
        verdict: Of the second against the first.
    """

    first: str
    second: str
    difference: Measured
    wins: int
    ties: int
    losses: int
    p: float | None
    adjusted_p: float | None
    p_method: str
    verdict: Outcome


class SliceLine(Record):
    """One judge's agreement on a part of a set."""

    slice: str
    value: str
    judge: str
    agreement: Measured


class LabelTable(Record):
    """One label set with everybody who was asked about it, best first.

    Attributes:
        ranked_by: The measure that decides the order; without a value a judge comes last.
        languages: Language to rows.
        n_unsettled: Rows on which the people do not agree on one label; in the correlations alone.
        human: Level to how often the people settled on it.
        ceiling: Measure to how well the people agree among themselves: each rater against the majority of the others;
            alpha over all raters at once. Empty with one rater a row.
        ceiling_reason: Why there is no ceiling.
    """

    name: str
    kind: Kind
    dimension: str
    labels_hash: str
    ranked_by: str
    n_rows: int
    n_unsettled: int
    n_clusters: int
    raters: int
    languages: dict[str, int]
    human: dict[str, int]
    ceiling: dict[str, Measured] = Field(default_factory=dict)
    ceiling_reason: str | None = None
    lines: tuple[JudgeLine, ...]
    pairs: tuple[JudgePair, ...] = ()
    slices: tuple[SliceLine, ...] = ()
    notes: tuple[str, ...] = ()


class Benchmark(Record):
    """All tables of one command.

    Attributes:
        rule: How a grade becomes a decision.
    """

    tables: tuple[LabelTable, ...]
    rule: str
    seed: int
    resamples: int
    version: str
