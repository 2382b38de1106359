"""Which share of the pairs of passages contradicts each other?

Definition: pairs of retrieved passages with at least one conflict, divided by all pairs.
Range: 0 to 1. Lower is better: with two versions in hand, a generator picks one without saying so.
Needs: check `contradiction`.
Undefined: fewer than two passages (`fewer_than_two_passages`). When the model could not be asked, conflicts found by
  rule (numbers, dates, negation) count alone; the evidence says so.
Differs: ragas, DeepEval and RAGChecker have none.
Source: ours.
"""

from collections.abc import Sequence

from offline_eval.core.evidence import ContradictionEvidence, Evidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score
from offline_eval.metrics._score import NotScored, score_with, the_piece


class ContextConflict:
    """The metric; the module's docstring is its card."""

    name = "context_conflict"
    low = 0.0
    high = 1.0
    higher_is_better = False
    needs: tuple[str, ...] = ("contradiction",)

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """The share over this response's pairs of passages."""
        return score_with(self.name, case, response, lambda: _value(evidence))


def _value(evidence: Sequence[Evidence]) -> float:
    piece = the_piece(evidence, ContradictionEvidence)
    if not piece.pairs:
        raise NotScored("fewer_than_two_passages")
    return min(1.0, len({(conflict.first_id, conflict.second_id) for conflict in piece.conflicts}) / piece.pairs)


METRIC = ContextConflict()
