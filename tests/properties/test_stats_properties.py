"""What must hold for every input: bounds, symmetry, order that cannot matter, and failures that never help."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from offline_eval.core.results import Score, Status
from offline_eval.stats import agreement, association, calibration, corrected, intervals, paired
from offline_eval.stats.alpha import LEVELS, krippendorff_alpha
from offline_eval.stats.estimate import estimate
from offline_eval.stats.prediction_powered import prediction_powered_mean
from offline_eval.stats.raters import majority, pairwise_ceiling
from offline_eval.stats.recalibration import fit_calibration
from offline_eval.stats.splits import Labelled, split
from offline_eval.stats.thresholds import Target, choose_threshold
from offline_eval.stats.undefined import Undefined

GRADE = st.integers(1, 3)
GRADES = st.lists(st.tuples(GRADE, GRADE), min_size=1, max_size=40)
UNIT = st.floats(0, 1)
JUDGED = st.lists(st.tuples(UNIT, st.integers(0, 1)), min_size=1, max_size=40)
KAPPAS = [
    agreement.cohen_kappa,
    lambda a, b: agreement.weighted_kappa(a, b, weights="linear"),
    lambda a, b: agreement.weighted_kappa(a, b, weights="quadratic"),
]
quick = settings(max_examples=60)


def _columns(pairs):
    return [a for a, _ in pairs], [b for _, b in pairs]


def _labelled(pairs) -> Labelled:
    p, y = _columns(pairs)
    return Labelled(ids=tuple(map(str, range(len(p)))), probabilities=tuple(p), outcomes=tuple(y))


@quick
@given(GRADES)
def test_shares_of_agreement_lie_between_0_and_1(pairs):
    predicted, actual = _columns(pairs)
    found = [agreement.accuracy(predicted, actual), agreement.balanced_accuracy(predicted, actual)]
    found += [f(predicted, actual) for f in (agreement.macro_precision, agreement.macro_recall, agreement.macro_f1)]
    found += [
        f(predicted, actual, positive=3)
        for f in (agreement.precision, agreement.sensitivity, agreement.specificity, agreement.f1)
    ]
    assert all(isinstance(value, Undefined) or 0 <= value <= 1 for value in found)


@quick
@given(GRADES, st.sampled_from(KAPPAS), st.randoms(use_true_random=False))
def test_kappa_is_bounded_symmetric_and_blind_to_order(pairs, kappa, random):
    first, second = _columns(pairs)
    value = kappa(first, second)
    shuffled = random.sample(pairs, len(pairs))
    if isinstance(value, Undefined):
        assert len({*first, *second}) == 1
        return
    assert -1 - 1e-12 <= value <= 1
    assert kappa(second, first) == pytest.approx(value)
    assert kappa(*_columns(shuffled)) == pytest.approx(value)


@quick
@given(st.lists(GRADE, min_size=2, max_size=40), st.sampled_from(KAPPAS))
def test_kappa_is_1_on_identical_columns(grades, kappa):
    assume(len(set(grades)) > 1)
    assert kappa(grades, grades) == 1


@quick
@given(GRADES)
def test_kappa_does_not_care_what_the_labels_are_called(pairs):
    first, second = _columns(pairs)
    names = {1: "不合格", 2: "合格", 3: "优秀"}
    renamed = agreement.cohen_kappa([names[a] for a in first], [names[b] for b in second])
    original = agreement.cohen_kappa(first, second)
    assert renamed == original if isinstance(original, Undefined) else renamed == pytest.approx(original)


@quick
@given(
    st.lists(st.lists(st.one_of(GRADE, st.none()), min_size=3, max_size=3), min_size=1, max_size=20),
    st.sampled_from(LEVELS),
    st.randoms(use_true_random=False),
)
def test_alpha_is_at_most_1_and_blind_to_the_order_of_items_and_raters(rows, level, random):
    ratings = np.array([[np.nan if x is None else x for x in row] for row in rows], dtype=float)
    value = krippendorff_alpha(ratings, level=level)
    moved = ratings[random.sample(range(len(rows)), len(rows))][:, random.sample(range(3), 3)]
    again = krippendorff_alpha(moved, level=level)
    if isinstance(value, Undefined):
        assert again == value
        return
    assert value <= 1 + 1e-12
    assert again == pytest.approx(value)


@quick
@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=30), st.floats(0.1, 10), st.floats(-100, 100))
def test_correlation_with_a_rising_line_of_itself_is_1(x, slope, shift):
    assume(np.ptp(x) > 1e-3)
    y = [slope * value + shift for value in x]
    assert association.pearson(x, y) == pytest.approx(1, abs=1e-6)


@quick
@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=30),
    st.sampled_from([association.pearson, association.spearman, association.kendall]),
)
def test_correlations_are_bounded_symmetric_and_turn_their_sign_with_a_column(pairs, correlate):
    x, y = _columns(pairs)
    value = correlate(x, y)
    if isinstance(value, Undefined):
        assert len(set(x)) == 1 or len(set(y)) == 1
        return
    assert -1 <= value <= 1
    assert correlate(y, x) == pytest.approx(value)
    assert correlate(x, [-v for v in y]) == pytest.approx(-value)


@quick
@given(st.integers(0, 200), st.integers(1, 200))
def test_wilson_holds_the_share_and_never_has_zero_width(k, n):
    assume(k <= n)
    found = intervals.wilson(k, n)
    assert 0 <= found.low <= k / n <= found.high <= 1
    assert found.low < found.high


@quick
@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abcdefghij")), min_size=6, max_size=60),
    st.randoms(use_true_random=False),
)
def test_mean_interval_is_blind_to_order_and_stays_in_range(rows, random):
    values, clusters = _columns(rows)
    moved_values, moved_clusters = _columns(random.sample(rows, len(rows)))
    settings = {"low": 0, "high": 1, "seed": 7, "resamples": 200}
    found = intervals.mean_interval(values, clusters=clusters, **settings)
    assert intervals.mean_interval(moved_values, clusters=moved_clusters, **settings) == found
    if not isinstance(found, Undefined):
        assert 0 <= found.low < found.high <= 1


@quick
@given(st.lists(st.one_of(st.floats(1, 3), st.sampled_from(["failed", "na"])), min_size=1, max_size=30))
def test_turning_a_score_into_a_failure_never_raises_the_mean(values):
    before = _estimate(values)
    for i, value in enumerate(values):
        if not isinstance(value, float):
            continue
        after = _estimate([*values[:i], "failed", *values[i + 1 :]])
        if after.value is None:  # the last score was taken away
            assert after.mean_scored is None
            continue
        assert after.value <= before.value + 1e-12
        assert after.best >= before.best - 1e-12
        assert after.n == before.n


@quick
@given(st.lists(st.sampled_from(["failed", "na"]), min_size=1, max_size=10))
def test_nothing_scored_gives_no_value_and_no_interval(values):
    found = _estimate(values)
    assert found.value is None
    assert found.interval is None
    assert found.interval_reason == "nothing was scored"
    assert (found.mean_scored, found.best) == (None, None)
    assert found.n_failed == values.count("failed")


@quick
@given(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=30))
def test_a_paired_comparison_turned_around_turns_its_verdict(pairs):
    a, b = _columns(pairs)
    forth = paired.compare_paired(a, b, seed=3, resamples=200)
    back = paired.compare_paired(b, a, seed=3, resamples=200)
    assert (forth.wins, forth.ties, forth.losses) == (back.losses, back.ties, back.wins)
    assert forth.difference.value == pytest.approx(-back.difference.value, abs=1e-12)
    assert forth.p == pytest.approx(back.p, abs=0.05) if forth.p is not None else back.p is None


@quick
@given(st.dictionaries(st.text(max_size=3), UNIT, max_size=8))
def test_holm_never_lowers_a_p_and_keeps_their_order(p_values):
    adjusted = paired.holm(p_values)
    assert list(adjusted) == list(p_values)
    assert all(p_values[name] <= adjusted[name] <= 1 for name in p_values)
    ranked = sorted(p_values, key=p_values.get)
    assert all(adjusted[a] <= adjusted[b] for a, b in pairwise(ranked))


@quick
@given(JUDGED, st.sampled_from(["equal_width", "equal_mass"]), st.integers(1, 12))
def test_bins_hold_every_item_once_and_brier_parts_add_up(pairs, binning, bins):
    p, y = _columns(pairs)
    groups = calibration.reliability_bins(p, y, bins=bins, binning=binning)
    assert sum(group.n for group in groups) == len(p)
    assert all(group.low <= group.mean_probability + 1e-12 <= group.high + 2e-12 for group in groups)
    assert 0 <= calibration.calibration_error(p, y, bins=bins, binning=binning) <= 1
    parts = calibration.brier(p, y, bins=bins, binning=binning)
    assert parts.reliability >= 0
    assert parts.resolution >= 0
    total = parts.reliability - parts.resolution + parts.uncertainty + parts.within_bins
    assert total == pytest.approx(parts.score, abs=1e-12)


@quick
@given(JUDGED, st.sampled_from(["temperature", "platt", "isotonic"]))
def test_fitted_maps_give_probabilities_and_survive_json(pairs, method):
    fitted = fit_calibration(_labelled(pairs), method=method)
    if isinstance(fitted, Undefined):
        assert len({y for _, y in pairs}) == 1
        return
    grid = np.linspace(0, 1, 21)
    mapped = fitted.map.apply(grid)
    assert np.all((mapped >= 0) & (mapped <= 1))
    if method != "platt":
        assert np.all(np.diff(mapped) >= 0)
    assert type(fitted).model_validate_json(fitted.model_dump_json()) == fitted


@quick
@given(JUDGED, st.floats(0, 5), st.floats(0, 5))
def test_the_chosen_threshold_costs_no_more_than_any_other(pairs, false_positive, false_negative):
    target = Target(aim="cost", false_positive=false_positive, false_negative=false_negative)
    chosen = choose_threshold(_labelled(pairs), target=target)
    p, y = (np.array(column) for column in _columns(pairs))
    for value in [*p, 2.0]:
        cost = ((p >= value) & (y == 0)).sum() * false_positive + ((p < value) & (y == 1)).sum() * false_negative
        assert chosen.on_fit.cost <= cost / len(p) + 1e-9


@quick
@given(st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=60), st.integers(0, 5), st.floats(0.1, 0.9))
def test_the_two_parts_of_a_split_share_no_id_and_lose_no_item(ids, seed, share):
    data = Labelled(ids=tuple(ids), probabilities=(0.5,) * len(ids), outcomes=(1,) * len(ids))
    fit, report = split(data, fit_share=share, seed=seed)
    assert not set(fit.ids) & set(report.ids)
    assert sorted([*fit.ids, *report.ids]) == sorted(ids)


@quick
@given(st.tuples(*[st.integers(0, 60) for _ in range(3)]), st.sampled_from(["lang_reiczigel", "delta", "bootstrap"]))
def test_corrected_rates_stay_between_0_and_1(parts, method):
    counts = corrected.JudgedCounts(
        positive=parts[0], n=60, true_positive=parts[1], n_positive=60, true_negative=parts[2], n_negative=60
    )
    found = corrected.rogan_gladen(counts, method=method, seed=1, resamples=200)
    if isinstance(found, Undefined):
        assert parts[1] + parts[2] <= 60
        return
    assert 0 <= found.value <= 1
    assert found.interval is None or 0 <= found.interval.low < found.interval.high <= 1


@quick
@given(st.lists(st.tuples(UNIT, UNIT), min_size=30, max_size=60), st.lists(UNIT, min_size=2, max_size=80))
def test_the_best_weight_lies_between_0_and_1_and_weight_0_is_the_labels_own_mean(pairs, more):
    labels, judged = _columns(pairs)
    best = prediction_powered_mean(labels, judged, more)
    alone = prediction_powered_mean(labels, judged, more, weight=0)
    assume(best.interval is not None and alone.interval is not None)
    assert 0 <= best.weight <= 1
    assert alone.value == pytest.approx(np.mean(labels))


@quick
@given(st.lists(st.sampled_from(["yes", "no", "unsure"]), min_size=1, max_size=9))
def test_a_majority_is_the_only_label_with_the_most_votes(labels):
    found = majority(labels)
    assert all(labels.count(label) == found.votes for label in found.tied)
    assert all(labels.count(label) < found.votes for label in set(labels) - set(found.tied))
    assert (found.label is None) == (len(found.tied) > 1)


@quick
@given(st.lists(GRADE, min_size=2, max_size=20))
def test_raters_who_all_agree_reach_a_ceiling_of_1(grades):
    assume(len(set(grades)) > 1)
    ratings = np.array([grades] * 3, dtype=float).T
    assert pairwise_ceiling(ratings, agreement.cohen_kappa) == 1


def _estimate(values):
    return estimate([_score(i, value) for i, value in enumerate(values)], low=1, high=3, seed=1, resamples=100)


def _score(i: int, value: float | str) -> Score:
    status = {"failed": Status.FAILED, "na": Status.NOT_APPLICABLE}.get(value, Status.SCORED)
    scored = status is Status.SCORED
    return Score(
        metric="m",
        response_key=f"s/{i}",
        cluster=str(i // 2),
        system="s",
        status=status,
        value=value if scored else None,
        reason=None if scored else "engine_error",
    )
