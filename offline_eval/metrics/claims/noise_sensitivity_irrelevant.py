"""Which share of the answer's claims is wrong and comes from irrelevant passages?

Definition: a passage is relevant when it entails a claim of the reference. Counted are claims of the answer that the
  reference does not entail, no relevant passage does, and an irrelevant one does, divided by all claims of the
  answer.
Range: 0 to 1. Lower is better. Relevant and irrelevant noise sensitivity + hallucination = 1 - claim_precision.
Needs: checks `claims` and `entailment`; the case's reference.
Undefined: no reference, an unanswerable case, an answer that states nothing.
Differs: RAGChecker's definition, where an answer without claims gets 0. ragas' metric of this name takes the relevant
  case alone by default.
Source: Ru et al. 2024, RAGChecker.
"""

from operator import and_

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix, useful_passages


def _value(in_passages: Matrix, reference_in_passages: Matrix, in_reference: Matrix) -> float:
    relevant = useful_passages(reference_in_passages)
    rows = zip(in_passages.supported, in_reference.by_any, strict=True)
    return share(
        (not right and any(row) and not any(map(and_, row, relevant)) for row, right in rows),
        otherwise=in_passages.none_because,
    )


METRIC = ClaimMetric(
    "noise_sensitivity_irrelevant",
    __doc__ or "",
    reads=(("answer", "passages"), ("reference", "passages"), ("answer", "reference")),
    formula=_value,
    higher_is_better=False,
)
