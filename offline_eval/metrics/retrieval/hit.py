"""Hit rate: did anything relevant come back at all; the first question to ask of a retriever.

Definition: 1 when at least one of the first k ids is relevant, else 0; its mean is the share of queries answered.
Range: 0 or 1. Higher is better.
Needs: the case's `relevant_passages` (or `relevant_documents`), the response's passages.
Undefined: no relevant id is known: `not_applicable`. An empty list scores 0.
Differs: ragas and DeepEval have no id-based hit rate; RAGChecker's is claim-based. Equal to trec_eval's
  `success_k`.
Source: trec_eval, measure `success`.
"""

from collections.abc import Sequence

from offline_eval.metrics.retrieval._measure import RankingMetric, count_relevant


class Hit(RankingMetric):
    """Hit rate at k (`hit@5`)."""

    base = "hit"

    def value(self, grades: Sequence[int], judged: Sequence[int]) -> float:
        """1 when a grade among the first k reaches the level."""
        return float(count_relevant(grades[: self.cutoff], self.level) > 0)


METRIC = Hit()
