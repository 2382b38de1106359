"""Numbers worked out by hand; the sum stands beside each."""

import numpy as np
import pytest

from offline_eval.core.results import Score, Status
from offline_eval.stats import agreement, association, calibration, corrected, intervals, paired, power
from offline_eval.stats.alpha import krippendorff_alpha, ratings_table
from offline_eval.stats.estimate import estimate
from offline_eval.stats.prediction_powered import prediction_powered_mean
from offline_eval.stats.raters import leave_one_out_ceiling, pairwise_ceiling

# 50 items: yes/yes 20, yes/no 5, no/yes 10, no/no 15 (judge first).
JUDGE = ["yes"] * 25 + ["no"] * 25
PERSON = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15


def test_wilson_of_8_out_of_10():
    # z = 1.959964, z^2 = 3.841459; centre (.8 + 3.841459/20) / 1.3841459 = .992073/1.3841459 = .716740
    # half 1.959964 sqrt(.8*.2/10 + 3.841459/400) / 1.3841459 = 1.959964 * .160009 / 1.3841459 = .226577
    found = intervals.wilson(8, 10)
    assert (found.low, found.high) == pytest.approx((0.490163, 0.943317), abs=2e-6)


def test_wilson_of_all_successes_reaches_one_and_stops_at_n_over_n_plus_z_squared():
    # 10 / (10 + 3.841459) = .722467
    found = intervals.wilson(10, 10)
    assert found.high == 1.0
    assert found.low == pytest.approx(0.722467, abs=1e-6)


def test_cohen_kappa_of_a_two_by_two_table():
    # observed 35/50 = .7; by chance .5*.6 + .5*.4 = .5; (.7 - .5) / (1 - .5) = .4
    assert agreement.cohen_kappa(JUDGE, PERSON) == pytest.approx(0.4)


def test_shares_of_a_two_by_two_table():
    # TP 20, FP 5, FN 10, TN 15
    assert agreement.accuracy(JUDGE, PERSON) == pytest.approx(35 / 50)
    assert agreement.precision(JUDGE, PERSON, positive="yes") == pytest.approx(20 / 25)
    assert agreement.sensitivity(JUDGE, PERSON, positive="yes") == pytest.approx(20 / 30)
    assert agreement.specificity(JUDGE, PERSON, positive="yes") == pytest.approx(15 / 20)
    assert agreement.false_support_rate(JUDGE, PERSON, positive="yes") == pytest.approx(5 / 20)
    assert agreement.f1(JUDGE, PERSON, positive="yes") == pytest.approx(40 / 55)  # 2*20 / (40 + 5 + 10)
    assert agreement.balanced_accuracy(JUDGE, PERSON) == pytest.approx((20 / 30 + 15 / 20) / 2)
    assert agreement.macro_f1(JUDGE, PERSON) == pytest.approx((40 / 55 + 30 / 45) / 2)  # no: 2*15 / (30 + 10 + 5)


def test_weighted_kappa_counts_a_disagreement_by_its_distance():
    first, second = [1, 2, 3, 3], [1, 3, 3, 1]
    # linear: observed 0 + 1 + 0 + 2 = 3. Shares of first 1/4 1/4 2/4, of second 2/4 0 2/4. By chance, times 4:
    # 4 * (1/4*2/4*2 [1,3] + 1/4*2/4*1 [2,1] + 1/4*2/4*1 [2,3] + 2/4*2/4*2 [3,1]) = 4 * (.25 + .125 + .125 + .5) = 4
    assert agreement.weighted_kappa(first, second, weights="linear") == pytest.approx(1 - 3 / 4)
    # quadratic: observed 1 + 4 = 5; by chance 4 * (1/8*4 + 1/8*1 + 1/8*1 + 1/4*4) = 4 * 1.75 = 7
    assert agreement.weighted_kappa(first, second, weights="quadratic") == pytest.approx(1 - 5 / 7)


def test_krippendorff_alpha_with_a_missing_label():
    nan = np.nan
    ratings = np.array([[1, 1, nan], [1, 2, 2], [2, 2, 2], [nan, nan, 1]])
    # The last item has one label and drops out. Labels that count: 1 three times, 2 five times, n = 8.
    # nominal: observed, unequal ordered pairs / (m - 1): item 2 has 4 / 2 = 2; expected 2*3*5 / 7 = 30/7
    assert krippendorff_alpha(ratings, level="nominal") == pytest.approx(1 - 2 / (30 / 7))
    # two grades: every distance is a multiple of the same one, so the levels agree
    assert krippendorff_alpha(ratings, level="interval") == pytest.approx(1 - 2 / (30 / 7))
    assert krippendorff_alpha(ratings, level="ordinal") == pytest.approx(1 - 2 / (30 / 7))


def test_krippendorff_alpha_of_three_grades_by_level():
    ratings = np.array([[1, 1], [2, 3], [3, 3], [1, 3]], dtype=float)
    # counts 1:3, 2:1, 3:4, n = 8; observed ordered pairs (2,3) twice and (1,3) twice
    # nominal: 4; expected (64 - 9 - 1 - 16) / 7 = 38/7
    assert krippendorff_alpha(ratings, level="nominal") == pytest.approx(1 - 4 / (38 / 7))
    # interval: 2*1 + 2*4 = 10; expected 2 (3*1*1 + 3*4*4 + 1*4*1) / 7 = 110/7
    assert krippendorff_alpha(ratings, level="interval") == pytest.approx(1 - 10 / (110 / 7))
    # ordinal: mid-ranks 2, 4, 6.5; 2*2.5^2 + 2*4.5^2 = 53; expected 2 (3*4 + 12*20.25 + 4*6.25) / 7 = 560/7
    assert krippendorff_alpha(ratings, level="ordinal") == pytest.approx(1 - 53 / 80)


def test_human_ceiling_of_three_raters():
    _, ratings = ratings_table(
        [
            {"ann": "yes", "bo": "yes", "chen": "yes"},
            {"ann": "yes", "bo": "yes", "chen": "no"},
            {"ann": "no", "bo": "no", "chen": "no"},
            {"ann": "yes", "bo": "no"},
        ]
    )
    # pairs: ann-bo 3/4, ann-chen 2/3, bo-chen 2/3; mean (3/4 + 2/3 + 2/3) / 3 = .694444
    assert pairwise_ceiling(ratings, agreement.accuracy) == pytest.approx(0.694444, abs=1e-6)
    # ann against bo+chen: item 2 ties and drops out; items 1, 3 right, item 4 (bo alone says no) wrong: 2/3
    # bo against ann+chen: the same by symmetry, item 4 against ann's yes: 2/3
    # chen against ann+bo: item 1 right, item 2 wrong, item 3 right: 2/3
    assert leave_one_out_ceiling(ratings, agreement.accuracy) == pytest.approx(2 / 3)


def test_correlations_with_ties():
    x, y = [1, 2, 2, 4], [1, 3, 2, 4]
    # pearson: deviations -1.25 -.25 -.25 1.75 and -1.5 .5 -.5 1.5: 1.875 - .125 + .125 + 2.625 = 4.5
    assert association.pearson(x, y) == pytest.approx(4.5 / np.sqrt(4.75 * 5))
    # spearman: ranks 1 2.5 2.5 4 and 1 3 2 4: deviations -1.5 0 0 1.5 and -1.5 .5 -.5 1.5: 4.5 / sqrt(4.5 * 5)
    assert association.spearman(x, y) == pytest.approx(4.5 / np.sqrt(4.5 * 5))
    # kendall: 6 pairs, 5 concordant, 1 tied in x: 5 / sqrt((6 - 1) * 6)
    assert association.kendall(x, y) == pytest.approx(5 / np.sqrt(30))


def test_mcnemar_of_8_against_2():
    # exact 2 (1 + 10 + 45) / 1024 = .109375; mid-p takes away C(10,2) / 1024 = 45/1024
    assert paired.mcnemar(8, 2, mid_p=False) == pytest.approx(112 / 1024)
    assert paired.mcnemar(8, 2) == pytest.approx(67 / 1024)


def test_holm_of_three():
    # .01*3 = .03; .03*2 = .06; max(.06, .04*1) = .06
    assert paired.holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})


def test_sign_flips_of_ten_equal_gains():
    # all ten up or all ten down: 2 of 1,024 sign patterns are as extreme
    assert paired.sign_flip_p([1.0] * 10, seed=1, flips=200_000) == pytest.approx(2 / 1024, rel=0.15)


def test_paired_comparison_counts_wins_ties_and_losses():
    found = paired.compare_paired([1, 0, 0, 1, 0, 0, 0, None], [1, 1, 1, 0, 1, 1, 1, 1], seed=1)
    # wins 5, losses 1, ties 1, one pair left out; mean (5 - 1) / 7; mid-p P(X<=1) + P(X<=0) of 6: 7/64 + 1/64
    assert (found.wins, found.ties, found.losses, found.n_left_out) == (5, 1, 1, 1)
    assert found.difference.value == pytest.approx(4 / 7)
    assert found.difference.n == 7
    assert found.p == pytest.approx(8 / 64)


def test_calibration_error_and_brier_parts():
    p, y = [0.1, 0.1, 0.9, 0.9], [0, 1, 1, 1]
    # bins (0,.1]: .1 said, .5 happened; (.8,.9]: .9 said, 1 happened: (2*.4 + 2*.1) / 4 = .25
    assert calibration.calibration_error(p, y) == pytest.approx(0.25)
    parts = calibration.brier(p, y)
    # score (.01 + .81 + .01 + .01) / 4 = .21; reliability (2*.16 + 2*.01) / 4 = .085
    # resolution, base .75: (2*.0625 + 2*.0625) / 4 = .0625; uncertainty .75*.25 = .1875; .085 - .0625 + .1875 = .21
    assert (parts.score, parts.reliability, parts.resolution, parts.uncertainty) == pytest.approx(
        (0.21, 0.085, 0.0625, 0.1875)
    )
    assert parts.within_bins == pytest.approx(0, abs=1e-12)
    # debiased: bin 1 .16 - .25/1 = -.09, bin 2 .01 - 0 = .01; mean -.04, reported as 0
    assert calibration.debiased_calibration_error(p, y, binning="equal_width") == 0.0


def test_rogan_gladen_with_its_delta_interval():
    counts = corrected.JudgedCounts(
        positive=240, n=400, true_positive=90, n_positive=100, true_negative=70, n_negative=100
    )
    found = corrected.rogan_gladen(counts, method="delta")
    # (.6 + .7 - 1) / (.9 + .7 - 1) = .3 / .6 = .5
    # variance (.6*.4/400 + .25*.09/100 + .25*.21/100) / .36 = (.0006 + .000225 + .000525) / .36 = .00375
    # half 1.959964 sqrt(.00375) = .120023
    assert found.value == pytest.approx(0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.379977, 0.620023), abs=1e-6)
    # labels: B = .00075/.36, A = .0006/.36; .00135/4 - .0006 is negative: more labels alone cannot halve it
    assert "judge more items" in corrected.labels_factor_to_halve(counts).reason


def test_labels_factor_to_halve_with_many_judged_items():
    counts = corrected.JudgedCounts(
        positive=24_000, n=40_000, true_positive=90, n_positive=100, true_negative=70, n_negative=100
    )
    # A = .6*.4/40000 = .000006, B = .00075; (A + B)/4 - A = .000183; .00075 / .000183 = 4.0984
    assert corrected.labels_factor_to_halve(counts) == pytest.approx(0.00075 / 0.000183)


def test_prediction_powered_mean_at_full_weight():
    labels, judged = [1, 0, 1, 1], [1, 1, 1, 0]
    # unlabelled mean 2/5, correction (0 - 1 + 0 + 1) / 4 = 0: .4
    found = prediction_powered_mean(labels, judged, [1, 0, 1, 0, 0], weight=1)
    assert found.value == pytest.approx(0.4)
    assert found.labelled_mean == 0.75
    assert found.judged_mean == pytest.approx(5 / 9)


def test_smallest_difference_of_a_hundred_pairs():
    # t(.975, 99) = 1.984217, t(.8, 99) = .845285; 2.829502 * .5 / 10 = .141475
    assert power.smallest_difference(100, 0.5) == pytest.approx(0.141475, abs=1e-6)


def test_estimate_shows_what_failures_could_do():
    scores = [_score(i, 1.0) for i in range(6)] + [_score(6 + i, 0.5) for i in range(2)]
    scores += [_score(8, None, Status.FAILED, "engine_error"), _score(9, None, Status.NOT_APPLICABLE, "no reference")]
    found = estimate(scores, low=0, high=1, seed=1)
    # 7 / 8 scored; 7 / 9 with the failed one at 0, 8 / 9 with it at 1; the item that does not apply counts in neither
    assert found.mean_scored == pytest.approx(7 / 8)
    assert found.value == pytest.approx(7 / 9)
    assert found.best == pytest.approx(8 / 9)
    assert (found.n_scored, found.n_not_applicable, found.n_failed) == (8, 1, 1)
    assert found.reasons == {"engine_error": 1, "no reference": 1}


def _score(i: int, value: float | None, status: Status = Status.SCORED, reason: str | None = None) -> Score:
    return Score(
        metric="m", response_key=f"s/{i}", cluster=str(i), system="s", status=status, value=value, reason=reason
    )
