"""A folder of runs in the order in which they were made: one point a run, system and metric, with what changed."""

from pydantic import Field

from offline_eval.core.comparison import Difference
from offline_eval.core.records import Record
from offline_eval.core.results import Estimate


class RunPoint(Record):
    """One run of a history.

    Attributes:
        changed: When the file was last written, ISO 8601 in UTC.
        changes: What makes its numbers another measurement than the run's before it: test set, judges, rubrics.
        problem: Why the file could not be read; then everything else is empty.
    """

    file: str
    changed: str
    run_id: str | None = None
    systems: tuple[str, ...] = ()
    n_cases: int = Field(default=0, ge=0)
    estimates: tuple[Estimate, ...] = ()
    changes: tuple[Difference, ...] = ()
    problem: str | None = None


class Series(Record):
    """One metric of one system over the runs.

    Attributes:
        points: Run's place in the history to its estimate.
        breaks: Places at which something changed; values on both sides of one are no trend.
        low: Lowest value to draw.
        high: Highest value to draw.
    """

    system: str
    metric: str
    points: tuple[tuple[int, Estimate], ...]
    breaks: tuple[int, ...]
    low: float
    high: float


class History(Record):
    """All runs of a folder, the oldest first."""

    folder: str
    runs: tuple[RunPoint, ...]
    series: tuple[Series, ...]
