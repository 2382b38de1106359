"""Mean average precision: precision wherever something relevant stands, over everything that is relevant.

Definition: sum of precision at each rank (up to k) that holds a relevant id, divided by R, all relevant ids.
Range: 0 to 1. Higher is better; all relevant ids first gives exactly 1 when R <= k.
Needs: the case's `relevant_passages` (or `relevant_documents`), the response's passages.
Undefined: R = 0: `not_applicable`. An empty list scores 0.
Differs: some tools divide by the relevant ids that were found, or by min(R, k), which rewards finding less; ragas
  adds 1e-10 to the divisor and so never reaches 1. Equal to trec_eval's `map` and `map_cut_k`.
Source: trec_eval, measure `map`.
"""

from collections.abc import Sequence

from offline_eval.metrics.retrieval._measure import RankingMetric, count_relevant


class AveragePrecision(RankingMetric):
    """Average precision (`map`, `map@100`); the mean over queries is MAP."""

    base = "map"

    def value(self, grades: Sequence[int], judged: Sequence[int]) -> float:
        """Sum of precisions at relevant ranks over all relevant."""
        found = 0
        total = 0.0
        for rank, grade in enumerate(grades[: self.cutoff], start=1):
            if grade >= self.level:
                found += 1
                total += found / rank
        return total / count_relevant(judged, self.level)


METRIC = AveragePrecision()
