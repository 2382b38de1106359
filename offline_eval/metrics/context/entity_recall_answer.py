"""Which share of the answer's names, codes, numbers and dates stands in the passages?

Definition: distinct entities of the answer that a passage has, divided by all its distinct entities.
Range: 0 to 1. Higher is better; an entity that no passage has was made up or remembered.
Needs: check `entities`.
Undefined: an answer without entities (`no_entities`).
Differs: ragas has the other direction alone and compares exact strings ("paris" is not "Paris" there); here spelling,
  case, width and ways of writing a date or number are equal when they mean the same.
Source: ours.
"""

from offline_eval.metrics.context._entity import EntityRecall

METRIC = EntityRecall("entity_recall_answer", __doc__ or "", source="answer")
