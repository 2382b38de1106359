"""Scores as arrays, kept draws and counted ranks: faster ways to the very same numbers."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.core.results import Score, Status
from offline_eval.stats import intervals
from offline_eval.stats.association import correlation_matrix, spearman
from offline_eval.stats.estimate import estimate
from offline_eval.stats.intervals import bootstrap_mean
from offline_eval.stats.measured import measure
from offline_eval.stats.score_column import ScoreColumn


def score(place: int, cluster: str, value: float | None, *, failed: bool = False, reason: str | None = None) -> Score:
    status = Status.SCORED if value is not None else Status.FAILED if failed else Status.NOT_APPLICABLE
    return Score(
        metric="m", response_key=str(place), cluster=cluster, system="s", status=status, value=value, reason=reason
    )


outcomes = st.one_of(
    st.tuples(st.floats(0, 1), st.just(False), st.none()),
    st.tuples(st.none(), st.booleans(), st.sampled_from(["no_reference", "time_limit", "未检查"])),
)
rows = st.lists(st.tuples(st.sampled_from("乙甲abcdefgh"), outcomes), min_size=1, max_size=40)


@settings(max_examples=60)
@given(rows, st.data())
def test_a_slice_of_a_column_has_the_estimate_of_its_scores(found, data):
    scores = [score(i, name, value, failed=failed, reason=why) for i, (name, (value, failed, why)) in enumerate(found)]
    places = data.draw(st.lists(st.sampled_from(range(len(scores))), min_size=1, unique=True))
    settings = {"low": 0, "high": 1, "seed": 3, "resamples": 100}
    sliced = estimate(ScoreColumn.of(scores).rows(np.array(places)), **settings)
    assert sliced == estimate([scores[place] for place in places], **settings)


def test_reasons_of_a_slice_are_those_of_its_scores() -> None:
    scores = [score(0, "a", 1.0), score(1, "b", None, reason="x"), score(2, "c", None, reason="y", failed=True)]
    column = ScoreColumn.of(scores)
    assert column.reason_counts() == {"x": 1, "y": 1}
    assert column.rows(np.array([0, 2])).reason_counts() == {"y": 1}
    assert column.rows(np.array([0])).reason_counts() == {}


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["10", "9", "甲", "乙", "a", "b", "c", "d"]), st.floats(-5, 5)), min_size=8))
def test_clusters_by_place_and_by_name_are_alike(found):
    names, values = [name for name, _ in found], [value for _, value in found]
    place = {name: at * 2 for at, name in enumerate(sorted(set(names)))}  # places need not be without gaps
    by_place = np.array([place[name] for name in names])
    draw = {"seed": 1, "resamples": 100}
    assert bootstrap_mean(values, clusters=by_place, **draw) == bootstrap_mean(values, clusters=names, **draw)


@pytest.mark.parametrize("sizes", [[1] * 40, [2] * 20, [1, 2, 3, 4] * 5])
def test_kept_draws_are_the_draws_that_the_seed_gives(sizes, monkeypatch):
    rng = np.random.default_rng(5)
    clusters = [f"c{at:02d}" for at, size in enumerate(sizes) for _ in range(size)]
    values = rng.random(len(clusters)).tolist()
    kept = bootstrap_mean(values, clusters=clusters, seed=7)
    monkeypatch.setattr(intervals, "_DRAWS_KEPT", 0)
    assert bootstrap_mean(values, clusters=clusters, seed=7) == kept
    # The stream of the seed, drawn at once: sums of the drawn clusters over their sizes.
    m, edges = len(sizes), np.cumsum([0, *sizes])
    drawn = np.random.default_rng(7).integers(0, m, (intervals.RESAMPLES, m))
    sums = np.array([sum(sorted(values[a:b])) for a, b in pairwise(edges)])
    means = sums[drawn].sum(axis=1) / np.array(sizes)[drawn].sum(axis=1)
    assert means.min() <= kept.low < np.median(means) < kept.high <= means.max()
    tail = (means <= kept.low).mean()
    assert tail == pytest.approx((means >= kept.high).mean(), abs=0.001)  # the same share is cut off on both sides


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from("abcdefghij")), min_size=3))
def test_counted_ranks_give_the_interval_of_sorted_ones(found):
    first, second = [float(a) for a, _, _ in found], [float(b) for _, b, _ in found]
    names = [name for _, _, name in found]
    draw = {"clusters": names, "seed": 2, "resamples": 100}
    pair = correlation_matrix({"x": first, "y": second}, **draw)[0].correlation
    assert pair == measure(spearman, [np.array(first), np.array(second)], **draw)
