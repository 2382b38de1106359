"""The answerable × answered table as rates: each is a share of true among the responses it applies to."""

from collections.abc import Callable, Sequence
from typing import Literal

from offline_eval.core.evidence import Evidence, RefusalEvidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score
from offline_eval.metrics._score import NotScored, score_with, the_piece

Among = Literal["all", "refused", "answerable", "unanswerable"]


class RefusalRate:
    """One rate; a response's score is 1 or 0, and the mean is the rate.

    Args:
        name: Registered name.
        card: The metric's card.
        among: Which responses count.
        higher_is_better: Which end of the range is the good one.
        hit: Refused and unanswerable (None when nobody said) to whether the response counts as a hit.
    """

    low = 0.0
    high = 1.0
    needs: tuple[str, ...] = ("refusal",)

    def __init__(
        self, name: str, card: str, *, among: Among, higher_is_better: bool, hit: Callable[[bool, bool | None], bool]
    ) -> None:
        self.name = name
        self.higher_is_better = higher_is_better
        self.__doc__ = card
        self._among = among
        self._hit = hit

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """1 or 0; not applicable to the responses that are not counted."""
        return score_with(self.name, case, response, lambda: self._compute(case, evidence))

    def _compute(self, case: Case, evidence: Sequence[Evidence]) -> float:
        refused = the_piece(evidence, RefusalEvidence).refused
        unanswerable = None if case.answerable is None else not case.answerable
        if self._among != "all" and unanswerable is None:
            raise NotScored("answerable_unknown")
        counts = {"all": True, "refused": refused, "answerable": not unanswerable, "unanswerable": bool(unanswerable)}
        if not counts[self._among]:
            raise NotScored(f"not_{self._among}" if self._among == "refused" else f"case_not_{self._among}")
        return float(self._hit(refused, unanswerable))
