"""Mean reciprocal rank: how far down the first useful result stands.

Definition: 1 / rank of the first relevant id among the first k, 0 when there is none.
Range: 0 to 1. Higher is better.
Needs: the case's `relevant_passages` (or `relevant_documents`), the response's passages.
Undefined: no relevant id is known: `not_applicable`. An empty list scores 0.
Differs: ragas, DeepEval and RAGChecker have none. Equal to trec_eval's `recip_rank`.
Source: trec_eval, measure `recip_rank`.
"""

from collections.abc import Sequence

from offline_eval.metrics.retrieval._measure import RankingMetric


class Mrr(RankingMetric):
    """Reciprocal rank at k (`mrr@10`); the mean over queries is MRR."""

    base = "mrr"

    def value(self, grades: Sequence[int], judged: Sequence[int]) -> float:
        """1 / rank of the first grade that reaches the level."""
        for rank, grade in enumerate(grades[: self.cutoff], start=1):
            if grade >= self.level:
                return 1.0 / rank
        return 0.0


METRIC = Mrr()
