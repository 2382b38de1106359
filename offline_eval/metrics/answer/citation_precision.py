"""Which share of the citations is right?

Definition: citations whose passage entails the statement that cites it, divided by all citations. A mark that points
  to no retrieved passage is a wrong citation.
Range: 0 to 1. Higher is better.
Needs: check `citations`.
Undefined: an answer that states nothing, or cites nothing (`no_citations`); `citation_recall` counts the latter.
Differs: ALCE counts a citation also as right when it is needed beside others; here each must support the statement by
  itself. ragas, DeepEval and RAGChecker have none.
Source: after Gao et al. 2023, ALCE.
"""

from offline_eval.metrics._score import share
from offline_eval.metrics.answer._citations import CitationMetric, Flags


def _value(flags: Flags) -> float:
    return share((flag for statement in flags for flag in statement), otherwise="no_citations")


METRIC = CitationMetric("citation_precision", __doc__ or "", formula=_value)
