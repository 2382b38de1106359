"""Intervals: never of zero width, undefined with a reason, the same whatever the order, fast."""

import numpy as np
import pytest

from offline_eval.core.errors import DataError
from offline_eval.stats import agreement, association
from offline_eval.stats.arrays import encode, numbered
from offline_eval.stats.intervals import bootstrap, bootstrap_mean, least_clusters, mean_interval, wilson
from offline_eval.stats.measured import measure
from offline_eval.stats.paired import compare_paired, sign_flip_p
from offline_eval.stats.undefined import Undefined


def test_all_right_does_not_claim_certainty():
    found = mean_interval([1.0] * 20, low=0, high=1, seed=1)
    assert found.low < 1
    assert found.high == 1
    assert found.method == "Wilson"


def test_all_excellent_on_a_three_level_scale_uses_the_scale():
    # Wilson of 10 out of 10 is [.722467, 1]; 1 + 2 * .722467 = 2.444934
    found = mean_interval([3.0] * 10, low=1, high=3, seed=1)
    assert (found.low, found.high) == (pytest.approx(2.444934, abs=1e-6), 3)


def test_repeated_attempts_of_one_case_count_once_when_all_are_right():
    ids = [str(i // 5) for i in range(50)]
    assert mean_interval([1.0] * 50, low=0, high=1, clusters=ids, seed=1).low == wilson(10, 10).low


def test_all_equal_inside_the_range_is_undefined():
    found = mean_interval([2.0] * 20, low=1, high=3, seed=1)
    assert isinstance(found, Undefined)
    assert "same value" in found.reason


@pytest.mark.parametrize("n", [0, 1, 5])
def test_too_few_cases_have_no_bootstrap_interval(n):
    found = bootstrap_mean(list(range(n)), seed=1)
    assert found == Undefined(reason=f"a 95% interval needs at least 6 independent cases, here {n}")


def test_many_answers_to_few_questions_are_still_few():
    found = bootstrap_mean(list(range(100)), clusters=["a", "b"] * 50, seed=1)
    assert "here 2" in found.reason


@pytest.mark.parametrize(("level", "least"), [(0.9, 5), (0.95, 6), (0.99, 8)])
def test_least_clusters_follows_the_level(level, least):
    assert least_clusters(level) == least
    assert 2.0 ** (1 - least) <= 1 - level + 1e-12 < 2.0 ** (2 - least)


def test_same_seed_same_interval_other_seed_other_interval():
    values = np.random.default_rng(0).random(50)
    first = bootstrap_mean(values, seed=1)
    assert bootstrap_mean(values, seed=1) == first
    assert bootstrap_mean(values, seed=2) != first
    assert first.seed == 1


def test_clustered_answers_widen_the_interval():
    rng = np.random.default_rng(0)
    values = np.repeat(rng.random(30), 10)
    ids = [str(i // 10) for i in range(300)]
    alone, together = bootstrap_mean(values, seed=1), bootstrap_mean(values, clusters=ids, seed=1)
    assert (together.high - together.low) > 2.5 * (alone.high - alone.low)


def test_closed_form_for_very_many_clusters_agrees_with_resampling():
    values = np.random.default_rng(0).gamma(2, size=2_000)
    closed, resampled = bootstrap_mean(values, seed=1), bootstrap_mean(values[:-1], seed=1, resamples=20_000)
    assert "closed form" in closed.method
    assert "20000 resamples" in resampled.method
    # Half the width is 1.96 × 1.41 / sqrt(2000) = .062; resampling's own chance error is about .001.
    assert (closed.low, closed.high) == pytest.approx((resampled.low, resampled.high), abs=3e-3)


def test_the_closed_form_stays_within_the_range():
    values = [1.0] * 4_999 + [0.5]  # mean .9999, half the width .0002: the upper end would be 1.0001
    found = mean_interval(values, low=0, high=1, seed=1)
    assert "closed form" in found.method
    assert found.low < 0.9999
    assert found.high == 1


def test_a_statistic_undefined_in_many_resamples_has_no_interval():
    # The single positive is missing from about a third of the resamples.
    _, columns = encode(["yes"] * 20, ["yes"] + ["no"] * 19)
    found = bootstrap(lambda a, b: agreement.sensitivity(a, b, positive=1), columns, seed=1)
    assert isinstance(found, Undefined)
    assert "of 2000 resamples" in found.reason


def test_perfect_agreement_has_a_value_and_no_interval():
    _, columns = encode(["a", "b"] * 20, ["a", "b"] * 20)
    found = measure(agreement.cohen_kappa, columns, seed=1)
    assert found.value == 1
    assert found.interval is None
    assert "same value" in found.interval_reason


def test_an_undefined_statistic_gives_its_reason_for_both():
    found = measure(association.pearson, [np.ones(10), np.arange(10.0)], seed=1)
    assert found.value is None
    assert found.reason == found.interval_reason == "the first column is constant (1)"


def test_generic_bootstrap_of_a_mean_matches_the_fast_one():
    values = np.random.default_rng(0).random(40)
    ids = [str(i % 20) for i in range(40)]
    generic = bootstrap(lambda x: float(x.mean()), [values], clusters=ids, seed=1)
    fast = bootstrap_mean(values, clusters=ids, seed=2)
    assert (generic.low, generic.high) == pytest.approx((fast.low, fast.high), abs=0.015)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([0.5, float("nan")], "value 1 is nan"),
        ([0.5, "high"], "'high' at place 1"),
        ([[0.5], [0.5]], "2 dimensions"),
        ([0.5, 1.5], "value 1 is 1.5, outside the metric's range 0 to 1"),
    ],
)
def test_bad_values_are_named(values, problem):
    with pytest.raises(DataError, match=problem):
        mean_interval(values, low=0, high=1, seed=1)


def test_columns_of_different_length_are_named():
    with pytest.raises(DataError, match="values has 3, clusters has 2"):
        bootstrap_mean([0.1, 0.2, 0.3], clusters=["a", "b"], seed=1)


IDS = [f"用例-{place // 2:02d}" for place in range(40)]
NUMBERS = [place // 2 for place in range(40)]
FORMS = {
    "list of text": IDS,
    "tuple of text": tuple(IDS),
    "array of text": np.array(IDS),
    "array of objects": np.array(IDS, dtype=object),
    "list of numpy text": list(np.array(IDS)),
    "list of numbers": NUMBERS,
    "array of numbers": np.array(NUMBERS),
    "array of small numbers": np.array(NUMBERS, dtype=np.uint8),
    "array of unsigned numbers": np.array(NUMBERS, dtype=np.uint64),
    "array of numbers below 0": np.array(NUMBERS) - 7,
    "array of enormous numbers": np.array(NUMBERS) * 10**12,
    "list of numpy numbers": list(np.array(NUMBERS)),
    "array of numbers as objects": np.array(NUMBERS, dtype=object),
}


@pytest.mark.parametrize("form", FORMS)
def test_clusters_are_the_same_in_whatever_form_they_come(form):
    clusters = FORMS[form]
    values = np.random.default_rng(0).random(40)
    assert numbered(clusters).tolist() == NUMBERS
    assert bootstrap_mean(values, clusters=clusters, seed=1) == bootstrap_mean(values, clusters=IDS, seed=1)
    inside, at_an_end = {"low": 0, "high": 1, "seed": 1}, [1.0] * 40
    assert mean_interval(values, clusters=clusters, **inside) == mean_interval(values, clusters=IDS, **inside)
    assert mean_interval(at_an_end, clusters=clusters, **inside) == wilson(20, 20)
    found, wanted = (
        bootstrap(lambda column: float(column.mean()), [values], clusters=names, seed=1, resamples=100)
        for names in (clusters, IDS)
    )
    assert found == wanted
    assert sign_flip_p(values - 0.4, clusters=clusters, seed=1) == sign_flip_p(values - 0.4, clusters=IDS, seed=1)


def test_a_number_beside_text_is_the_same_name_as_its_digits():
    assert numbered(["b", 7, "7", np.int64(7), "10", "a"]).tolist() == [3, 1, 1, 1, 0, 2]
    mixed, text = [7, "7", "a", "b", "c", "d", "e"], ["7", "7", "a", "b", "c", "d", "e"]
    ends, inside = [0.0, 1, 1, 0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    for values in (ends, inside, [1.0] * 7):
        found, wanted = (mean_interval(values, low=0, high=1, clusters=names, seed=1) for names in (mixed, text))
        assert found == wanted
    assert mean_interval([1.0] * 7, low=0, high=1, clusters=mixed, seed=1) == wilson(6, 6)


def test_pairs_of_one_case_are_one_cluster_in_any_form():
    before, after = [0.2, 0.4] * 20, list(np.random.default_rng(0).random(40))
    found = [compare_paired(before, after, clusters=clusters, seed=1) for clusters in (IDS, np.array(IDS), NUMBERS)]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("clusters", "problem"),
    [
        (["a", None, "b"], "found None at place 1"),
        ([0, 1.5, 2], r"found 1\.5 at place 1"),
        (np.array([0.0, 1.0, 2.0]), r"found 0\.0 at place 0"),
        (np.array([True, False, True]), "found True at place 0"),
        (["a", b"b", "c"], "found b'b' at place 1"),
        (np.array([["a"], ["b"], ["c"]]), "2 dimensions"),
    ],
)
def test_what_names_no_cluster_is_refused_with_its_place(clusters, problem):
    for interval in (
        lambda: bootstrap_mean([0.1, 0.2, 0.3], clusters=clusters, seed=1),
        lambda: mean_interval([0.1, 0.2, 0.3], low=0, high=1, clusters=clusters, seed=1),
    ):
        with pytest.raises(DataError, match=f"clusters: expected .*{problem}"):
            interval()


def test_no_clusters_at_all_are_none():
    assert numbered([]).tolist() == numbered(np.array([], dtype=np.int64)).tolist() == []
