"""Normalised discounted cumulative gain: graded relevance, with earlier ranks worth more.

Definition: DCG@k / ideal DCG@k, DCG@k = sum over ranks i <= k of grade_i / log2(i + 1). The gain is linear in the
  grade; the ideal list holds all of the query's qrels, best grades first, cut at k.
Range: 0 to 1. Higher is better.
Needs: the case's `relevant_passages` (or `relevant_documents`), the response's passages.
Undefined: no id has a grade of 1 or more: `not_applicable`. An empty list scores 0.
Differs: tools with the gain 2^grade - 1, or with the ideal list made of the retrieved ids only, give other values
  on graded data. Equal to trec_eval's `ndcg_cut_k` and `ndcg`. With `rel=g` grades below g gain nothing.
Source: Järvelin and Kekäläinen 2002; trec_eval, measure `ndcg_cut`.
"""

from collections.abc import Sequence
from math import log2

from offline_eval.metrics.retrieval._measure import RankingMetric


class Ndcg(RankingMetric):
    """Normalised discounted cumulative gain at k (`ndcg@10`)."""

    base = "ndcg"

    def value(self, grades: Sequence[int], judged: Sequence[int]) -> float:
        """Discounted gain over the best possible one."""
        return self._gain(grades) / self._gain(judged)

    def _gain(self, grades: Sequence[int]) -> float:
        pairs = enumerate(grades[: self.cutoff], start=2)
        return sum(grade / log2(place) for place, grade in pairs if grade >= self.level)


METRIC = Ndcg()
