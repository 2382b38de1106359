"""Of the refusals, how many were right?

Definition: refusals of unanswerable cases, divided by all refusals of cases that say whether they are answerable.
Range: 0 to 1. Higher is better.
Needs: check `refusal`; the case's `answerable`.
Undefined: responses that do not refuse, and cases that do not say. Without any refusal the mean is undefined.
Differs: ragas, DeepEval and RAGChecker have none. The literature calls both this and `refusal_recall` "refusal
  accuracy".
Source: precision of the class "refused" in the answerable × answered table.
"""

from offline_eval.metrics.refusal._table import RefusalRate

METRIC = RefusalRate(
    "refusal_precision",
    __doc__ or "",
    among="refused",
    higher_is_better=True,
    hit=lambda refused, unanswerable: bool(unanswerable),
)
