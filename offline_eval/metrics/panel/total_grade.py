"""The panel's total: the weighted mean of its dimensions' grades.

Definition: sum of weight × grade over the dimensions that were scored, divided by the sum of their weights; by label,
  or by expected grade on request. Weights may differ by query type. Grades 3/1/1 with .5/.3/.2 give 2.0.
Range: 1 (fail) to 3 (excellent).
Needs: check `rubric_verdict` with the panel's examiners.
Undefined: not applicable when no dimension with a weight applies. A dimension that does not apply is left out and the
  weights renormalised; the report names it. One that failed, or was not judged yet, makes the total failed too:
  otherwise a crash on a weak dimension would raise the total.
Differs: tools that average whatever came back; here a failed part fails the whole.
Source: weighted mean; default weights are the panel's.
"""

from collections.abc import Mapping, Sequence
from math import fsum

from offline_eval.core.evidence import Evidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score
from offline_eval.judge.routing import panel_grades
from offline_eval.metrics.panel._grade import NOT_JUDGED, scored, unscored
from offline_eval.text.query_type import classify_query

DEFAULT_WEIGHTS: Mapping[str, float] = {"faithfulness": 0.5, "relevance": 0.3, "completeness": 0.2}


class TotalGrade:
    """The total under given weights.

    Args:
        weights: Dimension to weight, for every query type that has none of its own.
        by_query_type: Query type to weights.
        by_expected: Use expected grades instead of labels.
    """

    name = "total_grade"
    low = 1.0
    high = 3.0
    higher_is_better = True
    needs = ("rubric_verdict",)

    def __init__(
        self,
        weights: Mapping[str, float] = DEFAULT_WEIGHTS,
        *,
        by_query_type: Mapping[str, Mapping[str, float]] | None = None,
        by_expected: bool = False,
    ) -> None:
        self._weights = weights
        self._by_query_type = by_query_type or {}
        self._by_expected = by_expected
        self.__doc__ = __doc__

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """The weighted mean over the response's scored dimensions."""
        verdict = panel_grades(evidence)
        weights = {name: weight for name, weight in self._weights_of(case).items() if weight}
        missing = {name: verdict.missing.get(name, NOT_JUDGED) for name in weights if name not in verdict.grades}
        for name, reason in missing.items():
            if name in verdict.failed or reason == NOT_JUDGED:
                return unscored(self.name, case, response, failed=True, reason=f"{name}: {reason}")
        grades = verdict.expected_grades if self._by_expected else verdict.grades
        counted = [name for name in weights if name in grades]
        if not counted:
            return unscored(self.name, case, response, failed=False, reason=next(iter(missing.values())))
        total = fsum(weights[name] * grades[name] for name in counted) / fsum(weights[name] for name in counted)
        # Rounding can carry a mean of threes a hair above three.
        return scored(self.name, case, response, value=min(self.high, max(self.low, total)))

    def _weights_of(self, case: Case) -> Mapping[str, float]:
        if not self._by_query_type:
            return self._weights
        query_type = case.query_type or classify_query(case.query).type
        return self._by_query_type.get(query_type, self._weights)


METRIC = TotalGrade()
