"""Agreement, alpha, raters and correlations on degenerate input: undefined with a reason, never NaN, 0 or 1."""

import math

import numpy as np
import pytest

from offline_eval.core.errors import DataError, UnknownNameError, UsageError
from offline_eval.stats import agreement, association
from offline_eval.stats.alpha import LEVELS, krippendorff_alpha, ratings_table
from offline_eval.stats.association import correlation_matrix
from offline_eval.stats.raters import leave_one_out_ceiling, majority, pairwise_ceiling, row_majority
from offline_eval.stats.undefined import Undefined

NAN = math.nan


@pytest.mark.parametrize(
    "coefficient",
    [
        agreement.accuracy,
        agreement.balanced_accuracy,
        agreement.macro_f1,
        agreement.macro_precision,
        agreement.cohen_kappa,
    ],
)
def test_no_items_is_undefined(coefficient):
    assert isinstance(coefficient([], []), Undefined)


def test_kappa_of_two_constant_equal_columns_is_undefined_not_one():
    found = agreement.cohen_kappa(["yes"] * 9, ["yes"] * 9)
    assert "one and the same label" in found.reason


def test_a_judge_that_always_says_yes_has_no_specificity_to_speak_of():
    judge, person = ["yes"] * 10, ["yes"] * 6 + ["no"] * 4
    assert agreement.accuracy(judge, person) == 0.6
    assert agreement.balanced_accuracy(judge, person) == 0.5
    assert agreement.cohen_kappa(judge, person) == 0
    assert agreement.false_support_rate(judge, person, positive="yes") == 1
    assert "no was never predicted" in agreement.macro_precision(judge, person).reason


def test_every_undefined_share_says_what_is_missing():
    assert agreement.precision(["no"] * 3, ["yes"] * 3, positive="yes").reason == "nothing was predicted 'yes'"
    assert agreement.sensitivity(["yes"] * 3, ["no"] * 3, positive="yes").reason == "nothing is 'yes'"
    assert agreement.specificity(["yes"] * 3, ["yes"] * 3, positive="yes").reason == "everything is 'yes'"
    assert agreement.f1(["no"] * 3, ["no"] * 3, positive="yes").reason == "'yes' stands in neither column"
    assert "two classes" in agreement.balanced_accuracy(["yes", "no"], ["no", "no"]).reason


def test_an_unused_grade_keeps_its_place_on_the_scale():
    # 1 against 3 is twice as far as 1 against 2, though nobody gave a 2 on the left.
    near = agreement.weighted_kappa([1, 1, 5, 5], [1, 2, 5, 5], weights="linear")
    far = agreement.weighted_kappa([1, 1, 5, 5], [1, 4, 5, 5], weights="linear")
    assert near > far


def test_labels_that_cannot_be_compared_are_refused():
    with pytest.raises(DataError, match="text and the other numbers"):
        agreement.accuracy(["1", "2"], [1, 2])
    with pytest.raises(DataError, match="none missing"):
        agreement.accuracy(["a", None], ["a", "b"])
    with pytest.raises(DataError, match="the first column has 2, the second column has 1"):
        agreement.accuracy(["a", "b"], ["a"])
    with pytest.raises(DataError, match="grades as numbers"):
        agreement.weighted_kappa(["low", "high"], ["low", "low"], weights="linear")
    with pytest.raises(UsageError, match="'linear' or 'quadratic'"):
        agreement.weighted_kappa([1], [1], weights="cubic")


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_undefined_for_one_rater_for_equal_labels_and_without_overlap(level):
    assert "two raters" in krippendorff_alpha(np.array([[1.0], [2.0]]), level=level).reason
    assert "same" in krippendorff_alpha(np.ones((5, 3)), level=level).reason
    assert "two raters" in krippendorff_alpha(np.array([[1, NAN], [NAN, 2]]), level=level).reason
    assert "two raters" in krippendorff_alpha(np.empty((0, 0)), level=level).reason


def test_a_ratings_table_places_text_on_its_scale():
    raters, table = ratings_table([{"李": "高", "ann": "低"}, {"ann": "中"}], scale=["低", "中", "高"])
    assert raters == ["ann", "李"]
    np.testing.assert_array_equal(table, [[0, 2], [1, NAN]])


@pytest.mark.parametrize(
    ("items", "scale", "problem"),
    [
        ([{"a": "x", "b": 1}], None, "mix text and numbers"),
        ([{"a": "x"}], ["low", "high"], "outside the scale"),
        ([{"a": NAN}], None, "not a finite number"),
        ([{"a": math.inf}], None, "not a finite number"),
    ],
)
def test_a_ratings_table_refuses_labels_it_cannot_place(items, scale, problem):
    with pytest.raises(DataError, match=problem):
        ratings_table(items, scale=scale)


def test_a_tie_between_raters_is_named_not_broken():
    found = majority(["no", "yes", "yes", "no"])
    assert (found.label, found.tied, found.votes, found.n) == (None, ("no", "yes"), 2, 4)
    assert majority(["no", "yes", "yes"]).label == "yes"
    assert isinstance(majority([]), Undefined)


def test_row_majority_leaves_ties_and_unlabelled_rows_open():
    found = row_majority(np.array([[1, 1, 2], [1, 2, NAN], [NAN, NAN, NAN]]))
    np.testing.assert_array_equal(found, [1, NAN, NAN])
    np.testing.assert_array_equal(row_majority(np.full((2, 2), NAN)), [NAN, NAN])


def test_a_ceiling_without_shared_items_is_undefined():
    apart = np.array([[1, NAN], [NAN, 2]])
    assert isinstance(pairwise_ceiling(apart, agreement.accuracy), Undefined)
    assert isinstance(leave_one_out_ceiling(apart, agreement.accuracy), Undefined)


def test_a_ceiling_names_the_raters_for_whom_it_is_undefined():
    ratings = np.array([[1.0, 1, 2], [1, 1, 1]])
    assert pairwise_ceiling(ratings, agreement.cohen_kappa).reason.startswith("raters 1 and 2: both columns")


@pytest.mark.parametrize("correlate", [association.pearson, association.spearman, association.kendall])
def test_correlations_are_undefined_for_constant_or_short_columns(correlate):
    assert correlate([1, 2], [1, 2]).reason == "a correlation needs at least 3 pairs, here 2"
    assert correlate([1, 2, 3], [2, 2, 2]).reason == "the second column is constant (2)"


def test_pearson_survives_values_whose_squares_overflow_or_vanish():
    x, y = np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 4.0])
    expected = association.pearson(x, y)
    assert association.pearson(x * 1e300, y * 1e-300) == pytest.approx(expected)


def test_the_correlation_matrix_counts_pairs_and_reads_them():
    rng = np.random.default_rng(0)
    base = rng.integers(1, 4, 60).astype(float)
    columns = {
        "faithfulness": base.tolist(),
        "relevance": base.tolist()[:50] + [None] * 10,
        "completeness": rng.integers(1, 4, 60).astype(float).tolist(),
        "constant": [2.0] * 60,
    }
    found = {(pair.first, pair.second): pair for pair in correlation_matrix(columns, seed=1, resamples=200)}
    assert len(found) == 6
    twins = found["faithfulness", "relevance"]
    assert (twins.correlation.n, twins.reading) == (50, "redundant")
    assert found["faithfulness", "completeness"].reading == "other"
    assert found["faithfulness", "constant"].reading == "undefined"
    assert "constant" in found["faithfulness", "constant"].correlation.reason


def test_an_unknown_correlation_is_answered_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean 'spearman'"):
        correlation_matrix({}, method="spaerman", seed=1)
