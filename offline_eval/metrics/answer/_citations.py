"""Reads the stored citations as yes and no, for citation precision and recall."""

from collections.abc import Callable, Sequence

from offline_eval.core.evidence import CitationsEvidence, Evidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score
from offline_eval.metrics._score import NotScored, score_with, the_piece

SUPPORTED = 0.5
"""Probability of entailment from which a citation counts as right."""

Flags = list[list[bool]]
"""One list a statement, one flag a citation of it; a mark that points to no passage is False."""


class CitationMetric:
    """A formula over statements and their citations.

    Args:
        name: Registered name.
        card: The metric's card.
        formula: From the flags to a value; raises `NotScored` where there is none.
    """

    low = 0.0
    high = 1.0
    higher_is_better = True
    needs: tuple[str, ...] = ("citations",)

    def __init__(self, name: str, card: str, *, formula: Callable[[Flags], float]) -> None:
        self.name = name
        self.__doc__ = card
        self._formula = formula

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """The formula's value over this response's citations."""
        return score_with(self.name, case, response, lambda: self._compute(evidence))

    def _compute(self, evidence: Sequence[Evidence]) -> float:
        piece = the_piece(evidence, CitationsEvidence)
        if not piece.statements:
            raise NotScored(piece.none_because or "no_statement")
        failed = next((cell.failure for found in piece.statements for cell in found.support if cell.failure), None)
        if failed is not None:
            raise NotScored(failed, failed=True)
        return self._formula(
            [
                [(cell.entailment or 0.0) >= SUPPORTED for cell in found.support] + [False] * len(found.unknown)
                for found in piece.statements
            ]
        )
