"""How often does the system decline to answer?

Definition: refusals, divided by all responses.
Range: 0 to 1. Neither high nor low is better by itself; compare it with the share of unanswerable cases.
Needs: check `refusal`.
Undefined: never; a response that failed is failed.
Differs: ragas, DeepEval and RAGChecker have none.
Source: ours.
"""

from offline_eval.metrics.refusal._table import RefusalRate

METRIC = RefusalRate(
    "fallback_rate", __doc__ or "", among="all", higher_is_better=False, hit=lambda refused, unanswerable: refused
)
