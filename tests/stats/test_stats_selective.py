"""Risk, coverage and the area between them, by hand, by brute force and against scikit-learn."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve

from offline_eval.core.errors import DataError
from offline_eval.stats.selective import aurc, largest_coverage, least_aurc, risk_coverage
from offline_eval.stats.undefined import Undefined

rows = st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.5000001, 0.9, 1.0]), st.integers(0, 1)), min_size=1)


def test_the_area_is_the_mean_risk_over_all_numbers_of_answers() -> None:
    # right, wrong, right: risks 0/1, 1/2, 1/3; their mean is (0 + .5 + .3333) / 3
    assert aurc([0.9, 0.8, 0.3], [1, 0, 1]) == pytest.approx((0 + 1 / 2 + 1 / 3) / 3)


def test_a_point_counts_everything_at_or_above_its_threshold() -> None:
    points = risk_coverage([0.9, 0.5, 0.5, 0.1], [1, 0, 1, 0])
    found = [(p.threshold, p.coverage, p.risk, p.n, p.wrong) for p in points]
    assert found == [(0.9, 0.25, 0.0, 1, 0), (0.5, 0.75, 1 / 3, 3, 1), (0.1, 1.0, 0.5, 4, 2)]


def test_without_items_there_is_no_curve_and_no_area() -> None:
    assert risk_coverage([], []) == []
    assert isinstance(aurc([], []), Undefined)
    assert isinstance(largest_coverage([], [], accuracy=0.5), Undefined)


def test_confidences_outside_the_range_are_refused() -> None:
    with pytest.raises(DataError, match="0 to 1"):
        aurc([1.2], [1])
    with pytest.raises(DataError, match="target accuracy"):
        largest_coverage([0.5], [1], accuracy=0)


@given(st.lists(st.tuples(st.sampled_from([0.2, 0.7]), st.integers(0, 1)), min_size=1, max_size=5))
def test_ties_give_the_mean_over_all_orders(items: list[tuple[float, int]]) -> None:
    areas = []
    for order in permutations(items):
        if any(a[0] < b[0] for a, b in pairwise(order)):
            continue  # not an order the confidences allow
        wrong = np.cumsum([1 - y for _, y in order])
        areas.append(np.mean(wrong / np.arange(1, len(order) + 1)))
    assert aurc(*zip(*items, strict=True)) == pytest.approx(float(np.mean(areas)))


@given(rows)
def test_a_constant_confidence_has_the_overall_risk(items: list[tuple[float, int]]) -> None:
    outcomes = [y for _, y in items]
    assert aurc([0.5] * len(items), outcomes) == pytest.approx(1 - np.mean(outcomes))


@given(rows)
def test_no_confidence_beats_knowing_the_outcomes(items: list[tuple[float, int]]) -> None:
    p, y = zip(*items, strict=True)
    best, found = least_aurc(y), aurc(p, y)
    assert not isinstance(best, Undefined)
    assert not isinstance(found, Undefined)
    assert best <= found + 1e-12
    assert 0 <= found <= 1


@given(rows)
def test_the_order_of_the_items_does_not_matter(items: list[tuple[float, int]]) -> None:
    p, y = zip(*items, strict=True)
    assert aurc(p, y) == pytest.approx(aurc(p[::-1], y[::-1]))


@given(rows.filter(lambda items: any(y for _, y in items)))
def test_one_less_the_risk_is_scikit_learns_precision(items: list[tuple[float, int]]) -> None:
    p, y = zip(*items, strict=True)
    precision, _, thresholds = precision_recall_curve(y, p)
    ours = {point.threshold: 1 - point.risk for point in risk_coverage(p, y)}
    for value, threshold in zip(precision, thresholds, strict=False):
        assert ours[float(threshold)] == pytest.approx(float(value))


def test_the_largest_coverage_keeps_the_target() -> None:
    # 1/1, 1/2, 2/3, 2/4 right: a target of 2/3 is met at one item and at three; the larger one is taken
    point = largest_coverage([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0], accuracy=2 / 3)
    assert not isinstance(point, Undefined)
    assert (point.n, point.threshold) == (3, 0.7)
    assert isinstance(largest_coverage([0.9, 0.1], [0, 1], accuracy=0.9), Undefined)
