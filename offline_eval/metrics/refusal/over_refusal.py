"""Of the answerable cases, how many were refused all the same?

Definition: refusals of answerable cases, divided by all answerable cases.
Range: 0 to 1. Lower is better.
Needs: check `refusal`; the case's `answerable`.
Undefined: unanswerable cases, and cases that do not say.
Differs: ragas, DeepEval and RAGChecker have none. It does not ask whether retrieval brought the answer; see
  `claim_recall` beside it.
Source: false refusals in the answerable × answered table.
"""

from offline_eval.metrics.refusal._table import RefusalRate

METRIC = RefusalRate(
    "over_refusal", __doc__ or "", among="answerable", higher_is_better=False, hit=lambda refused, unanswerable: refused
)
