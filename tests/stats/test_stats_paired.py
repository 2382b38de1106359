"""Paired comparisons and advice on size."""

import pytest

from offline_eval.core.errors import DataError
from offline_eval.core.results import Interval
from offline_eval.stats import paired, power
from offline_eval.stats.undefined import Undefined


def _interval(low: float, high: float) -> Interval:
    return Interval(low=low, high=high, level=0.95, method="by hand")


def test_a_difference_hidden_by_the_spread_between_cases_shows_when_paired():
    # 200 cases from easy to hard; the candidate is .02 better on each but every tenth.
    baseline = [i / 200 * 0.9 for i in range(200)]
    candidate = [value + (0.02 if i % 10 else -0.01) for i, value in enumerate(baseline)]
    found = paired.compare_paired(baseline, candidate, seed=1)
    assert found.verdict == "better"
    assert found.difference.value == pytest.approx(0.017)
    # Unpaired, the spread of either system (sd about .26) would need a difference ten times that.
    assert power.smallest_difference(200, 0.26 * 2**0.5) > 0.07


def test_attempts_of_one_case_are_not_independent_evidence():
    ids = [str(i // 20) for i in range(200)]
    candidate = [1.0 if i // 20 < 7 else 0.0 for i in range(200)]
    baseline = [1.0 - value for value in candidate]
    assert paired.compare_paired(baseline, candidate, seed=1).verdict == "better"
    assert paired.compare_paired(baseline, candidate, clusters=ids, seed=1).verdict == "cannot tell"


def test_lower_is_better_turns_wins_and_verdict():
    low, high = [0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1, 0.2], [0.5, 0.6, 0.8, 0.5, 0.7, 0.8, 0.5, 0.6]
    found = paired.compare_paired(high, low, higher_is_better=False, seed=1)
    assert (found.wins, found.losses, found.verdict) == (8, 0, "better")


def test_identical_systems_cannot_be_told_apart():
    found = paired.compare_paired([0.5, 0.7] * 10, [0.5, 0.7] * 10, seed=1)
    assert found.difference.value == 0
    assert found.difference.interval is None
    assert (found.ties, found.p, found.smallest_difference, found.verdict) == (20, None, None, "cannot tell")


@pytest.mark.parametrize(("baseline", "candidate"), [([], []), ([None, 1.0], [1.0, None])])
def test_no_shared_case_is_undefined(baseline, candidate):
    found = paired.compare_paired(baseline, candidate, seed=1)
    assert found.difference.value is None
    assert found.difference.reason == "no case was scored for both systems"
    assert found.verdict == "cannot tell"


def test_the_test_fits_the_data():
    yes_no = [0.0, 1.0, 1.0, 0.0] * 5
    assert paired.compare_paired(yes_no, yes_no[::-1], seed=1).p_method == "McNemar mid-p"
    assert paired.compare_paired(yes_no, [0.5] * 20, seed=1).p_method == "sign flips over clusters"
    clusters = [str(i // 2) for i in range(20)]
    assert paired.compare_paired(yes_no, [1.0] * 20, clusters=clusters, seed=1).p_method == "sign flips over clusters"


def test_a_correction_for_several_metrics_can_take_a_verdict_back():
    assert paired.verdict(_interval(0.01, 0.1)) == "better"
    assert paired.verdict(_interval(0.01, 0.1), adjusted_p=0.12) == "cannot tell"
    assert paired.verdict(_interval(-0.1, -0.01), adjusted_p=0.01) == "worse"
    assert paired.verdict(_interval(0.0, 0.1)) == "cannot tell"
    assert paired.verdict(None) == "cannot tell"


def test_tests_without_any_differing_pair_are_undefined():
    assert paired.mcnemar(0, 0) == Undefined(reason="no pair differs")
    assert paired.wilcoxon([0.0, 0.0]) == Undefined(reason="no pair differs")
    assert paired.sign_flip_p([0.0, 0.0], seed=1) == Undefined(reason="no pair differs")


def test_sign_flips_of_very_many_cases_use_the_limit_they_tend_to():
    nearly = [1.0] * 25_150 + [-1.0] * 24_849
    limit = paired.sign_flip_p([*nearly, 1.0], seed=1)
    assert limit == pytest.approx(paired.sign_flip_p(nearly, seed=1, flips=2000), abs=0.04)


def test_bad_settings_are_refused_by_name():
    with pytest.raises(DataError, match="baseline has 1, candidate has 2"):
        paired.compare_paired([1.0], [1.0, 2.0], seed=1)
    with pytest.raises(DataError, match="0 or more, found -1"):
        paired.mcnemar(-1, 2)
    with pytest.raises(DataError, match="between 0 and 1: b"):
        paired.holm({"a": 0.1, "b": 1.2})
    with pytest.raises(DataError, match="more than 0, found 0"):
        power.cases_needed(0, 1.0)


def test_cases_needed_is_the_first_number_that_sees_the_difference():
    n = power.cases_needed(0.05, 0.4)
    assert power.smallest_difference(n, 0.4) <= 0.05 < power.smallest_difference(n - 1, 0.4)


def test_advice_on_size_names_the_types_that_are_too_small():
    advice = power.size_advice({"factual": 60, "multi-hop": 12, "open": 1}, low=1, high=3)
    assert [(row.scope, row.n, row.wanted, row.enough) for row in advice] == [
        ("all", 73, 100, False),
        ("factual", 60, 20, True),
        ("multi-hop", 12, 20, False),
        ("open", 1, 20, False),
    ]
    # twelve cases: t(.975, 11) = 2.200985, t(.8, 11) = .875530; 3.076515 * (2 / sqrt 2) / sqrt 12 = 1.25598
    assert advice[2].smallest_difference == pytest.approx(1.25598, abs=1e-4)
    assert (advice[3].smallest_difference, advice[3].half_width) == (None, None)


def test_a_formal_report_wants_three_hundred_cases():
    assert power.size_advice({"factual": 200}, low=0, high=1, formal=True)[0].wanted == 300


def test_advice_uses_the_measured_spread_when_there_is_one():
    wide, narrow = (power.size_advice({"a": 100}, low=0, high=1, sd_difference=sd)[0] for sd in (None, 0.2))
    assert narrow.smallest_difference < wide.smallest_difference
