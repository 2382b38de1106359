"""Retrieval consensus: how far different retrievers agree on what to read; disagreement warns before any judge does.

Definition: mean over all pairs of retrievers of |A_k and B_k in common| / max(|A_k|, |B_k|), A_k being the first k
  ids of a ranking.
Range: 0 (nothing shared) to 1 (the same passages, in any order). High is agreement, not correctness.
Needs: the response's `rankings`, at least two.
Undefined: fewer than two rankings, or every list empty: `not_applicable`. A pair with one empty list counts 0.
Differs: ragas, DeepEval and RAGChecker have none.
Source: ours; the overlap coefficient of top-k lists (Fagin, Kumar and Sivakumar 2003 discuss the family).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

from offline_eval.core.evidence import Evidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score, Status


def overlap(first: Sequence[str], second: Sequence[str], cutoff: int | None) -> float | None:
    """Share of the first k ids that two rankings have in common, whatever their order.

    Args:
        first: Distinct ids, best first.
        second: Distinct ids, best first.
        cutoff: k, from 1; None for the whole lists.

    Returns:
        Common ids over the length of the longer list after cutting, in [0, 1]; None when both are empty.
    """
    left, right = set(first[:cutoff]), set(second[:cutoff])
    longer = max(len(left), len(right))
    return len(left & right) / longer if longer else None


def consensus(rankings: Mapping[str, Sequence[str]], cutoff: int | None) -> float | None:
    """Mean overlap over all pairs of retrievers.

    Returns:
        A value in [0, 1]; None with fewer than two retrievers or when no pair has a result.
    """
    pairs = [overlap(a, b, cutoff) for a, b in combinations(rankings.values(), 2)]
    known = [value for value in pairs if value is not None]
    return sum(known) / len(known) if known else None


class Consensus:
    """Retrieval consensus at k (`consensus@10`)."""

    low = 0.0
    high = 1.0
    higher_is_better = True
    needs: tuple[str, ...] = ()

    def __init__(self, cutoff: int | None = None) -> None:
        self.cutoff = cutoff

    @property
    def name(self) -> str:
        """`consensus` or `consensus@k`."""
        return "consensus" if self.cutoff is None else f"consensus@{self.cutoff}"

    def at(self, cutoff: int | None, *, level: int = 1) -> "Consensus":
        """The same metric with another cutoff; relevance plays no part in it, so `level` must stay 1.

        Raises:
            ValueError: A level was given.
        """
        if level != 1:
            raise ValueError("consensus does not depend on relevance; write it without `rel=`")
        return Consensus(cutoff)

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """Score the response's rankings against each other; needs no evidence."""
        value = None if response.error is not None else consensus(response.rankings, self.cutoff)
        status = Status.SCORED
        reason = None
        if response.error is not None:
            status, reason = Status.FAILED, "response_error"
        elif value is None:
            status, reason = Status.NOT_APPLICABLE, "fewer_than_two_rankings"
        return Score(
            metric=self.name,
            response_key=response.key,
            cluster=response.case_id,
            system=response.system,
            status=status,
            value=value,
            reason=reason,
        )


METRIC = Consensus()
