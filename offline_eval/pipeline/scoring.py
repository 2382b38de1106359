"""Stored evidence → scores, for metrics of one response and of a case's whole group of responses alike."""

from collections.abc import Mapping, Sequence

from offline_eval.core.evidence import Evidence
from offline_eval.core.protocols import GroupMetric, Item, Metric
from offline_eval.core.results import Score
from offline_eval.pipeline.metric_plan import load_metric

AnyMetric = Metric | GroupMetric


def score_all(
    metrics: Sequence[AnyMetric], items: Sequence[Item], evidence: Mapping[str, Sequence[Evidence]]
) -> dict[str, dict[str, Score]]:
    """Score everything; no model is asked.

    Args:
        evidence: Response key to the response's evidence.

    Returns:
        Metric to key to score; the key is the response's, or system and case for a group metric.
    """
    return {metric.name: _scores(metric, items, evidence) for metric in metrics}


def scored_keys(metric: AnyMetric, items: Sequence[Item]) -> list[str]:
    """The keys under which a metric has scores for these items, each once."""
    of = _group_key if isinstance(metric, GroupMetric) else _key
    return list(dict.fromkeys(of(item) for item in items))


def _scores(metric: AnyMetric, items: Sequence[Item], evidence: Mapping[str, Sequence[Evidence]]) -> dict[str, Score]:
    if not isinstance(metric, GroupMetric):
        return {_key(item): metric.score(item.case, item.response, evidence.get(_key(item), ())) for item in items}
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(_group_key(item), []).append(item)
    base = None if metric.of is None else load_metric(metric.of)
    found = {}
    for key, group in groups.items():
        scores = [] if base is None else list(_scores(base, group, evidence).values())
        found[key] = metric.score_group(group[0].case, [item.response for item in group], scores)
    return found


def _key(item: Item) -> str:
    return item.response.key


def _group_key(item: Item) -> str:
    return f"{item.response.system}/{item.case.id}"
