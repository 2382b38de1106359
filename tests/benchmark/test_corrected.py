"""Corrected system rates: intervals that cover, raw rates that do not, and the same numbers as ppi-python."""

import warnings
from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.benchmark.corrected import flat_estimates, rate_estimates, system_estimates
from offline_eval.benchmark.labels import LabelRow
from offline_eval.benchmark.panel_weights import weights_of_run
from offline_eval.core.errors import DataError
from offline_eval.core.protocols import Item
from offline_eval.judge.panel import load_panel
from offline_eval.judge.routing import panel_verdict
from tests.support.panel_runs import make_case, make_response, scored, unscored

DRAWS = 1000
SENSITIVITY, SPECIFICITY = 0.9, 0.7


@cache
def ppi() -> ModuleType:
    """The reference library, imported without the warnings of its own dependencies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("ppi_py")


def judged_by(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A judge with sensitivity .9 and specificity .7."""
    return (rng.random(truth.size) < np.where(truth == 1, SENSITIVITY, 1 - SPECIFICITY)).astype(float)


def test_intervals_cover_the_true_rate_and_those_of_the_raw_judge_do_not():
    rng = np.random.default_rng(31)
    covered = dict.fromkeys(("raw", "labels_alone", "rogan_gladen", "prediction_powered"), 0)
    widths = dict.fromkeys(covered, 0.0)
    for draw in range(DRAWS):
        truth = (rng.random(800) < 0.6).astype(float)
        judged = judged_by(truth, rng)
        found = rate_estimates(truth[:150], judged[:150], judged[150:], seed=draw)
        for name in covered:
            interval = getattr(found, name).interval
            covered[name] += interval.low <= 0.6 <= interval.high
            widths[name] += interval.high - interval.low
    # The judge calls .6 * .9 + .4 * .3 = .66 positive.
    assert covered["raw"] / DRAWS < 0.1
    for name in ("labels_alone", "rogan_gladen", "prediction_powered"):
        assert 0.93 <= covered[name] / DRAWS <= 0.97, name
    assert widths["prediction_powered"] < 0.9 * widths["labels_alone"]


def test_the_rates_of_a_judge_with_known_errors_are_recovered():
    rng = np.random.default_rng(5)
    truth = (rng.random(6000) < 0.6).astype(float)
    judged = judged_by(truth, rng)
    found = rate_estimates(truth[:2000], judged[:2000], judged[2000:])
    assert found.sensitivity == pytest.approx(SENSITIVITY, abs=0.03)
    assert found.specificity == pytest.approx(SPECIFICITY, abs=0.04)
    assert found.raw.value == pytest.approx(0.66, abs=0.02)
    for rate in (found.rogan_gladen, found.prediction_powered):
        assert rate.interval.low <= 0.6 <= rate.interval.high
    # Covariance .6 * .4 * (.9 + .7 - 1) = .144 over variance .66 * .34 = .2244, damped by 1 + 2000 / 4000: .428.
    assert found.weight == pytest.approx(0.428, abs=0.06)
    assert found.labels_to_halve is None or found.labels_to_halve > 2000


@settings(max_examples=40)  # the first example imports the library
@given(seed=st.integers(0, 10_000))
def test_prediction_powered_rates_equal_ppi_python(seed):
    rng = np.random.default_rng(seed)
    truth = (rng.random(240) < 0.4).astype(float)
    judged = judged_by(truth, rng)
    found = rate_estimates(truth[:60], judged[:60], judged[60:])
    expected = ppi().ppi_mean_pointestimate(truth[:60], judged[:60], judged[60:], lam=found.weight)
    assert found.prediction_powered.value == pytest.approx(float(np.asarray(expected).item()), abs=1e-12)


@settings(max_examples=40)  # the first example imports the library
@given(seed=st.integers(0, 10_000))
def test_the_weight_is_ppi_pythons_own_choice(seed):
    rng = np.random.default_rng(seed)
    truth = (rng.random(400) < 0.4).astype(float)
    judged = judged_by(truth, rng)
    found = rate_estimates(truth[:100], judged[:100], judged[100:])
    # Left to choose, ppi-python takes the same covariance with n - 1 for n in the denominators.
    expected = float(np.asarray(ppi().ppi_mean_pointestimate(truth[:100], judged[:100], judged[100:])).item())
    assert found.prediction_powered.value == pytest.approx(expected, abs=2e-3)


def test_planned_labels_halve_the_interval():
    rng = np.random.default_rng(8)
    truth = (rng.random(20_000) < 0.6).astype(float)
    judged = judged_by(truth, rng)
    found = rate_estimates(truth[:300], judged[:300], judged[300:])
    n = found.labels_to_halve
    after = rate_estimates(truth[:n], judged[:n], judged[n:]).prediction_powered.interval
    before = found.prediction_powered.interval
    assert (after.high - after.low) / (before.high - before.low) == pytest.approx(0.5, abs=0.05)
    more = found.rogan_gladen_labels_to_halve
    after = rate_estimates(truth[:more], judged[:more], judged[more:]).rogan_gladen.interval
    before = found.rogan_gladen.interval
    assert (after.high - after.low) / (before.high - before.low) == pytest.approx(0.5, abs=0.07)


@pytest.mark.parametrize(
    ("labels", "judged", "others", "reason"),
    [
        ([], [], [1.0, 0.0], "needs"),
        ([1.0] * 40, [1.0] * 40, [1.0] * 40, "needs judged items, labelled positives and labelled negatives"),
        ([1.0, 0.0] * 20, [1.0] * 40, [1.0] * 40, "no better than chance"),
        ([1.0, 0.0] * 20, [1.0, 0.0] * 20, [], "needs"),
    ],
)
def test_degenerate_labels_give_a_reason(labels, judged, others, reason):
    found = rate_estimates(*(np.array(column) for column in (labels, judged, others)))
    assert found.rogan_gladen.value is None
    assert reason in found.rogan_gladen.reason
    assert found.rogan_gladen_labels_to_halve is None
    assert found.rogan_gladen_labels_to_halve_reason


def run_of(n: int, *, language: str = "zh"):
    """Two systems; the judge passes every second answer of each, people every third."""
    items, verdicts, rows = [], {}, []
    rules = load_panel("three-examiners").routing
    for system in ("careful", "hasty"):
        for number in range(n):
            case = make_case(f"c{number}", query=f"第{number}条规定是什么？", language=language)
            response = make_response(case.id, system=system, answer=f"第{number}条。")
            evidence = [
                scored(dimension, 1 + 2 * (number % 2), expected_grade=1.5 + number % 2)
                for dimension in ("faithfulness", "relevance", "completeness")
            ]
            if number == 7:
                evidence = [unscored("faithfulness", failed=True)]
            items.append(Item(case=case, response=response))
            verdicts[response.key] = panel_verdict(response.key, evidence, rules=rules)
            if number < n // 2:
                rows.append(
                    LabelRow(
                        id=response.key,
                        kind="binary",
                        dimension="faithfulness",
                        query=case.query,
                        answer=response.answer,
                        labels={"李": int(number % 3 == 0)},
                        response_key=response.key,
                        run_id="r1",
                    )
                )
    return items, verdicts, rows


def test_systems_of_a_run_are_matched_with_labels_by_their_response_keys():
    items, verdicts, rows = run_of(120)
    found = system_estimates(items, verdicts, rows, run_id="r1")
    assert [(line.system, line.dimension) for line in found] == [("careful", "faithfulness"), ("hasty", "faithfulness")]
    careful = found[0]
    assert (careful.estimates.n_labelled, careful.estimates.n_unlabelled) == (60, 60)
    assert careful.n_failed == 1  # counted as not passed, so it cannot raise the rate
    assert careful.estimates.raw.value == pytest.approx(59 / 120)  # 60 odd numbers, less the failed seventh
    assert careful.estimates.labels_alone.value == pytest.approx(20 / 60)
    assert careful.score == "expected grade"
    rows_shown = flat_estimates(found)
    assert [row["estimate"] for row in rows_shown[:4]] == ["judge, raw", "labels alone", "Rogan-Gladen", "PPI++"]
    assert all(row["note"] or row["low"] is not None for row in rows_shown)


def test_labels_of_another_run_and_unknown_answers_are_refused_by_name():
    items, verdicts, rows = run_of(10)
    with pytest.raises(DataError, match=r"none of 10 labels belongs to a response of run r2.*'careful/c0'"):
        system_estimates(items, verdicts, rows, run_id="r2")
    lost = [row.model_copy(update={"response_key": "nobody/c1"}) for row in rows]
    with pytest.raises(DataError, match="response_key"):
        system_estimates(items, verdicts, lost, run_id="r1")


def test_attempts_of_one_case_count_once():
    items, verdicts, rows = run_of(80)
    again = []
    for item in items:
        response = item.response.model_copy(update={"attempt": 2})
        again.append(Item(case=item.case, response=response))
        verdicts[response.key] = verdicts[item.response.key].model_copy(update={"response_key": response.key})
    found = system_estimates([*items, *again], verdicts, rows, run_id="r1")
    assert [(line.estimates.n_labelled, line.estimates.n_unlabelled) for line in found] == [(40, 40), (40, 40)]


def test_panel_weights_of_a_run_are_fitted_to_total_labels():
    items, verdicts, rows = run_of(120)
    totals = [
        row.model_copy(update={"kind": "ordinal", "dimension": "total", "scale": (1.0, 2.0, 3.0), "labels": {"李": 2}})
        for row in rows
    ]
    found = weights_of_run(items, verdicts, totals, load_panel("three-examiners"), seed=0)
    assert found.weights is None
    assert "move together" in found.reason  # this judge gives all dimensions the same grade
    with pytest.raises(DataError, match="no label of dimension 'total'"):
        weights_of_run(items, verdicts, rows, load_panel("three-examiners"), seed=0)
