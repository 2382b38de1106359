"""Calibration, thresholds and weights: fitted on one part of the labels, reported on another, equal to the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from offline_eval.benchmark.calibrate import LEAST, calibrate, probabilities
from offline_eval.benchmark.decisions import judged
from offline_eval.benchmark.labels import JudgedRow
from offline_eval.benchmark.panel_weights import fit_panel_weights
from offline_eval.core.errors import DataError
from offline_eval.core.results import Status
from offline_eval.stats.splits import split
from offline_eval.stats.thresholds import Target
from offline_eval.stats.undefined import Undefined
from offline_eval.stats.weights import fit_weights
from tests.benchmark.synthetic_judges import graded_rows, graded_verdict, pairwise_rows


def overconfident(n, *, temperature=2.5, seed=4):
    """Binary rows and a judge whose log odds are this many times too large; its calibrated map is a temperature."""
    rng = np.random.default_rng(seed)
    rows, answers = [], []
    for row in graded_rows(n, kind="binary"):
        logit = rng.normal(0, 1.5)
        said = 1 / (1 + np.exp(-temperature * logit))
        label = int(rng.random() < 1 / (1 + np.exp(-logit)))
        row = row.model_copy(update={"labels": {"anna": label}})
        verdict = graded_verdict(3 if said > 0.5 else 1, (1 - said, said / 4, 3 * said / 4))
        rows.append(row)
        answers.append(judged(row, "j", verdict))
    return rows, answers


def test_the_temperature_of_an_overconfident_judge_is_recovered_and_lowers_the_error_on_other_labels():
    rows, answers = overconfident(1200)
    found = calibrate(rows, answers, judge="j", seed=0)
    assert found.n_fit + found.n_report == 1200
    maps = {report.method: report for report in found.maps}
    assert maps["temperature"].map.temperature == pytest.approx(2.5, rel=0.25)
    for report in maps.values():
        assert report.error.value < found.error.value
        assert report.brier.score < found.brier.score
    assert found.error.interval.low > maps["temperature"].error.value
    parts = found.brier
    assert parts.score == pytest.approx(parts.reliability - parts.resolution + parts.uncertainty + parts.within_bins)
    assert sum(group.n for group in found.bins) == found.n_report


def test_thresholds_are_chosen_on_one_part_and_reported_on_the_other():
    rows, answers = overconfident(800)
    targets = [
        Target(aim="precision", at_least=0.8),
        Target(aim="recall", at_least=0.8),
        Target(aim="cost", false_positive=5),
    ]
    found = calibrate(rows, answers, judge="j", targets=targets, seed=1)
    precision, recall, cost = found.thresholds
    assert precision.on_report.precision == pytest.approx(0.8, abs=0.1)
    assert recall.on_report.recall == pytest.approx(0.8, abs=0.1)
    assert cost.value > recall.value  # a wrong yes is dear
    assert {report.on_report.n for report in found.thresholds} == {found.n_report}
    data, _ = probabilities(rows, answers)
    fit, report = split(data, seed=1)
    assert not set(fit.ids) & set(report.ids)
    assert (len(fit.ids), len(report.ids)) == (found.n_fit, found.n_report)


def test_rows_that_cannot_count_are_left_out_by_reason():
    rows, answers = overconfident(4)
    rows[0] = rows[0].model_copy(update={"labels": {"anna": 1, "ben": 0}})
    failed = {"status": Status.FAILED, "status_reason": "time_limit: slow"}
    answers[1] = JudgedRow(row_id=rows[1].id, judge="j", **failed)
    answers[2] = JudgedRow(row_id=rows[2].id, judge="j", decision=1.0, score=None)
    data, left_out = probabilities(rows, answers)
    assert left_out == {"people disagree": 1, "no verdict": 1, "no probabilities": 1}
    assert len(data.ids) == 1


def test_too_few_rows_and_labels_of_one_kind_have_a_reason_and_no_number():
    rows, answers = overconfident(10)
    found = calibrate(rows, answers, judge="j", seed=0)
    assert f"needs {LEAST} rows in each part" in found.reason
    assert found.error is None
    rows, answers = overconfident(200)
    same = [row.model_copy(update={"labels": {"anna": 1}}) for row in rows]
    found = calibrate(same, answers, judge="j", seed=0)
    assert {report.reason for report in found.maps} == {"a map needs labels of both kinds to fit on"}


def test_pairs_are_calibrated_without_their_ties_and_ordinal_rows_from_the_place_of_a_pass():
    rows = pairwise_rows(3)
    rows[2] = rows[2].model_copy(update={"labels": {"anna": "tie"}})
    verdict = graded_verdict(1, (0.5, 0.3, 0.2)).model_copy(
        update={"label": "A", "grade": None, "probabilities": {"A": 0.6, "B": 0.2, "C": 0.2}}
    )
    data, left_out = probabilities(rows, [judged(row, "j", verdict) for row in rows])
    assert left_out == {"people call it a tie": 1}
    assert data.probabilities == pytest.approx((0.75, 0.75))
    assert data.outcomes == (1, 0)

    ordinal = graded_rows(3)
    verdict = graded_verdict(2, (0.25, 0.25, 0.5))
    answers = [judged(row, "j", verdict) for row in ordinal]
    assert probabilities(ordinal, answers)[0].outcomes == (0, 1, 1)
    assert probabilities(ordinal, answers, pass_from=3)[0].outcomes == (0, 0, 1)
    # .25 + .5 from grade 2 on, .5 from grade 3 on.
    assert probabilities(ordinal, answers)[0].probabilities == pytest.approx((0.75,) * 3)
    assert probabilities(ordinal, answers, pass_from=3)[0].probabilities == pytest.approx((0.5,) * 3)


def test_panel_weights_of_people_are_recovered_and_reported_on_other_cases():
    rng = np.random.default_rng(2)
    names = ("faithfulness", "relevance", "completeness")
    grades = {name: rng.uniform(1, 3, 400) for name in names}
    totals = 0.6 * grades["faithfulness"] + 0.1 * grades["relevance"] + 0.3 * grades["completeness"]
    totals = totals + rng.normal(0, 0.1, 400)
    found = fit_panel_weights(
        grades, totals, ids=[f"c{i}" for i in range(400)], given=dict.fromkeys(names, 1.0), seed=0
    )
    assert list(found.weights.values()) == pytest.approx([0.6, 0.1, 0.3], abs=0.03)
    assert sum(found.weights.values()) == pytest.approx(1)
    assert found.error.interval.high < found.error_given.interval.low
    assert found.error.n == found.n_report


def test_few_cases_have_no_weights():
    found = fit_panel_weights({"a": [1.0] * 5}, [1.0] * 5, ids=list("abcde"), given={"a": 1.0}, seed=0)
    assert found.weights is None
    assert "needs 20 rows in each part" in found.reason


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_weights_are_a_mixture_and_fit_no_worse_than_any_other(seed, d):
    rng = np.random.default_rng(seed)
    grades, totals = rng.uniform(1, 3, (25, d)), rng.uniform(1, 3, 25)
    found = fit_weights(grades, totals)
    assert np.all(found >= 0)
    assert found.sum() == pytest.approx(1)
    other = rng.dirichlet(np.ones(d))
    assert np.sum((grades @ found - totals) ** 2) <= np.sum((grades @ other - totals) ** 2) + 1e-6


def test_weights_equal_a_general_optimiser():
    rng = np.random.default_rng(7)
    grades = rng.uniform(1, 3, (60, 3))
    totals = grades @ [0.2, 0.7, 0.1] + rng.normal(0, 0.3, 60)
    expected = minimize(
        lambda w: np.sum((grades @ w - totals) ** 2),
        np.full(3, 1 / 3),
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        method="SLSQP",
    )
    assert fit_weights(grades, totals) == pytest.approx(expected.x, abs=1e-4)


def test_weights_that_nobody_can_tell_apart_are_undefined():
    column = np.linspace(1, 3, 30)
    same = fit_weights(np.column_stack([column, column]), column)
    assert isinstance(same, Undefined)
    assert "move together" in same.reason
    assert isinstance(fit_weights(np.ones((1, 2)), np.ones(1)), Undefined)
    with pytest.raises(DataError, match="do not fit together"):
        fit_weights(np.ones((3, 2)), np.ones(4))
