"""Users' thumbs against metrics."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from offline_eval.core.errors import DataError
from offline_eval.core.results import Interval
from offline_eval.pipeline.feedback import follow, read_feedback, recorded_feedback
from offline_eval.report.feedback import feedback_sections
from offline_eval.stats.association import correlation_change
from offline_eval.stats.measured import Measured
from offline_eval.stats.undefined import Undefined
from tests.support.scored_sides import FAILED, make_side


def rated(n: int, *, noise: float, seed: int, metric: str = "faithfulness", run_id: str = "run-a"):
    """Users who are pleased by a response the more probably the better it is."""
    rng = np.random.default_rng(seed)
    quality = rng.random(n)
    thumbs = [1 if q > 0.5 else -1 for q in quality]
    values = np.clip(quality + rng.normal(0, noise, n), 0, 1)
    if metric == "hallucination":
        values = 1 - values
    return make_side({metric: values.tolist()}, feedback=thumbs, run_id=run_id)


def follows(side, **more):
    return follow([side], recorded_feedback([side]), seed=1, **more)


def test_the_correlation_equals_scipys_and_a_metric_that_follows_users_is_not_flagged():
    side = rated(80, noise=0.1, seed=1)
    found = follows(side).following[0]
    values = [side.results.scores["faithfulness"][item.response.key].value for item in side.items]
    thumbs = [item.response.feedback for item in side.items]
    assert found.correlation == pytest.approx(spearmanr(values, thumbs).statistic)
    assert (found.reading, found.drifts, found.n) == ("follows", False, 80)


def test_where_lower_is_better_the_sign_is_turned():
    assert follows(rated(80, noise=0.1, seed=1, metric="hallucination")).following[0].reading == "follows"


def test_a_metric_whose_interval_includes_zero_or_lies_below_is_flagged():
    rng = np.random.default_rng(2)
    thumbs = rng.choice([1, -1], 100).tolist()
    unrelated = make_side({"faithfulness": rng.random(100).tolist()}, feedback=thumbs)
    found = follows(unrelated).following[0]
    assert (found.reading, found.drifts) == ("cannot tell", True)
    against = make_side({"faithfulness": [0.5 - 0.4 * thumb for thumb in thumbs]}, feedback=thumbs)
    assert follows(against).following[0].reading in ("against", "undefined")  # every resample gives -1


def test_a_metric_that_fell_against_an_earlier_run_is_flagged_though_it_still_follows():
    then, now = rated(150, noise=0.02, seed=3, run_id="earlier"), rated(150, noise=0.7, seed=4)
    report = follows(now, earlier=[then], earlier_feedback=recorded_feedback([then]))
    found = report.following[0]
    assert (found.reading, found.fell, found.drifts) == ("follows", True, True)
    assert found.change.high < 0
    same = follows(then, earlier=[then], earlier_feedback=recorded_feedback([then])).following[0]
    assert (same.fell, same.drifts) == (False, False)
    assert "fell" in str(feedback_sections(report)[1].rows)


def test_the_change_of_two_correlations_by_hand():
    def measured(value: float, low: float, high: float) -> Measured:
        interval = Interval(low=low, high=high, level=0.95, method="by hand")
        return Measured(value=value, interval=interval, n=100)

    # later .3 [.1, .5] less earlier .6 [.45, .7]: -.3; down √(.2² + .1²) = .2236; up √(.2² + .15²) = .25
    found = correlation_change(measured(0.6, 0.45, 0.7), measured(0.3, 0.1, 0.5))
    assert (found.low, found.high) == (pytest.approx(-0.52361, abs=1e-4), pytest.approx(-0.05))
    assert isinstance(correlation_change(measured(0.6, 0.4, 0.7), Measured(value=None, reason="x", n=0)), Undefined)


def test_the_change_of_two_correlations_covers_the_truth():
    # Zou's interval for two independent samples of the same population covers 0 about 95 % of the time.
    from scipy.stats import binomtest

    from offline_eval.stats.association import pearson

    rng = np.random.default_rng(7)

    def one() -> Measured:
        x = rng.normal(size=100)
        y = 0.6 * x + 0.8 * rng.normal(size=100)
        r = float(pearson(x, y))
        z, half = np.arctanh(r), 1.959964 / np.sqrt(97)  # Fisher's interval
        low, high = float(np.tanh(z - half)), float(np.tanh(z + half))
        return Measured(value=r, interval=Interval(low=low, high=high, level=0.95, method="Fisher"), n=100)

    covered = 0
    for _ in range(1000):
        found = correlation_change(one(), one())
        covered += found.low <= 0 <= found.high
    assert binomtest(covered, 1000, 0.95).pvalue > 0.01


def test_satisfaction_is_the_share_of_thumbs_up_among_both():
    side = make_side({"faithfulness": [0.5] * 12}, feedback=[1] * 6 + [-1] * 2 + [0] + [None] * 3)
    report = follows(side)
    found = report.satisfaction[0]
    assert (found.up, found.down, found.neutral, found.n_responses, found.share) == (6, 2, 1, 12, 0.75)
    # Wilson for 6 of 8: centre (.75 + .2401)/(1.4802) = .66890, half-width 1.96 √(.0234375 + .0150061)/1.4802 = .25962
    assert found.interval.low == pytest.approx(0.4093, abs=1e-3)
    assert report.following[0].reading == "undefined"  # the metric is constant
    assert "constant" in report.following[0].reason


def test_responses_without_a_value_are_left_out_and_counted():
    thumbs = [1, -1] * 15
    side = make_side({"faithfulness": [FAILED] * 4 + [None] * 2 + [0.5 + 0.4 * t for t in thumbs[6:]]}, feedback=thumbs)
    found = follows(side).following[0]
    assert (found.n, found.n_unscored) == (24, 6)


def test_feedback_is_read_in_the_forms_people_keep_it_in(tmp_path: Path):
    sides = [make_side({"faithfulness": [0.5] * 4}, system=name) for name in ("a", "b")]
    path = tmp_path / "thumbs.csv"
    path.write_text("case_id,system,feedback\nc000,a,👍\nc001,a,踩\nc001,b,-1\nc002,,满意\nc003,b,0\n", "utf-8")
    assert read_feedback(path, sides) == {
        "a/c000": 1, "a/c001": -1, "b/c001": -1, "a/c002": 1, "b/c002": 1, "b/c003": 0,
    }  # fmt: skip
    path.write_text("case_id,feedback\nc000,up\nc000,up\nc000,down\nc001,up\nc001,down\n", "utf-8")
    assert read_feedback(path, sides[:1]) == {"a/c000": 1, "a/c001": 0}  # majority; a tie is neither


def test_every_bad_row_is_named_and_no_feedback_at_all_is_said(tmp_path: Path):
    sides = [make_side({"faithfulness": [0.5] * 2})]
    path = tmp_path / "thumbs.jsonl"
    path.write_text('{"case_id": "c000", "feedback": "five stars"}\n{"case_id": "zz", "feedback": 1}\n', "utf-8")
    with pytest.raises(DataError) as refusal:
        read_feedback(path, sides)
    assert ":1: feedback 'five stars': expected 1, -1, 0" in str(refusal.value)
    assert ":2: case 'zz': no such response" in str(refusal.value)
    with pytest.raises(DataError, match="no response has feedback"):
        follows(sides[0])
