"""How far does a score move when it is asked again?

Definition: mean, over all pairs of responses of one system to one case, of the distance between their scores, divided
  by the metric's range. Compared are attempts at the same wording.
Range: 0 (the same score every time) to 1. Lower is better.
Needs: the scores of one metric: `faithfulness`, or another as in `attempt_score_drift(of=total_grade)`.
Undefined: one attempt (`nothing_to_compare`), or fewer than two responses with a score. One failed score makes it
  failed.
Differs: ragas, DeepEval and RAGChecker have none.
Source: ours; Gini's mean difference.
"""

from offline_eval.metrics.robustness._drift import ScoreDrift

METRIC = ScoreDrift("attempt_score_drift", __doc__ or "", over="attempts")
