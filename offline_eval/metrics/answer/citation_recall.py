"""Which share of the answer's statements is supported by what it cites?

Definition: statements that at least one of their cited passages entails, divided by all statements; one without a
  citation is not supported.
Range: 0 to 1. Higher is better; an answer that cites nothing has 0.
Needs: check `citations`.
Undefined: an answer that states nothing.
Differs: ALCE joins the cited passages into one premise; here one of them must entail the statement. ragas, DeepEval
  and RAGChecker have none.
Source: after Gao et al. 2023, ALCE.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.answer._citations import CitationMetric, Flags


def _value(flags: Flags) -> float:
    return share((any(statement) for statement in flags), otherwise="no_statement")


METRIC = CitationMetric("citation_recall", __doc__ or "", formula=_value)
