"""Which share of the key points does the answer state?

Definition: key points that the answer entails, divided by all key points; they are split from the reference where the
  case gives none.
Range: 0 to 1. Higher is better. A refusal of an answerable question states none: 0.
Needs: checks `key_points` and `entailment`; the case's key points or reference.
Undefined: neither key points nor a reference, or an unanswerable case.
Differs: ragas, DeepEval and RAGChecker work on the reference alone; with no key points this is
  `claim_recall_reference`.
Source: ours; the nugget recall of TREC question answering, without weights.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_answer: Matrix) -> float:
    return share(in_answer.by_any, otherwise=in_answer.none_because)


METRIC = ClaimMetric("key_point_coverage", __doc__ or "", reads=(("key_points", "answer"),), formula=_value)
