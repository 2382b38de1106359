"""Which share of the retrieved passages is useful?

Definition: passages that entail at least one claim of the reference, divided by all retrieved passages.
Range: 0 to 1. Higher is better; exactly 1 when all are useful.
Needs: checks `claims` and `entailment`; the case's reference.
Undefined: no reference, an unanswerable case, or no passages (`no_passages`).
Differs: RAGChecker's definition. ragas and DeepEval weigh by rank (`context_precision_ranked`), ragas with a constant
  in the divisor that keeps it below 1.
Source: Ru et al. 2024, RAGChecker.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix, useful_passages


def _value(in_passages: Matrix) -> float:
    return share(useful_passages(in_passages), otherwise="no_passages")


METRIC = ClaimMetric("context_precision", __doc__ or "", reads=(("reference", "passages"),), formula=_value)
