"""Of the unanswerable cases, how many were refused?

Definition: refusals of unanswerable cases, divided by all unanswerable cases.
Range: 0 to 1. Higher is better. `unsupported_answer_rate` is the rest.
Needs: check `refusal`; the case's `answerable`.
Undefined: answerable cases, and cases that do not say.
Differs: ragas, DeepEval and RAGChecker have none. The literature calls both this and `refusal_precision` "refusal
  accuracy".
Source: recall of the class "refused" in the answerable × answered table.
"""

from offline_eval.metrics.refusal._table import RefusalRate

METRIC = RefusalRate(
    "refusal_recall",
    __doc__ or "",
    among="unanswerable",
    higher_is_better=True,
    hit=lambda refused, unanswerable: refused,
)
