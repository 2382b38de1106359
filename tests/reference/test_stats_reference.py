"""Equal to scikit-learn, scipy, krippendorff, statsmodels and ppi-python on random and degenerate data."""

import warnings

import krippendorff
import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from offline_eval.stats import agreement, association, calibration, intervals, paired, power
from offline_eval.stats.alpha import LEVELS, krippendorff_alpha
from offline_eval.stats.prediction_powered import prediction_powered_mean
from offline_eval.stats.recalibration import fit_calibration
from offline_eval.stats.splits import Labelled
from offline_eval.stats.thresholds import Target, choose_threshold
from offline_eval.stats.undefined import Undefined

SEEDS = range(20)


def _labels(seed: int, *, classes: int = 4, n: int = 60) -> tuple[list[int], list[int]]:
    rng = np.random.default_rng(seed)
    actual = rng.integers(1, classes + 1, n)
    wrong = rng.random(n) < 0.4
    predicted = np.where(wrong, rng.integers(1, classes + 1, n), actual)
    return predicted.tolist(), actual.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_agreement_equals_scikit_learn(seed):
    predicted, actual = _labels(seed)
    assert agreement.accuracy(predicted, actual) == pytest.approx(sklearn.metrics.accuracy_score(actual, predicted))
    assert agreement.balanced_accuracy(predicted, actual) == pytest.approx(
        sklearn.metrics.balanced_accuracy_score(actual, predicted)
    )
    for ours, average in ((agreement.macro_precision, 0), (agreement.macro_recall, 1), (agreement.macro_f1, 2)):
        theirs = sklearn.metrics.precision_recall_fscore_support(actual, predicted, average="macro")[average]
        assert ours(predicted, actual) == pytest.approx(theirs)
    assert agreement.cohen_kappa(predicted, actual) == pytest.approx(
        sklearn.metrics.cohen_kappa_score(actual, predicted)
    )
    for weights in ("linear", "quadratic"):
        assert agreement.weighted_kappa(predicted, actual, weights=weights) == pytest.approx(
            sklearn.metrics.cohen_kappa_score(actual, predicted, weights=weights)
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_binary_agreement_equals_scikit_learn(seed):
    predicted, actual = (["支持" if x > 2 else "矛盾" for x in column] for column in _labels(seed))
    for ours, theirs in (
        (agreement.precision, sklearn.metrics.precision_score),
        (agreement.sensitivity, sklearn.metrics.recall_score),
        (agreement.f1, sklearn.metrics.f1_score),
    ):
        assert ours(predicted, actual, positive="支持") == pytest.approx(theirs(actual, predicted, pos_label="支持"))
    negative_recall = sklearn.metrics.recall_score(actual, predicted, pos_label="矛盾")
    assert agreement.specificity(predicted, actual, positive="支持") == pytest.approx(negative_recall)
    assert agreement.false_support_rate(predicted, actual, positive="支持") == pytest.approx(1 - negative_recall)


def test_kappa_of_a_constant_judge_is_zero_like_scikit_learn():
    predicted, actual = [1] * 10, [1, 2] * 5
    assert agreement.cohen_kappa(predicted, actual) == sklearn.metrics.cohen_kappa_score(actual, predicted) == 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_krippendorff_with_missing_cells_and_any_number_of_raters(seed, level):
    rng = np.random.default_rng(seed)
    n, raters = int(rng.integers(3, 40)), int(rng.integers(2, 6))
    truth = rng.integers(1, 6, n)
    ratings = np.clip(truth[:, None] + rng.integers(-1, 2, (n, raters)), 1, 5).astype(float)
    ratings[rng.random((n, raters)) < 0.3] = np.nan
    theirs = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement=level)
    assert krippendorff_alpha(ratings, level=level) == pytest.approx(theirs)


@pytest.mark.parametrize("seed", SEEDS)
def test_interval_alpha_of_continuous_values_equals_krippendorff(seed):
    ratings = 100 + np.random.default_rng(seed).normal(size=(30, 3)).cumsum(axis=0)
    theirs = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement="interval")
    assert krippendorff_alpha(ratings, level="interval") == pytest.approx(theirs)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tied", [False, True])
def test_correlations_equal_scipy(seed, tied):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=40)
    y = x + rng.normal(size=40)
    if tied:
        x, y = np.round(x), np.round(y)
    assert association.pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic)
    assert association.spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert association.kendall(x, y) == pytest.approx(scipy.stats.kendalltau(x, y).statistic)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 30), (30, 30), (7, 11), (500, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_equals_scipy(k, n, level):
    theirs = scipy.stats.binomtest(k, n).proportion_ci(level, method="wilson")
    found = intervals.wilson(k, n, level=level)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_bootstrap_percentiles_equal_scipy_at_the_expanded_level():
    values = np.random.default_rng(4).gamma(2.0, size=80)
    # Expanded percentiles are plain ones at a higher level: tail Phi(-t(.975, 79) sqrt(80 / 79)).
    tail = scipy.stats.norm.cdf(-scipy.stats.t.ppf(0.975, 79) * np.sqrt(80 / 79))
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, confidence_level=1 - 2 * tail, method="percentile", rng=1
    ).confidence_interval
    found = intervals.bootstrap_mean(values, seed=1, resamples=20_000)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)


@pytest.mark.parametrize(("gained", "lost"), [(0, 5), (8, 2), (5, 5), (1, 0), (40, 61)])
def test_mcnemar_equals_statsmodels_and_the_binomial_test(gained, lost):
    mcnemar = _quiet_import("statsmodels.stats.contingency_tables").mcnemar
    theirs = mcnemar([[3, gained], [lost, 4]], exact=True).pvalue
    exact = paired.mcnemar(gained, lost, mid_p=False)
    assert exact == pytest.approx(theirs)
    assert exact == pytest.approx(scipy.stats.binomtest(gained, gained + lost).pvalue)
    point = scipy.stats.binom.pmf(min(gained, lost), gained + lost, 0.5)
    assert paired.mcnemar(gained, lost) == pytest.approx(1.0 if gained == lost else exact - point)


@pytest.mark.parametrize("seed", SEEDS)
def test_holm_equals_statsmodels(seed):
    multipletests = _quiet_import("statsmodels.stats.multitest").multipletests
    p = np.random.default_rng(seed).random(7) ** 3
    adjusted = paired.holm({str(i): value for i, value in enumerate(p)})
    assert list(adjusted.values()) == pytest.approx(multipletests(p, method="holm")[1])


def test_sign_flips_equal_scipy_permutation_test():
    differences = np.random.default_rng(2).normal(0.3, 1, 12)
    theirs = scipy.stats.permutation_test(
        (differences, np.zeros(12)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert paired.sign_flip_p(differences, seed=1, flips=50_000) == pytest.approx(theirs.pvalue, abs=0.01)


@pytest.mark.parametrize("seed", SEEDS)
def test_wilcoxon_equals_scipy(seed):
    differences = np.round(np.random.default_rng(seed).normal(0.2, 1, 40), 1 if seed % 2 else 6)
    nonzero = differences[differences != 0]
    method = "exact" if np.unique(np.abs(nonzero)).size == nonzero.size else "approx"
    theirs = scipy.stats.wilcoxon(nonzero, method=method).pvalue
    assert paired.wilcoxon(differences) == pytest.approx(theirs)


@pytest.mark.parametrize("n", [10, 20, 50, 200, 1000])
def test_smallest_difference_has_power_80_by_the_non_central_t(n):
    difference = power.smallest_difference(n, 1.0)
    limit = scipy.stats.t.ppf(0.975, n - 1)
    found = scipy.stats.nct.sf(limit, n - 1, difference * np.sqrt(n)) + scipy.stats.nct.cdf(
        -limit, n - 1, difference * np.sqrt(n)
    )
    assert found == pytest.approx(0.8, abs=0.012)


@pytest.mark.parametrize(("difference", "sd"), [(0.05, 0.2), (0.1, 0.2), (0.05, 1.0), (0.1, 1.0), (0.5, 1.0)])
def test_cases_needed_equals_statsmodels(difference, sd):
    solver = _quiet_import("statsmodels.stats.power").TTestPower()
    theirs = solver.solve_power(effect_size=difference / sd, alpha=0.05, power=0.8)
    assert power.cases_needed(difference, sd) == pytest.approx(theirs, rel=0.02, abs=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_brier_score_equals_scikit_learn(seed):
    p, y = _judged(seed)
    assert calibration.brier(p, y).score == pytest.approx(sklearn.metrics.brier_score_loss(y, p))


@pytest.mark.parametrize("seed", SEEDS)
def test_equal_width_bins_equal_scikit_learn_curve(seed):
    from sklearn.calibration import calibration_curve

    p, y = _judged(seed)
    shares, means = calibration_curve(y, p, n_bins=10)
    bins = calibration.reliability_bins(p, y)
    assert [group.share for group in bins] == pytest.approx(shares.tolist())
    assert [group.mean_probability for group in bins] == pytest.approx(means.tolist())


@pytest.mark.parametrize("seed", SEEDS)
def test_isotonic_map_equals_scikit_learn(seed):
    p, y = _judged(seed)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    grid = np.linspace(0, 1, 101)
    fitted = fit_calibration(_labelled(p, y), method="isotonic")
    assert fitted.map.apply(grid) == pytest.approx(theirs.predict(grid))


@pytest.mark.parametrize("seed", SEEDS)
def test_platt_map_equals_logistic_regression_on_smoothed_targets(seed):
    p, y = _judged(seed)
    logit = np.log(p / (1 - p))
    positives = y.sum()
    high, low = (positives + 1) / (positives + 2), 1 / (y.size - positives + 2)
    # A soft target t is t positives and 1 - t negatives.
    target = np.where(y == 1, high, low)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
        np.concatenate([logit, logit])[:, None],
        np.repeat([1, 0], y.size),
        sample_weight=np.concatenate([target, 1 - target]),
    )
    fitted = fit_calibration(_labelled(p, y), method="platt").map
    assert (fitted.slope, fitted.intercept) == pytest.approx((theirs.coef_[0, 0], theirs.intercept_[0]), abs=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_temperature_map_equals_logistic_regression_without_intercept(seed):
    p, y = _judged(seed)
    logit = np.log(p / (1 - p))[:, None]
    theirs = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(logit, y)
    fitted = fit_calibration(_labelled(p, y), method="temperature").map
    assert 1 / fitted.temperature == pytest.approx(theirs.coef_[0, 0], abs=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_threshold_for_precision_equals_the_best_point_of_the_precision_recall_curve(seed):
    p, y = _judged(seed)
    precision, recall, _ = sklearn.metrics.precision_recall_curve(y, p)
    chosen = choose_threshold(_labelled(p, y), target=Target(aim="precision", at_least=0.8))
    reachable = (precision >= 0.8) & (recall > 0)
    if not reachable.any():
        assert isinstance(chosen, Undefined)
        return
    assert chosen.on_fit.recall == pytest.approx(recall[reachable].max())
    assert chosen.on_fit.precision >= 0.8


@pytest.mark.parametrize("weight", [None, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_prediction_powered_mean_equals_ppi_python(seed, weight):
    ppi = _quiet_import("ppi_py")
    rng = np.random.default_rng(seed)
    truth = rng.random(6000) < 0.6
    judged = np.where(truth, rng.random(6000) < 0.9, rng.random(6000) < 0.3).astype(float)
    labels = truth[:1000].astype(float)
    found = prediction_powered_mean(labels, judged[:1000], judged[1000:], weight=weight)
    value = ppi.ppi_mean_pointestimate(labels, judged[:1000], judged[1000:], lam=weight)
    low, high = ppi.ppi_mean_ci(labels, judged[:1000], judged[1000:], alpha=0.05, lam=weight)
    assert found.value == pytest.approx(float(np.squeeze(value)), abs=1e-12)
    # Ours: sample variance and t quantile; 1,000 labels leave a difference of 0.2 % of the half width.
    half = float(np.squeeze(high) - np.squeeze(low)) / 2
    assert found.interval.high - found.value == pytest.approx(half, rel=3e-3)


def _judged(seed: int, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(1.5, 1.5, n), 2).clip(0.01, 0.99)
    return p, (rng.random(n) < p**1.5).astype(int)


def _labelled(p: np.ndarray, y: np.ndarray) -> Labelled:
    ids = tuple(str(i) for i in range(len(p)))
    return Labelled(ids=ids, probabilities=tuple(p.tolist()), outcomes=tuple(y.tolist()))


def _quiet_import(name: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"the reference library {name} is not installed")
