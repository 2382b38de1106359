"""Which share of the reference's claims did retrieval bring?

Definition: claims of the reference that at least one passage entails, divided by all its claims.
Range: 0 to 1. Higher is better. It measures retrieval; what the answer says plays no part in it.
Needs: checks `claims` and `entailment`; the case's reference.
Undefined: no reference or an unanswerable case. Without passages it is 0.
Differs: RAGChecker's claim recall and, over rule-made claims, ragas' and DeepEval's context recall. What the answer
  covers is `claim_recall_reference`.
Source: Ru et al. 2024, RAGChecker.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_passages: Matrix) -> float:
    return share(in_passages.by_any, otherwise=in_passages.none_because)


METRIC = ClaimMetric("claim_recall", __doc__ or "", reads=(("reference", "passages"),), formula=_value)
