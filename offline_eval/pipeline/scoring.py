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
    found = _scores([metric for metric in metrics if not isinstance(metric, GroupMetric)], items, evidence)
    for metric in metrics:
        if isinstance(metric, GroupMetric):
            base = found.get(metric.of or "") or _scores_of(metric, items, evidence)
            found[metric.name] = _group_scores(metric, items, base)
    return {metric.name: found[metric.name] for metric in metrics}


def scored_keys(metric: AnyMetric, items: Sequence[Item]) -> list[str]:
    """The keys under which a metric has scores for these items, each once."""
    return list(dict.fromkeys(keys_of(metric, items)))


def keys_of(metric: AnyMetric, items: Sequence[Item]) -> list[str]:
    """Each item's key among a metric's scores; a group's items share one."""
    of = _group_key if isinstance(metric, GroupMetric) else _key
    return [of(item) for item in items]


def _scores(
    metrics: Sequence[Metric], items: Sequence[Item], evidence: Mapping[str, Sequence[Evidence]]
) -> dict[str, dict[str, Score]]:
    """One response after the other, so that its evidence is still near when the next metric reads it."""
    found: dict[str, dict[str, Score]] = {metric.name: {} for metric in metrics}
    pairs = [(metric.score, found[metric.name]) for metric in metrics]
    for item in items:
        key = _key(item)
        pieces = evidence.get(key, ())
        for score, scores in pairs:
            scores[key] = score(item.case, item.response, pieces)
    return found


def _scores_of(
    group_metric: GroupMetric, items: Sequence[Item], evidence: Mapping[str, Sequence[Evidence]]
) -> dict[str, Score]:
    """Scores of the metric a group metric compares, which was not asked for itself."""
    base = None if group_metric.of is None else load_metric(group_metric.of)
    return {} if base is None or isinstance(base, GroupMetric) else _scores([base], items, evidence)[base.name]


def _group_scores(metric: GroupMetric, items: Sequence[Item], base: Mapping[str, Score]) -> dict[str, Score]:
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(_group_key(item), []).append(item)
    return {
        key: metric.score_group(
            group[0].case,
            [item.response for item in group],
            [base[_key(item)] for item in group if _key(item) in base],
        )
        for key, group in groups.items()
    }


def _key(item: Item) -> str:
    return item.response.key


def _group_key(item: Item) -> str:
    return f"{item.response.system}/{item.case.id}"
