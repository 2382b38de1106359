"""Which share of what a complete answer must say did retrieval bring?

Definition: key points that at least one passage entails, divided by all key points; they are split from the reference
  where the case gives none.
Range: 0 to 1. Higher is better.
Needs: checks `key_points` and `entailment`; the case's key points or reference.
Undefined: neither key points nor a reference, or an unanswerable case. Without passages it is 0.
Differs: ragas and DeepEval ask a model about the reference's sentences (`claim_recall` does that with claims); key
  points are what the author of the case wants to hear. By ids it is `recall`.
Source: ours; after RAGChecker's claim recall.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_passages: Matrix) -> float:
    return share(in_passages.by_any, otherwise=in_passages.none_because)


METRIC = ClaimMetric("context_recall", __doc__ or "", reads=(("key_points", "passages"),), formula=_value)
