"""Which share of the answer's claims stands in the passages?

Definition: claims of the answer that at least one passage entails, divided by all its claims.
Range: 0 (nothing is grounded) to 1. Higher is better. faithfulness + hallucination + self_knowledge = 1.
Needs: checks `claims` and `entailment`.
Undefined: an answer that states nothing (refusal, no content). Without passages, or with empty ones, it is 0. A
  failed encoder call makes it `failed`; a language the encoder was not made for `not_applicable`.
Differs: the definition of ragas and RAGChecker, where an answer without statements gets NaN or 0; DeepEval counts
  "cannot tell" as faithful, here only entailment counts. Support in one passage is enough; some tools want it in
  every one.
Source: Ru et al. 2024, RAGChecker; Es et al. 2023, ragas.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_passages: Matrix) -> float:
    return share(in_passages.by_any, otherwise=in_passages.none_because)


METRIC = ClaimMetric("faithfulness", __doc__ or "", reads=(("answer", "passages"),), formula=_value)
