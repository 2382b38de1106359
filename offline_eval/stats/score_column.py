"""One metric's scores of one system as arrays, so that each of many slices is a choice of rows, not a new reading."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.errors import DataError
from offline_eval.core.results import Score, Status
from offline_eval.stats.arrays import Floats, Ints, encode


class ScoreColumn(NamedTuple):
    """Scores, one a row.

    Attributes:
        values: (n,), NaN where there is none.
        failed: (n,), whether the item failed.
        applies: (n,), whether the metric applies.
        clusters: (n,), the cluster's place among all clusters' names, sorted.
        reasons: (n,), places in `reason_names`; -1 where an item was scored.
    """

    metric: str
    system: str
    values: Floats
    failed: NDArray[np.bool_]
    applies: NDArray[np.bool_]
    clusters: Ints
    reasons: Ints
    reason_names: tuple[str, ...]

    @classmethod
    def of(cls, scores: Sequence[Score]) -> Self:
        """Scores as a column.

        Raises:
            DataError: No scores, or scores of several metrics or systems.
        """
        if not scores:
            raise DataError("there are no scores to take a mean of; check that the run has cases and this metric")
        _, (clusters,) = encode([score.cluster for score in scores])
        names, (reasons,) = encode([(score.reason or "") if score.value is None else "" for score in scores])
        statuses = [score.status for score in scores]
        return cls(
            metric=_only((score.metric for score in scores), "metrics"),
            system=_only((score.system for score in scores), "systems"),
            values=np.array([np.nan if score.value is None else score.value for score in scores], dtype=np.float64),
            failed=np.array([status is Status.FAILED for status in statuses]),
            applies=np.array([status is not Status.NOT_APPLICABLE for status in statuses]),
            clusters=clusters,
            reasons=reasons - 1 if names[0] == "" else reasons,
            reason_names=tuple(name for name in names if name),
        )

    def rows(self, places: Ints) -> Self:
        """The same for some of the scores."""
        return self._replace(
            values=self.values[places],
            failed=self.failed[places],
            applies=self.applies[places],
            clusters=self.clusters[places],
            reasons=self.reasons[places],
        )

    def reason_counts(self) -> dict[str, int]:
        """Reason to count, for everything that was not scored, the most frequent first."""
        counts = np.bincount(self.reasons[self.reasons >= 0], minlength=len(self.reason_names))
        found = {name: int(n) for name, n in zip(self.reason_names, counts, strict=True) if n}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _only(names: Iterable[str], what: str) -> str:
    found = set(names)
    if len(found) > 1:
        raise DataError(f"one mean over several {what}: {', '.join(sorted(found))}; estimate each on its own")
    return found.pop()
