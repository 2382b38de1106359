"""Does the answer state what the reference states, and nothing else?

Definition: harmonic mean of `claim_precision` and `claim_recall_reference`, 2PR / (P + R); 0 when either is 0.
  Precision 3/4 and recall 2/3 give 12/17 = .706.
Range: 0 to 1. Higher is better.
Needs: checks `claims` and `entailment`; the case's reference.
Undefined: no reference or an unanswerable case. An answer that states nothing has recall 0, so it is 0.
Differs: RAGChecker's F1. ragas' factual correctness mixes two sets of claims and finds .75 in the example.
Source: Ru et al. 2024, RAGChecker.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_reference: Matrix, in_answer: Matrix) -> float:
    recall = share(in_answer.by_any, otherwise=in_answer.none_because)
    if recall == 0.0:
        return 0.0
    precision = share(in_reference.by_any, otherwise=in_reference.none_because)
    return 2 * precision * recall / (precision + recall)


METRIC = ClaimMetric(
    "claim_f1", __doc__ or "", reads=(("answer", "reference"), ("reference", "answer")), formula=_value
)
