"""Every metric's estimate for every system, over everything and by query type, language and tag.

Why apart from `aggregate`: a large run has hundreds of slices, so scores become arrays once and a slice picks rows.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from offline_eval.core.protocols import GroupMetric, Item
from offline_eval.core.results import Estimate, Score
from offline_eval.pipeline.scoring import AnyMetric, keys_of
from offline_eval.stats.arrays import Ints, encode
from offline_eval.stats.estimate import estimate
from offline_eval.stats.score_column import ScoreColumn
from offline_eval.text.language import detect_language
from offline_eval.text.query_type import classify_query

SLICED_TAGS = 20


def query_type_of(item: Item) -> str:
    """The case's type, given or classified."""
    return item.case.query_type or classify_query(item.case.query).type


def language_of(item: Item) -> str:
    """The case's language, given or detected."""
    return item.case.language or detect_language(item.case.query)


def frequent_tags(items: Sequence[Item]) -> list[str]:
    """The tags with a slice of their own, sorted: the most frequent ones, since some sets have a tag for every case."""
    counts = Counter(tag for item in items for tag in set(item.case.tags))
    return sorted(sorted(counts, key=lambda tag: (-counts[tag], tag))[:SLICED_TAGS])


def slice_estimates(
    metrics: Sequence[AnyMetric],
    items: Sequence[Item],
    scores: Mapping[str, Mapping[str, Score]],
    *,
    seed: int,
) -> list[Estimate]:
    """All metrics of all systems, over everything first.

    Args:
        scores: Metric to key to score, of all metrics and items.
        seed: Seed of the intervals' resampling.
    """
    places: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        places.setdefault(item.response.system, []).append(place)
    own = {system: np.array(found) for system, found in places.items()}
    columns = {
        system: list(_columns(metrics, [items[place] for place in found], scores)) for system, found in own.items()
    }
    found = []
    for group, members in _slices(items):
        for system, of_system in own.items():
            shown = np.flatnonzero(np.isin(of_system, members))
            if not shown.size:
                continue
            for metric, (column, rows) in zip(metrics, columns[system], strict=True):
                chosen = shown if rows is None else np.unique(rows[shown])
                found.append(_estimate(metric, column.rows(chosen), seed=seed, group=group))
    return found


def _slices(items: Sequence[Item]) -> Iterator[tuple[str, Ints]]:
    """A slice's name and the places of its items."""
    yield "all", np.arange(len(items))
    for kind, of in (("query_type", query_type_of), ("language", language_of)):
        names, (codes,) = encode([of(item) for item in items])
        for code, name in enumerate(names):
            yield f"{kind}={name}", np.flatnonzero(codes == code)
    for tag in frequent_tags(items):
        yield f"tag={tag}", np.flatnonzero([tag in item.case.tags for item in items])


def _columns(
    metrics: Sequence[AnyMetric], items: Sequence[Item], scores: Mapping[str, Mapping[str, Score]]
) -> Iterator[tuple[ScoreColumn, Ints | None]]:
    """Each metric's scores of one system; and each item's row among them, where a row stands for several items."""
    keys: dict[bool, list[str]] = {}
    for metric in metrics:
        is_group = isinstance(metric, GroupMetric)
        if is_group not in keys:
            keys[is_group] = keys_of(metric, items)
        row = {key: place for place, key in enumerate(dict.fromkeys(keys[is_group]))}
        column = ScoreColumn.of([scores[metric.name][key] for key in row])
        yield column, None if len(row) == len(items) else np.array([row[key] for key in keys[is_group]])


def _estimate(metric: AnyMetric, column: ScoreColumn, *, seed: int, group: str) -> Estimate:
    return estimate(
        column,
        low=metric.low,
        high=metric.high,
        higher_is_better=metric.higher_is_better,
        seed=seed,
        group=group,
    )
