"""The frame every ranking metric shares, so that a metric's file holds its formula and its card and nothing else."""

import re
from collections.abc import Mapping, Sequence
from typing import Self

from offline_eval.core.errors import UsageError
from offline_eval.core.evidence import Evidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score, Status

_NAME = re.compile(r"(?P<base>[a-z_]+)(?:\(rel=(?P<level>[1-9]\d*)\))?(?:@(?P<cutoff>[1-9]\d*))?")


class RankingMetric:
    """A metric of one ranked list against relevance grades.

    Args:
        cutoff: Ranks looked at, from 1; None for the whole list.
        level: Lowest grade that counts as relevant, 1 or more.
    """

    base = ""
    low = 0.0
    high = 1.0
    higher_is_better = True
    needs: tuple[str, ...] = ()

    def __init__(self, cutoff: int | None = None, level: int = 1) -> None:
        self.cutoff = cutoff
        self.level = level

    @property
    def name(self) -> str:
        """`base(rel=g)@k`, without the parts that are left at their default."""
        level = "" if self.level == 1 else f"(rel={self.level})"
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.base}{level}{cutoff}"

    def at(self, cutoff: int | None, *, level: int = 1) -> Self:
        """The same metric with another cutoff or relevance level."""
        return type(self)(cutoff, level)

    def value(self, grades: Sequence[int], judged: Sequence[int]) -> float:
        """The metric's formula.

        Args:
            grades: Grade of each ranked id, best rank first; 0 for an id nobody judged.
            judged: All grades of the query's qrels, descending; at least one reaches `level`.

        Returns:
            The value, in [`low`, `high`].
        """
        raise NotImplementedError

    def of_ranking(self, ranking: Sequence[str], qrels: Mapping[str, int]) -> float | None:
        """Score ids in rank order.

        Args:
            ranking: Distinct ids, best first.
            qrels: Id to grade.

        Returns:
            The value; None where no id is relevant, since nothing can be found then.
        """
        judged = sorted(qrels.values(), reverse=True)
        if not judged or judged[0] < self.level:
            return None
        return self.value([qrels.get(item, 0) for item in ranking], judged)

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """Score the response's passages against the case's expected ids; needs no evidence."""
        if response.error is not None:
            return self._unscored(response, Status.FAILED, "response_error")
        qrels = case.relevant_passages or case.relevant_documents
        if not qrels:
            return self._unscored(response, Status.NOT_APPLICABLE, "no_expected_ids")
        by_document = not case.relevant_passages
        value = self.of_ranking(response_ranking(response, by_document=by_document), qrels)
        if value is None:
            return self._unscored(response, Status.NOT_APPLICABLE, "no_relevant_ids")
        return Score(
            metric=self.name,
            response_key=response.key,
            cluster=response.case_id,
            system=response.system,
            status=Status.SCORED,
            value=value,
        )

    def _unscored(self, response: Response, status: Status, reason: str) -> Score:
        return Score(
            metric=self.name,
            response_key=response.key,
            cluster=response.case_id,
            system=response.system,
            status=status,
            reason=reason,
        )


def response_ranking(response: Response, *, by_document: bool) -> list[str]:
    """Ids of a response's passages in the order the system ranked them.

    A document stands at the rank of its best passage, and an id counts once: repeating a passage earns nothing.

    Args:
        response: What the system returned.
        by_document: Rank `doc_id` (the passage's own id where it has none) instead of passage ids.
    """
    ids = [(passage.doc_id or passage.id) if by_document else passage.id for passage in response.passages]
    return list(dict.fromkeys(ids))


def split_name(name: str) -> tuple[str, int | None, int]:
    """Read a metric's name.

    Returns:
        Base name, cutoff (None for the whole list) and relevance level.

    Raises:
        UsageError: The name has not the form `base`, `base@k` or `base(rel=g)@k`.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise UsageError(
            f"metric name {name!r} cannot be read; write `ndcg@10`, `map` or `recall(rel=2)@10`; k and grade start at 1"
        )
    cutoff = match["cutoff"]
    return match["base"], None if cutoff is None else int(cutoff), int(match["level"] or 1)


def count_relevant(grades: Sequence[int], level: int) -> int:
    """How many grades reach the level."""
    return sum(grade >= level for grade in grades)
