"""Which share of what retrieval brought did the answer use?

Definition: claims of the reference that a passage and the answer entail, divided by those that a passage entails.
Range: 0 to 1. Higher is better.
Needs: checks `claims` and `entailment`; the case's reference.
Undefined: no reference, an unanswerable case, or no claim of the reference in the passages (`nothing_to_use`).
Differs: RAGChecker's definition, which gives 0 where nothing was there to be used; that blames the generator for
  retrieval.
Source: Ru et al. 2024, RAGChecker.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_passages: Matrix, in_answer: Matrix) -> float:
    pairs = zip(in_passages.by_any, in_answer.by_any, strict=True)
    return share((used for available, used in pairs if available), otherwise="nothing_to_use")


METRIC = ClaimMetric(
    "context_utilization", __doc__ or "", reads=(("reference", "passages"), ("reference", "answer")), formula=_value
)
