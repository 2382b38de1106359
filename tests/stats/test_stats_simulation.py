"""What the intervals and verdicts promise, checked over 1,000 draws from known truths."""

import numpy as np
import pytest
from scipy.stats import binomtest

from offline_eval.stats import agreement, association
from offline_eval.stats.corrected import JudgedCounts, rogan_gladen
from offline_eval.stats.intervals import bootstrap, mean_interval, wilson
from offline_eval.stats.paired import compare_paired, mcnemar, sign_flip_p
from offline_eval.stats.power import smallest_difference
from offline_eval.stats.prediction_powered import prediction_powered_mean

DRAWS = 1000


@pytest.mark.parametrize("method", ["lang_reiczigel", "delta", "bootstrap"])
def test_corrected_rates_cover_and_raw_rates_do_not(method):
    rng = np.random.default_rng(11)
    truth, sensitivity, specificity = 0.6, 0.9, 0.7
    covered = raw_covered = 0
    for draw in range(DRAWS):
        counts = JudgedCounts(
            positive=rng.binomial(400, truth * sensitivity + (1 - truth) * (1 - specificity)),
            n=400,
            true_positive=rng.binomial(150, sensitivity),
            n_positive=150,
            true_negative=rng.binomial(100, specificity),
            n_negative=100,
        )
        found = rogan_gladen(counts, method=method, seed=draw).interval
        raw = wilson(counts.positive, counts.n)
        covered += found.low <= truth <= found.high
        raw_covered += raw.low <= truth <= raw.high
    assert 0.93 <= covered / DRAWS <= 0.97
    assert raw_covered / DRAWS < 0.5


@pytest.mark.parametrize(("n", "more"), [(50, 500), (100, 300), (200, 5000)])
def test_prediction_powered_means_cover_and_raw_judge_rates_do_not(n, more):
    rng = np.random.default_rng(n)
    covered = raw_covered = 0
    width = alone_width = 0.0
    for _ in range(DRAWS):
        truth = rng.random(n + more) < 0.6
        judged = np.where(truth, rng.random(n + more) < 0.95, rng.random(n + more) < 0.3).astype(float)
        labels = truth[:n].astype(float)
        found = prediction_powered_mean(labels, judged[:n], judged[n:]).interval
        alone = prediction_powered_mean(labels, judged[:n], judged[n:], weight=0).interval
        raw = wilson(int(judged.sum()), n + more)
        covered += found.low <= 0.6 <= found.high
        raw_covered += raw.low <= 0.6 <= raw.high
        width, alone_width = width + found.high - found.low, alone_width + alone.high - alone.low
    assert 0.93 <= covered / DRAWS <= 0.97
    assert raw_covered / DRAWS < 0.5
    assert width < 0.9 * alone_width


@pytest.mark.parametrize("kind", ["ordinal", "clustered yes/no", "yes/no"])
def test_mean_intervals_cover(kind):
    rng = np.random.default_rng(5)
    covered = 0
    for draw in range(DRAWS):
        clusters, low, high, truth = None, 0, 1, 0.5
        if kind == "ordinal":
            values, low, high, truth = rng.choice([1, 2, 3], 50, p=[0.1, 0.3, 0.6]), 1, 3, 2.5
        elif kind == "yes/no":
            values, truth = (rng.random(50) < 0.7).astype(float), 0.7
        else:
            case = np.repeat(np.arange(30), rng.integers(1, 6, 30))
            values = (rng.random(case.size) < rng.beta(2, 2, 30)[case]).astype(float)
            clusters = [str(i) for i in case]
        found = mean_interval(values.astype(float), low=low, high=high, clusters=clusters, seed=draw, resamples=1000)
        covered += found.low <= truth <= found.high
    assert 0.93 <= covered / DRAWS <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize(("name", "truth"), [("pearson", 0.5), ("kappa", 0.5)])
def test_coefficient_intervals_cover(name, truth):
    rng = np.random.default_rng(9)
    covered = 0
    for draw in range(DRAWS):
        if name == "pearson":
            x = rng.normal(size=60)
            columns, statistic = (x, 0.5 * x + np.sqrt(0.75) * rng.normal(size=60)), association.pearson
        else:
            # Two balanced raters who agree with probability .75: kappa (.75 - .5) / .5 = .5.
            a = rng.integers(0, 2, 60)
            columns, statistic = (a, np.where(rng.random(60) < 0.75, a, 1 - a)), agreement.cohen_kappa
        found = bootstrap(statistic, columns, seed=draw, resamples=500)
        covered += found.low <= truth <= found.high
    assert 0.93 <= covered / DRAWS <= 0.97


@pytest.mark.parametrize(
    "kind",
    ["yes/no", pytest.param("continuous", marks=pytest.mark.slow), pytest.param("clustered", marks=pytest.mark.slow)],
)
def test_without_a_difference_the_verdict_errs_5_percent_of_the_time(kind):
    rng = np.random.default_rng(17)
    told = 0
    for draw in range(DRAWS):
        clusters = None
        if kind == "continuous":
            hard = rng.normal(0, 1, 200)
            a, b = hard + rng.normal(0, 0.5, 200), hard + rng.normal(0, 0.5, 200)
        elif kind == "yes/no":
            easy = rng.beta(2, 1, 400)
            a, b = ((rng.random(400) < easy).astype(float) for _ in range(2))
        else:
            shift = np.repeat(rng.normal(0, 0.3, 100), 3)
            clusters = [str(i // 3) for i in range(300)]
            a, b = rng.normal(0, 0.5, 300), rng.normal(0, 0.5, 300) + shift
        found = compare_paired(a.tolist(), b.tolist(), clusters=clusters, seed=draw, resamples=1000)
        told += found.verdict != "cannot tell"
    assert binomtest(told, DRAWS, 0.05).pvalue > 0.01


def test_a_planted_difference_of_five_points_is_found_with_the_stated_power():
    # Yes/no, 400 pairs: a discordant share d gives sd^2 = d - .05^2; this d makes .05 the smallest difference.
    sd = 0.05 / smallest_difference(400, 1.0)
    discordant = sd**2 + 0.05**2
    rng = np.random.default_rng(23)
    found = 0
    for draw in range(DRAWS):
        kind = rng.choice([1, -1, 0], 400, p=[(discordant + 0.05) / 2, (discordant - 0.05) / 2, 1 - discordant])
        a = np.where(kind == 1, 0.0, np.where(kind == -1, 1.0, (np.arange(400) % 2).astype(float)))
        comparison = compare_paired(a.tolist(), (a + kind).tolist(), seed=draw, resamples=1000)
        found += comparison.verdict == "better"
    assert binomtest(found, DRAWS, 0.8).pvalue > 0.01


def test_p_values_without_a_difference_fall_below_5_percent_as_often_as_they_should():
    rng = np.random.default_rng(29)
    flips = sum(sign_flip_p(rng.normal(0, 1, 40), seed=draw, flips=499) <= 0.05 for draw in range(DRAWS))
    gained = rng.binomial(80, 0.5, DRAWS)
    mid = sum(mcnemar(int(k), int(80 - k)) <= 0.05 for k in gained)
    exact = sum(mcnemar(int(k), int(80 - k), mid_p=False) <= 0.05 for k in gained)
    assert binomtest(flips, DRAWS, 0.05).pvalue > 0.01
    assert binomtest(mid, DRAWS, 0.05).pvalue > 0.01
    assert exact <= mid
