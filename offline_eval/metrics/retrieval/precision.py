"""Precision: how much of what came back is relevant; the share of the reader's context that is not noise.

Definition: relevant ids among the first k, divided by k, also when fewer than k came back. Without a cutoff the
  divisor is the length of the list.
Range: 0 to 1. Higher is better; with R < k it cannot reach 1.
Needs: the case's `relevant_passages` (or `relevant_documents`), the response's passages.
Undefined: no relevant id is known: `not_applicable`. An empty list scores 0.
Differs: ragas' and DeepEval's context precision are rank-weighted and ask a model; this one counts ids, unjudged
  ids as not relevant. Equal to trec_eval's `P_k` and, without a cutoff, `set_P`.
Source: trec_eval, measure `P`.
"""

from collections.abc import Sequence

from offline_eval.metrics.retrieval._measure import RankingMetric, count_relevant


class Precision(RankingMetric):
    """Precision at k (`precision@5`)."""

    base = "precision"

    def value(self, grades: Sequence[int], judged: Sequence[int]) -> float:
        """Relevant among the first k over k."""
        size = len(grades) if self.cutoff is None else self.cutoff
        return count_relevant(grades[: self.cutoff], self.level) / size if size else 0.0


METRIC = Precision()
