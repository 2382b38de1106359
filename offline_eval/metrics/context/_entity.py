"""Counts entities found in the passages, for both directions of entity recall."""

from collections.abc import Sequence

from offline_eval.core.evidence import EntitiesEvidence, Evidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score
from offline_eval.metrics._score import score_with, share, the_piece


class EntityRecall:
    """Share of a text's entities that the passages have.

    Args:
        name: Registered name.
        card: The metric's card.
        source: Whose entities: `answer` or `reference`.
    """

    low = 0.0
    high = 1.0
    higher_is_better = True
    needs: tuple[str, ...] = ("entities",)

    def __init__(self, name: str, card: str, *, source: str) -> None:
        self.name = name
        self.__doc__ = card
        self._source = source

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """The share over this response's entities."""
        return score_with(self.name, case, response, lambda: self._compute(evidence))

    def _compute(self, evidence: Sequence[Evidence]) -> float:
        piece = the_piece(evidence, EntitiesEvidence, source=self._source)
        return share((entity.passage_id is not None for entity in piece.entities), otherwise="no_entities")
