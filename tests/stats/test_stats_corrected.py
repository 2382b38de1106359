"""Corrected rates: what they refuse, and how many labels would help."""

import numpy as np
import pytest

from offline_eval.core.errors import DataError, UsageError
from offline_eval.stats.corrected import JudgedCounts, labels_factor_to_halve, rogan_gladen
from offline_eval.stats.prediction_powered import labels_to_halve, prediction_powered_mean
from offline_eval.stats.undefined import Undefined


def _counts(**changes: int) -> JudgedCounts:
    plain = {"positive": 60, "n": 100, "true_positive": 45, "n_positive": 50, "true_negative": 35, "n_negative": 50}
    return JudgedCounts(**(plain | changes))


def test_a_judge_no_better_than_chance_corrects_nothing():
    found = rogan_gladen(_counts(true_positive=25, true_negative=25))
    assert found == Undefined(
        reason="sensitivity 0.5 + specificity 0.5 is not above 1: the judge is no better than chance"
    )


def test_labels_of_one_kind_only_are_not_enough():
    assert isinstance(rogan_gladen(_counts(true_negative=0, n_negative=0)), Undefined)


def test_a_judge_without_seen_errors_still_has_an_interval():
    perfect = _counts(positive=100, true_positive=50, true_negative=50)
    found = rogan_gladen(perfect)
    assert found.value == 1
    assert found.interval.low < 1
    assert rogan_gladen(perfect, method="delta").interval is None


def test_a_rate_the_error_rates_do_not_allow_has_no_interval():
    found = rogan_gladen(_counts(positive=10_000, n=10_000, true_positive=3000, n_positive=5000, n_negative=60))
    assert found.value == 1
    assert "are the items alike" in found.interval_reason


def test_all_counts_that_do_not_fit_are_named():
    with pytest.raises(DataError) as caught:
        rogan_gladen(_counts(positive=101, true_negative=51))
    assert caught.value.problems == ("positive 101 exceeds n 100", "true_negative 51 exceeds n_negative 50")
    with pytest.raises(UsageError, match="'lang_reiczigel', 'delta' or 'bootstrap'"):
        rogan_gladen(_counts(), method="exact")


def test_the_stated_factor_of_labels_halves_the_interval():
    counts = _counts(positive=120_000, n=200_000)
    factor = labels_factor_to_halve(counts)
    more = {name: round(getattr(counts, name) * factor) for name in ("true_positive", "n_positive")}
    more |= {name: round(getattr(counts, name) * factor) for name in ("true_negative", "n_negative")}
    before, after = (rogan_gladen(c, method="delta").interval for c in (counts, counts.model_copy(update=more)))
    assert (after.high - after.low) / (before.high - before.low) == pytest.approx(0.5, abs=0.01)


def _judged(rng: np.random.Generator, n: int, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    truth = rng.random(n)
    return truth, truth + rng.normal(0.1, noise, n)


def test_a_good_judge_is_worth_many_labels_and_a_useless_one_none():
    rng = np.random.default_rng(0)
    labels, judged = _judged(rng, 5100, noise=0.05)
    good = prediction_powered_mean(labels[:100], judged[:100], judged[100:])
    assert good.labels_equivalent > 1000
    useless = prediction_powered_mean(labels[:100], rng.random(100), rng.random(5000))
    assert useless.labels_equivalent < 150


def test_too_few_labels_have_a_value_and_no_interval():
    found = prediction_powered_mean([1.0] * 29, [1.0] * 29, [0.0, 1.0])
    assert found.interval is None
    assert "at least 30 labels and 2 unlabelled items, here 29 and 2" in found.interval_reason


def test_no_spread_is_not_certainty():
    found = prediction_powered_mean([1.0] * 50, [1.0] * 50, [1.0] * 500)
    assert found.value == 1
    assert "no spread" in found.interval_reason


def test_nothing_labelled_is_undefined():
    assert isinstance(prediction_powered_mean([], [], [1.0]), Undefined)
    with pytest.raises(DataError, match="between 0 and 1, found 2"):
        prediction_powered_mean([1.0], [1.0], [1.0], weight=2)


def test_the_planned_labels_halve_the_interval():
    labels, judged = _judged(np.random.default_rng(0), 10_000)
    n = labels_to_halve(labels[:200], judged[:200], judged[200:])
    before = prediction_powered_mean(labels[:200], judged[:200], judged[200:]).interval
    after = prediction_powered_mean(labels[:n], judged[:n], judged[n:]).interval
    assert 200 < n < 1000
    assert (after.high - after.low) / (before.high - before.low) == pytest.approx(0.5, abs=0.04)


def test_when_all_labels_would_not_do_it_says_so():
    labels, judged = _judged(np.random.default_rng(0), 150)
    assert "would not halve it" in labels_to_halve(labels[:100], judged[:100], judged[100:]).reason
