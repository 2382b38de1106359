"""Which share of the reference's names, codes, numbers and dates did retrieval bring?

Definition: distinct entities of the reference that a passage has, divided by all its distinct entities.
Range: 0 to 1. Higher is better.
Needs: check `entities`; the case's reference.
Undefined: no reference, an unanswerable case, or a reference without entities (`no_entities`).
Differs: ragas' context entity recall, which lets a model list the entities and compares exact strings.
Source: Es et al. 2023, ragas, with equality of meaning.
"""

from offline_eval.metrics.context._entity import EntityRecall

METRIC = EntityRecall("entity_recall_reference", __doc__ or "", source="reference")
