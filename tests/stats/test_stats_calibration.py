"""Calibration, thresholds and the wall between what was fitted on and what is reported on."""

import numpy as np
import pytest

from offline_eval.core.errors import DataError, UsageError
from offline_eval.stats import calibration
from offline_eval.stats.recalibration import Calibration, fit_calibration
from offline_eval.stats.splits import Labelled, split
from offline_eval.stats.thresholds import Target, Threshold, choose_threshold
from offline_eval.stats.undefined import Undefined


def _overconfident(n: int = 2000, seed: int = 0) -> Labelled:
    """A judge whose logits are twice what they should be."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(0, 1, n)
    outcomes = rng.random(n) < 1 / (1 + np.exp(-logit))
    said = 1 / (1 + np.exp(-2 * logit))
    return Labelled(
        ids=tuple(f"案例{i}" for i in range(n)),
        probabilities=tuple(said.tolist()),
        outcomes=tuple(outcomes.astype(int).tolist()),
    )


def test_temperature_finds_the_overconfidence():
    fitted = fit_calibration(_overconfident(), method="temperature")
    assert fitted.map.temperature == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_a_map_fitted_on_one_part_improves_the_other(method):
    fit, report = split(_overconfident(), seed=1)
    found = fit_calibration(fit, method=method).report(report)
    assert found.n == len(report.ids)
    assert found.error_after < found.error_before
    assert found.brier_after.score < found.brier_before.score


def test_reporting_on_a_fitted_case_is_refused_by_name():
    data = _overconfident(50)
    fitted = fit_calibration(data, method="platt")
    mixed = Labelled(ids=("new", "案例7"), probabilities=(0.5, 0.5), outcomes=(0, 1))
    with pytest.raises(DataError, match="1 ids were used for fitting and may not be reported on: 案例7"):
        fitted.report(mixed)


def test_the_wall_stands_after_storing_and_loading():
    data = _overconfident(50)
    stored = fit_calibration(data, method="isotonic").model_dump_json()
    with pytest.raises(DataError, match="50 ids"):
        Calibration.model_validate_json(stored).report(data)


def test_a_threshold_is_not_reported_on_the_labels_it_was_chosen_on():
    fit, report = split(_overconfident(), seed=1)
    chosen = choose_threshold(fit, target=Target(aim="precision", at_least=0.8))
    with pytest.raises(DataError, match="used for fitting"):
        chosen.report(fit)
    assert chosen.report(report).n == len(report.ids)
    assert Threshold.model_validate_json(chosen.model_dump_json()) == chosen


def test_thresholds_serve_their_target():
    data = Labelled(ids=tuple("abcdef"), probabilities=(0.9, 0.8, 0.7, 0.6, 0.5, 0.4), outcomes=(1, 1, 0, 1, 0, 0))
    # precision 1 is kept down to .8; recall 1 needs .6; a wrong yes at 10 stops at .8, a wrong no at 10 goes to .6
    assert choose_threshold(data, target=Target(aim="precision", at_least=1)).value == 0.8
    assert choose_threshold(data, target=Target(aim="recall", at_least=1)).value == 0.6
    assert choose_threshold(data, target=Target(aim="cost", false_positive=10)).value == 0.8
    assert choose_threshold(data, target=Target(aim="cost", false_negative=10)).value == 0.6


def test_never_saying_yes_is_a_threshold_too():
    data = Labelled(ids=("a", "b"), probabilities=(1.0, 0.2), outcomes=(0, 0))
    chosen = choose_threshold(data, target=Target(aim="cost"))
    assert chosen.value > 1
    assert chosen.on_fit.cost == 0
    assert chosen.on_fit.precision is None


def test_an_unreachable_precision_is_undefined():
    data = Labelled(ids=("a", "b"), probabilities=(0.9, 0.2), outcomes=(0, 1))
    found = choose_threshold(data, target=Target(aim="precision", at_least=0.9))
    assert found == Undefined(reason="no threshold reaches precision 0.9")


def test_targets_without_their_number_are_refused():
    with pytest.raises(UsageError, match="must be given"):
        Target(aim="recall")
    with pytest.raises(UsageError, match="must be given"):
        Target(aim="cost", at_least=0.5)


def test_labels_of_one_kind_fit_nothing():
    data = Labelled(ids=("a", "b"), probabilities=(0.9, 0.2), outcomes=(1, 1))
    assert isinstance(fit_calibration(data, method="platt"), Undefined)


def test_separable_labels_and_sure_judges_keep_maps_finite():
    data = Labelled(ids=tuple("abcd"), probabilities=(0.0, 0.0, 1.0, 1.0), outcomes=(0, 0, 1, 1))
    for method in ("temperature", "platt", "isotonic"):
        mapped = fit_calibration(data, method=method).map.apply(np.array([0.0, 0.5, 1.0]))
        assert np.isfinite(mapped).all()


def test_a_constant_judge_becomes_the_overall_share():
    data = Labelled(ids=tuple("abcdefgh"), probabilities=(0.9,) * 8, outcomes=(1, 1, 0, 0, 0, 0, 0, 0))
    assert fit_calibration(data, method="isotonic").map.apply(np.array([0.9]))[0] == pytest.approx(0.25)
    # Platt's smoothed targets pull the share 2/8 to (2 * 3/4 + 6 * 1/8) / 8 = .28125
    assert fit_calibration(data, method="platt").map.apply(np.array([0.9]))[0] == pytest.approx(0.28125, abs=1e-3)


def test_equal_mass_bins_keep_equal_probabilities_together():
    groups = calibration.reliability_bins([0.5] * 90 + [0.9] * 10, [1] * 100, bins=5, binning="equal_mass")
    assert [group.n for group in groups] == [90, 10]


def test_debiasing_takes_out_most_of_what_chance_gives():
    rng = np.random.default_rng(0)
    raw, debiased = [], []
    for _ in range(200):
        p = rng.random(200)
        y = (rng.random(200) < p).astype(int)
        raw.append(calibration.calibration_error(p, y, binning="equal_mass"))
        debiased.append(calibration.debiased_calibration_error(p, y))
    assert np.mean(raw) > 0.06
    assert np.mean(debiased) < 0.4 * np.mean(raw)


def test_debiasing_keeps_a_real_error():
    rng = np.random.default_rng(0)
    p = rng.random(5000) * 0.8
    y = (rng.random(5000) < p + 0.2).astype(int)
    assert calibration.debiased_calibration_error(p, y) == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(
    ("p", "y", "problem"),
    [
        ([1.2], [1], "probability 0 is 1.2"),
        ([0.5], [2], "outcome 0 is 2.0, expected 0 or 1"),
        ([0.5, 0.6], [1], "probabilities has 2, outcomes has 1"),
    ],
)
def test_bad_columns_are_named(p, y, problem):
    with pytest.raises(DataError, match=problem):
        calibration.brier(p, y)


def test_no_items_is_undefined():
    assert isinstance(calibration.brier([], []), Undefined)
    assert isinstance(calibration.calibration_error([], []), Undefined)
    assert calibration.reliability_bins([], []) == []


def test_a_bin_of_one_has_no_debiased_error():
    assert "single item" in calibration.debiased_calibration_error([0.1, 0.9], [0, 1], binning="equal_width").reason


def test_a_split_moves_no_case_when_others_are_added():
    small, large = _overconfident(100), _overconfident(200)
    assert set(split(small, seed=3)[0].ids) == set(split(large, seed=3)[0].ids) & set(small.ids)
