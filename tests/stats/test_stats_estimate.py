"""Estimates: one metric, one system, nothing hidden."""

import pytest

from offline_eval.core.errors import DataError
from offline_eval.core.results import Score, Status
from offline_eval.stats.estimate import estimate


def _score(i: int, value: float | None = 1.0, *, reason: str | None = None, system: str = "s") -> Score:
    failed = Status.FAILED if reason == "engine_error" else Status.NOT_APPLICABLE
    return Score(
        metric="m",
        response_key=f"{system}/{i}",
        cluster=str(i),
        system=system,
        status=failed if value is None else Status.SCORED,
        value=value,
        reason=reason,
    )


def test_no_scores_is_a_clear_error():
    with pytest.raises(DataError, match="no scores to take a mean of"):
        estimate([], low=0, high=1, seed=1)


def test_one_case_has_a_value_and_no_interval():
    found = estimate([_score(0, 0.4)], low=0, high=1, seed=1)
    assert found.value == 0.4
    assert found.interval is None
    assert "here 1" in found.interval_reason


def test_nothing_applicable_has_no_value_and_says_why():
    found = estimate([_score(i, None, reason="no reference") for i in range(9)], low=0, high=1, seed=1)
    assert (found.value, found.interval, found.interval_reason) == (None, None, "nothing was scored")
    assert found.reasons == {"no reference": 9}
    assert (found.mean_scored, found.best) == (None, None)


def test_a_metric_made_of_failures_has_no_value():
    found = estimate([_score(i, None, reason="engine_error") for i in range(9)], low=1, high=3, seed=1)
    assert (found.value, found.mean_scored, found.best, found.interval) == (None, None, None, None)
    assert found.n_failed == 9


def test_a_failed_item_counts_at_the_bad_end_of_the_range():
    scores = [*(_score(i, 2.0) for i in range(9)), _score(9, None, reason="engine_error")]
    found = estimate(scores, low=1, high=3, seed=1)
    assert found.value == pytest.approx(1.9)  # (9 x 2 + 1) / 10
    assert found.mean_scored == 2
    assert found.best == pytest.approx(2.1)  # (9 x 2 + 3) / 10
    assert found.interval.low <= 1.9 <= found.interval.high


def test_where_lower_is_better_a_failed_item_counts_as_the_highest_value():
    scores = [*(_score(i, 0.2) for i in range(9)), _score(9, None, reason="engine_error")]
    found = estimate(scores, low=0, high=1, seed=1, higher_is_better=False)
    assert found.value == pytest.approx(0.28)  # (9 x .2 + 1) / 10
    assert found.best == pytest.approx(0.18)  # (9 x .2 + 0) / 10


def test_without_a_bad_end_a_mean_with_failures_is_undefined():
    scores = [_score(0, 2.0), _score(1, None, reason="engine_error")]
    found = estimate(scores, low=float("-inf"), high=3, seed=1)
    assert (found.value, found.mean_scored) == (None, 2)
    assert found.interval_reason == "failed items have no value"


def test_without_failures_all_means_are_one():
    found = estimate([_score(i, i / 10) for i in range(10)], low=0, high=1, seed=1)
    assert found.value == found.mean_scored == found.best == pytest.approx(0.45)


def test_a_metric_without_a_highest_value_has_no_best_case():
    found = estimate([_score(i, float(i)) for i in range(10)], low=0, high=float("inf"), seed=1)
    assert (found.value, found.best) == (4.5, None)


def test_the_estimate_does_not_depend_on_the_order_of_scores():
    scores = [_score(i, (i * 7 % 10) / 10) for i in range(30)]
    assert estimate(scores, low=0, high=1, seed=1) == estimate(scores[::-1], low=0, high=1, seed=1)


def test_reasons_are_counted_most_frequent_first():
    scores = [
        _score(0),
        *[_score(i, None, reason="no reference") for i in (1, 2)],
        _score(3, None, reason="engine_error"),
    ]
    assert list(estimate(scores, low=0, high=1, seed=1).reasons.items()) == [("no reference", 2), ("engine_error", 1)]


def test_two_systems_in_one_mean_are_refused():
    with pytest.raises(DataError, match="several systems: a, b"):
        estimate([_score(0, system="a"), _score(1, system="b")], low=0, high=1, seed=1)
