"""What the dimension grades share: a dimension's place in the panel verdict becomes a score."""

from collections.abc import Sequence

from offline_eval.core.evidence import Evidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score, Status
from offline_eval.judge.routing import panel_grades

NOT_JUDGED = "not_judged"


class DimensionGrade:
    """A dimension's grade.

    Args:
        dimension: The rubric's dimension.
        card: The metric's card.
    """

    low = 1.0
    high = 3.0
    higher_is_better = True
    needs = ("rubric_verdict",)

    def __init__(self, dimension: str, card: str) -> None:
        self.name = f"{dimension}_grade"
        self._dimension = dimension
        self.__doc__ = card

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """The grade over the dimension's judges; failed if one of them failed, or if none was asked yet."""
        verdict = panel_grades(evidence)
        if self._dimension in verdict.grades:
            return scored(self.name, case, response, value=verdict.grades[self._dimension])
        reason = verdict.missing.get(self._dimension, NOT_JUDGED)
        has_failed = self._dimension in verdict.failed or reason == NOT_JUDGED
        return unscored(self.name, case, response, failed=has_failed, reason=reason)


def scored(metric: str, case: Case, response: Response, *, value: float) -> Score:
    """A score with a value."""
    return Score(
        metric=metric,
        response_key=response.key,
        cluster=case.id,
        system=response.system,
        status=Status.SCORED,
        value=value,
    )


def unscored(metric: str, case: Case, response: Response, *, failed: bool, reason: str) -> Score:
    """A score without a value."""
    status = Status.FAILED if failed else Status.NOT_APPLICABLE
    return Score(
        metric=metric, response_key=response.key, cluster=case.id, system=response.system, status=status, reason=reason
    )
