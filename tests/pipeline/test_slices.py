"""Slices: every metric, system and group has the estimate of exactly its own scores."""

from collections.abc import Sequence

from offline_eval.core.evidence import Evidence, Provenance, RefusalEvidence
from offline_eval.core.protocols import Item
from offline_eval.core.results import Estimate
from offline_eval.pipeline.metric_plan import load_metric
from offline_eval.pipeline.scoring import score_all, scored_keys
from offline_eval.pipeline.slices import slice_estimates
from offline_eval.stats.estimate import estimate
from tests.support.panel_runs import make_case, make_response

MADE = Provenance(producer="refusal", version="1", parameters_hash="0")
METRICS = ("fallback_rate", "over_refusal", "attempt_score_drift(of=fallback_rate)")


def _items() -> list[Item]:
    items = []
    for number in range(12):
        tags = ("all", "even") if number % 2 == 0 else ("all",)
        kind = "factual" if number < 8 else "open"
        case = make_case(f"c{number}", query="年假有几天？", query_type=kind, tags=tags, answerable=number > 2)
        for system in ("甲", "乙"):
            if (number, system) == (3, "乙"):
                continue  # left out by one system
            for attempt in (1, 2):
                items.append(Item(case=case, response=make_response(case.id, system=system, attempt=attempt)))
    return items


def _evidence(items: Sequence[Item]) -> dict[str, list[Evidence]]:
    def refused(place: int) -> RefusalEvidence:
        return RefusalEvidence(response_key=items[place].response.key, refused=place % 3 == 0, provenance=MADE)

    # One response in seven was not checked: its scores fail.
    return {items[place].response.key: [refused(place)] for place in range(len(items)) if place % 7}


def test_each_estimate_is_that_of_the_scores_of_its_slice() -> None:
    items = _items()
    metrics = [load_metric(name) for name in METRICS]
    scores = score_all(metrics, items, _evidence(items))
    found = slice_estimates(metrics, items, scores, seed=5)
    of_group = {
        "all": lambda case: True,
        "query_type=factual": lambda case: case.query_type == "factual",
        "query_type=open": lambda case: case.query_type == "open",
        "language=zh": lambda case: True,
        "tag=all": lambda case: True,
        "tag=even": lambda case: "even" in case.tags,
    }
    expected: list[Estimate] = []
    for group, holds in of_group.items():
        for system in ("甲", "乙"):
            own = [item for item in items if item.response.system == system and holds(item.case)]
            for metric in metrics:
                chosen = [scores[metric.name][key] for key in scored_keys(metric, own)]
                bounds = {"low": metric.low, "high": metric.high, "higher_is_better": metric.higher_is_better}
                expected.append(estimate(chosen, seed=5, group=group, **bounds))
    assert found == expected
    # 11 cases of 乙 with 2 attempts each; a group metric counts cases.
    assert [e.n for e in found if (e.group, e.system) == ("all", "乙")] == [22, 22, 11]


def test_without_responses_there_is_no_estimate() -> None:
    metrics = [load_metric(name) for name in METRICS]
    assert slice_estimates(metrics, [], {metric.name: {} for metric in metrics}, seed=0) == []
