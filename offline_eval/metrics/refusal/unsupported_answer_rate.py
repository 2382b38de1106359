"""Of the unanswerable cases, how many were answered all the same?

Definition: answers to unanswerable cases, divided by all unanswerable cases.
Range: 0 to 1. Lower is better. `refusal_recall` is the rest.
Needs: check `refusal`; the case's `answerable`.
Undefined: answerable cases, and cases that do not say.
Differs: ragas, DeepEval and RAGChecker have none.
Source: missed refusals in the answerable × answered table.
"""

from offline_eval.metrics.refusal._table import RefusalRate

METRIC = RefusalRate(
    "unsupported_answer_rate",
    __doc__ or "",
    among="unanswerable",
    higher_is_better=False,
    hit=lambda refused, unanswerable: not refused,
)
