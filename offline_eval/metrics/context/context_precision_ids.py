"""Which share of the retrieved passages was expected, by id?

Definition: retrieved passages whose id (or document id, where only documents are expected) has a grade of 1 or more,
  divided by all retrieved passages.
Range: 0 to 1. Higher is better; exactly 1 when all were expected.
Needs: the case's `relevant_passages` or `relevant_documents`; no check.
Undefined: no expected ids (`no_expected_ids`) or no passages (`no_passages`).
Differs: ragas' id-based context precision. `precision` counts a repeated document once and takes a cutoff; here every
  passage counts, since the generator reads it.
Source: set precision.
"""

from collections.abc import Sequence

from offline_eval.core.evidence import Evidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score
from offline_eval.metrics._score import NotScored, score_with, share


class ContextPrecisionIds:
    """The metric; the module's docstring is its card."""

    name = "context_precision_ids"
    low = 0.0
    high = 1.0
    higher_is_better = True
    needs: tuple[str, ...] = ()

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """The share of this response's passages that was expected."""
        return score_with(self.name, case, response, lambda: _value(case, response))


def _value(case: Case, response: Response) -> float:
    expected = case.relevant_passages or case.relevant_documents
    if not any(expected.values()):
        raise NotScored("no_expected_ids")
    ids = [passage.id if case.relevant_passages else passage.doc_id or passage.id for passage in response.passages]
    return share((expected.get(id_, 0) > 0 for id_ in ids), otherwise="no_passages")


METRIC = ContextPrecisionIds()
