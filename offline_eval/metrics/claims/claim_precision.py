"""Which share of the answer's claims does the reference confirm?

Definition: claims of the answer that the reference entails, divided by all claims of the answer.
Range: 0 to 1. Higher is better. True claims that the reference does not mention count against it.
Needs: checks `claims` and `entailment`; the case's reference.
Undefined: no reference, an unanswerable case, an answer that states nothing.
Differs: RAGChecker's precision, where an answer without claims gets 0. ragas' factual correctness in precision mode
  turns missing statements into 1.
Source: Ru et al. 2024, RAGChecker.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_reference: Matrix) -> float:
    return share(in_reference.by_any, otherwise=in_reference.none_because)


METRIC = ClaimMetric("claim_precision", __doc__ or "", reads=(("answer", "reference"),), formula=_value)
