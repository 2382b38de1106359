"""How far does the answer change when the same passages come in another order?

Definition: mean, over all pairs of responses of one system to one case, of 1 - F1 of their words (Chinese by words
  where jieba is installed, else by pairs of characters). Compared are attempts at the same wording that were given
  the same passages in different orders.
Range: 0 (the same words) to 1 (no word in common). Lower is better; other words can mean the same, so read it beside
  the score's drift.
Needs: the answers; no check.
Undefined: no such attempts (`nothing_to_compare`). A failed response makes it failed.
Differs: ragas, DeepEval and RAGChecker have none.
Source: ours; word F1 as in SQuAD (Rajpurkar et al. 2016).
"""

from offline_eval.metrics.robustness._drift import AnswerDrift

METRIC = AnswerDrift("passage_order_answer_drift", __doc__ or "", over="passage_order")
