"""Which share of the answer's claims is right without standing in the passages?

Definition: claims of the answer that the reference entails and no passage does, divided by all its claims.
Range: 0 to 1. What is wanted depends: such claims are true here, but nobody can check them against the passages.
Needs: checks `claims` and `entailment`; the case's reference.
Undefined: no reference, an unanswerable case, an answer that states nothing.
Differs: RAGChecker's definition, where an answer without claims gets 0; ragas and DeepEval have none.
Source: Ru et al. 2024, RAGChecker.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_passages: Matrix, in_reference: Matrix) -> float:
    pairs = zip(in_passages.by_any, in_reference.by_any, strict=True)
    return share((right and not grounded for grounded, right in pairs), otherwise=in_passages.none_because)


METRIC = ClaimMetric(
    "self_knowledge",
    __doc__ or "",
    reads=(("answer", "passages"), ("answer", "reference")),
    formula=_value,
    higher_is_better=False,
)
