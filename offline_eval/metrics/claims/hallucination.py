"""Which share of the answer's claims stands neither in the passages nor in the reference?

Definition: claims of the answer that no passage and not the reference entails, divided by all its claims.
Range: 0 to 1. Lower is better. faithfulness + hallucination + self_knowledge = 1.
Needs: checks `claims` and `entailment`; the case's reference.
Undefined: no reference, an unanswerable case, an answer that states nothing.
Differs: RAGChecker's definition, where an answer without claims gets 0. DeepEval's metric of this name asks whether
  the answer contradicts the given context.
Source: Ru et al. 2024, RAGChecker.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_passages: Matrix, in_reference: Matrix) -> float:
    pairs = zip(in_passages.by_any, in_reference.by_any, strict=True)
    return share((not grounded and not right for grounded, right in pairs), otherwise=in_passages.none_because)


METRIC = ClaimMetric(
    "hallucination",
    __doc__ or "",
    reads=(("answer", "passages"), ("answer", "reference")),
    formula=_value,
    higher_is_better=False,
)
