"""How far does a score move when the same passages come in another order?

Definition: mean, over all pairs of responses of one system to one case, of the distance between their scores, divided
  by the metric's range. Compared are attempts at the same wording that were given the same passages in different
  orders.
Range: 0 (the same score every time) to 1. Lower is better.
Needs: the scores of one metric: `faithfulness`, or another as in `passage_order_score_drift(of=total_grade)`.
Undefined: no such attempts (`nothing_to_compare`), or fewer than two responses with a score. One failed score makes
  it failed.
Differs: ragas, DeepEval and RAGChecker have none.
Source: ours; Gini's mean difference.
"""

from offline_eval.metrics.robustness._drift import ScoreDrift

METRIC = ScoreDrift("passage_order_score_drift", __doc__ or "", over="passage_order")
