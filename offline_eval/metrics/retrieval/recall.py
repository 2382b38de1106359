"""Recall: how much of what is relevant came back; what the reader never sees, no generator can use.

Definition: relevant ids among the first k, divided by R, all relevant ids of the query.
Range: 0 to 1. Higher is better; with R > k it cannot reach 1.
Needs: the case's `relevant_passages` (or `relevant_documents`), the response's passages.
Undefined: R = 0: `not_applicable`. An empty list scores 0.
Differs: ragas' and DeepEval's context recall ask a model about statements of the reference; this one counts ids.
  Equal to trec_eval's `recall_k`.
Source: trec_eval, measure `recall`.
"""

from collections.abc import Sequence

from offline_eval.metrics.retrieval._measure import RankingMetric, count_relevant


class Recall(RankingMetric):
    """Recall at k (`recall@10`)."""

    base = "recall"

    def value(self, grades: Sequence[int], judged: Sequence[int]) -> float:
        """Relevant among the first k over all relevant."""
        return count_relevant(grades[: self.cutoff], self.level) / count_relevant(judged, self.level)


METRIC = Recall()
