"""Which share of the reference's claims does the answer state?

Definition: claims of the reference that the answer entails, divided by all claims of the reference.
Range: 0 to 1. Higher is better. A refusal of an answerable question, and an answer without content, state none: 0.
Needs: checks `claims` and `entailment`; the case's reference.
Undefined: no reference or an unanswerable case.
Differs: RAGChecker's recall. ragas divides supported claims of the answer by a sum of answer and reference claims,
  which mixes two sets: 3 of 4 and 2 of 3 become .75 where .667 is right.
Source: Ru et al. 2024, RAGChecker.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_answer: Matrix) -> float:
    return share(in_answer.by_any, otherwise=in_answer.none_because)


METRIC = ClaimMetric("claim_recall_reference", __doc__ or "", reads=(("reference", "answer"),), formula=_value)
