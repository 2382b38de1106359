"""Comparisons: paired by case, corrected over all tests, honest about failures, refused where they make no sense."""

from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import statsmodels.stats.contingency_tables as tables
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from offline_eval.core.errors import DataError, UnknownNameError, UsageError
from offline_eval.core.records import Case
from offline_eval.core.results import Status
from offline_eval.pipeline.aggregate import Results
from offline_eval.pipeline.compare import compare, compare_metric
from offline_eval.pipeline.mismatch import config_changes, mismatches
from offline_eval.pipeline.sides import Side, pick_sides
from offline_eval.stats.power import smallest_difference
from tests.support.panel_runs import Judges, execute, make_case, make_config, make_response
from tests.support.scored_sides import FAILED, make_side

DRAWS = 1000


def two(before: list, after: list, *, metric: str = "faithfulness", **more) -> tuple[Side, Side]:
    return make_side({metric: before}, system="old", **more), make_side({metric: after}, system="new", **more)


# --- golden ----------------------------------------------------------------------------------------------------------


def test_a_comparison_by_hand():
    # changes: +.5 -.25 0 +.5 0 +.25 +.5 +.5 → sum 2.0 over 8 = .25; 5 wins, 2 ties, 1 loss
    before = [0.5, 0.5, 1.0, 0.0, 0.25, 0.25, 0.5, 0.0]
    after = [1.0, 0.25, 1.0, 0.5, 0.25, 0.5, 1.0, 0.5]
    found = compare_metric("faithfulness", *two(before, after), seed=1)
    assert (found.wins, found.ties, found.losses, found.n) == (5, 2, 1, 8)
    assert found.difference == pytest.approx(0.25)
    assert (found.baseline_mean, found.candidate_mean) == (0.375, 0.625)  # 3/8 and 5/8
    # changes less their mean: six of ±.25, one of -.5, one of 0 → (6 × .0625 + .25) / 7 = .625 / 7, their variance
    assert found.smallest_difference == pytest.approx(smallest_difference(8, (0.625 / 7) ** 0.5))


def test_mcnemar_of_a_binary_metric_by_hand_and_by_statsmodels():
    # 8 gained, 2 lost: mid-p = 2 × P(X < 2) + P(X = 2) = (2 × 11 + 45) / 1024 = .0654
    before, after = [0.0] * 8 + [1.0] * 2 + [1.0] * 10, [1.0] * 8 + [0.0] * 2 + [1.0] * 10
    found = compare_metric("over_refusal", *two(before, after, metric="over_refusal"), seed=1)
    assert found.p_method == "McNemar mid-p"
    assert found.p == pytest.approx(67 / 1024)
    exact = tables.mcnemar([[0, 2], [8, 10]], exact=True).pvalue
    assert found.p == pytest.approx(exact - scipy.stats.binom.pmf(2, 10, 0.5))
    assert (found.wins, found.losses) == (2, 8)  # lower is better
    assert found.verdict == "cannot tell"


def test_holm_over_all_metrics_and_candidates_equals_statsmodels():
    rng = np.random.default_rng(3)
    names = ("faithfulness", "claim_recall", "hallucination")
    sides = [
        make_side({name: rng.random(40).clip(0, 1).tolist() for name in names}, system=system)
        for system in ("a", "b", "c")
    ]
    found = compare(sides, seed=1)
    assert found.n_tests == 6  # three metrics, two candidates
    adjusted = multipletests([row.p for row in found.metrics], method="holm")[1]
    assert [row.adjusted_p for row in found.metrics] == pytest.approx(list(adjusted))


def test_the_interval_of_the_difference_equals_scipys_bootstrap():
    rng = np.random.default_rng(5)
    before = rng.random(60)
    after = np.clip(before + rng.normal(0.05, 0.2, 60), 0, 1)
    found = compare_metric("faithfulness", *two(before.tolist(), after.tolist()), seed=1, resamples=20_000)
    # The expanded percentile's level for n = 60: 2 Φ(t(.975, 59) sqrt(60/59)) - 1
    level = 2 * scipy.stats.norm.cdf(scipy.stats.t.ppf(0.975, 59) * (60 / 59) ** 0.5) - 1
    theirs = scipy.stats.bootstrap(
        (after - before,), np.mean, n_resamples=20_000, method="percentile", confidence_level=level, rng=7
    ).confidence_interval
    assert found.interval.low == pytest.approx(theirs.low, abs=0.003)
    assert found.interval.high == pytest.approx(theirs.high, abs=0.003)


def test_a_paired_interval_is_used_and_not_an_unpaired_one():
    # Two systems, 200 shared cases from easy to hard; the candidate gains .02 on nine of ten.
    before = [place / 200 * 0.9 for place in range(200)]
    after = [value + (0.02 if place % 10 else -0.01) for place, value in enumerate(before)]
    shuffled = np.random.default_rng(1).permutation(200)
    old = make_side({"faithfulness": before}, system="old")
    ids = [f"c{place:03d}" for place in shuffled]
    cases = [Case(id=f"c{place:03d}", query="q") for place in range(200)]
    new = make_side({"faithfulness": [after[p] for p in shuffled]}, system="new", owners=ids, cases=cases)
    found = compare([old, new], seed=1).metrics[0]
    assert found.n == 200
    assert found.difference == pytest.approx(0.017)  # .9 × .02 - .1 × .01
    assert found.interval.high - found.interval.low < 0.004
    assert found.verdict == "better"
    # Unpaired, a t interval of the same data is more than ten times as wide and shows nothing.
    unpaired = scipy.stats.ttest_ind(after, before).confidence_interval()
    assert unpaired.low < 0 < unpaired.high
    assert unpaired.high - unpaired.low > 0.1


# --- failures and gaps -----------------------------------------------------------------------------------------------


def test_failed_items_count_at_the_bad_end_on_either_side():
    old, new = two([1.0, 0.5, 0.5, 0.5], [FAILED, 0.5, 0.5, 0.5])
    found = compare_metric("faithfulness", old, new, seed=1)
    assert found.difference == -0.25  # (0 - 1) / 4
    assert (found.failed_baseline, found.failed_candidate) == (0, 1)
    lower = two([0.0, 0.5, 0.5, 0.5], [FAILED, 0.5, 0.5, 0.5], metric="hallucination")
    assert compare_metric("hallucination", *lower, seed=1).difference == 0.25  # failed counts as 1


def test_a_side_of_failures_alone_is_missing_and_not_worse():
    found = compare(two([1.0] * 20, [FAILED] * 20), seed=1).metrics[0]
    assert (found.difference, found.verdict) == (None, "cannot tell")
    assert found.reason == "nothing was scored for new"


@settings(max_examples=15)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans()), min_size=8, max_size=30))
def test_a_failure_never_helps_a_candidate(rows):
    before, after = [row[0] for row in rows], [row[1] for row in rows]
    failing = [FAILED if row[2] else row[1] for row in rows]
    whole = compare_metric("faithfulness", *two(before, after), seed=1, resamples=100)
    broken = compare_metric("faithfulness", *two(before, failing), seed=1, resamples=100)
    if broken.difference is not None:
        assert broken.difference <= whole.difference + 1e-9


def test_what_does_not_apply_and_what_has_no_partner_is_left_out_and_counted():
    old, new = two([0.5, None, 0.5, 0.5], [1.0, 1.0, None, 1.0])
    found = compare_metric("faithfulness", old, new, seed=1)
    assert (found.n, found.n_left_out, found.unpaired, found.difference) == (2, 2, 0, 0.5)
    longer = make_side({"faithfulness": [1.0] * 6}, system="new")
    assert compare_metric("faithfulness", old, longer, seed=1).unpaired == 2


@pytest.mark.parametrize("n", [1, 3])
def test_few_cases_have_a_difference_without_an_interval(n):
    found = compare(two([0.0] * n, [1.0] * n), seed=1).metrics[0]
    assert (found.difference, found.interval, found.verdict) == (1.0, None, "cannot tell")
    assert "at least 6 independent cases" in found.interval_reason


def test_all_cases_not_applicable_say_so():
    found = compare(two([None] * 10, [None] * 10), seed=1).metrics[0]
    assert (found.n, found.difference, found.interval, found.verdict) == (0, None, None, "cannot tell")
    assert found.reason == "nothing was scored for old, new"


def test_attempts_of_one_case_are_resampled_together():
    owners = [f"c{place // 20}" for place in range(200)]
    after = [1.0 if place // 20 < 7 else 0.0 for place in range(200)]
    before = [1.0 - value for value in after]
    cases = [Case(id=f"c{place}", query="q") for place in range(10)]
    sides = two(before, after, owners=owners, cases=cases)
    assert compare(sides, seed=1).metrics[0].verdict == "cannot tell"  # 7 cases up, 3 down: no evidence


def test_the_cases_that_moved_most_come_first_losses_before_gains():
    found = compare(two([0.5, 0.0, 1.0, 0.5], [0.75, 1.0, 0.0, 0.5]), seed=1, moved=2).moved
    assert [(case.cell, case.change, case.gain) for case in found] == [("c002", -1.0, False), ("c001", 1.0, True)]
    assert (found[0].baseline_answer, found[0].candidate_answer) == ("old answers c002", "new answers c002")
    lower = compare(two([0.0, 1.0], [1.0, 0.5], metric="hallucination"), seed=1).moved
    assert [(case.change, case.gain) for case in lower] == [(1.0, False), (-0.5, True)]


# --- simulation ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_without_a_difference_better_and_worse_are_said_5_percent_of_the_time():
    rng = np.random.default_rng(41)
    told = 0
    for draw in range(DRAWS):
        easy = rng.beta(2, 1, 200)
        before, after = ((rng.random(200) < easy).astype(float).tolist() for _ in range(2))
        told += compare(two(before, after), seed=draw, moved=0, resamples=1000).metrics[0].verdict != "cannot tell"
    assert binomtest(told, DRAWS, 0.05).pvalue > 0.01


@pytest.mark.slow
def test_a_planted_difference_of_five_points_on_400_cases_is_found_with_the_stated_power():
    # Yes/no pairs: a discordant share d gives the changes the variance d - .05²; this d makes .05 the smallest
    # difference that 400 cases show with power .8.
    sd = 0.05 / smallest_difference(400, 1.0)
    discordant = sd**2 + 0.05**2
    rng = np.random.default_rng(43)
    found = 0
    for draw in range(DRAWS):
        change = rng.choice([1, -1, 0], 400, p=[(discordant + 0.05) / 2, (discordant - 0.05) / 2, 1 - discordant])
        before = np.where(change == 1, 0.0, np.where(change == -1, 1.0, (np.arange(400) % 2).astype(float)))
        sides = two(before.tolist(), (before + change).tolist())
        found += compare(sides, seed=draw, moved=0, resamples=1000).metrics[0].verdict == "better"
    assert binomtest(found, DRAWS, 0.8).pvalue > 0.01


# --- which sides, and whether they fit -------------------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path: Path):
    cases = [make_case(f"c{place}") for place in range(6)]

    def run(name: str, *, judges=("judge",), given=cases, systems=("ours",), **config) -> Results:
        responses = [
            make_response(case.id, system=system, answer=f"{system} {case.id}") for case in given for system in systems
        ]
        return Results(execute(tmp_path / f"{name}.sqlite", make_config(judges, **config), given, responses, Judges()))

    return run


def test_a_run_alone_stands_for_its_systems_and_beside_others_names_one(runs):
    both = runs("both", systems=("a", "b:1"))
    opened = {"both": both}.__getitem__
    assert [side.label for side in pick_sides(["both"], opened)] == ["a", "b:1"]

    def strictly(name: str) -> Results:
        if name != "both":
            raise AssertionError(name)
        return both

    assert [side.label for side in pick_sides(["both:a"], strictly)] == ["a"]
    assert [side.label for side in pick_sides(["both:b:1"], strictly)] == ["b:1"]
    with pytest.raises(UsageError, match="name one: both:a"):
        pick_sides(["both", "both:a"], strictly)
    with pytest.raises(UnknownNameError, match="system in run"):
        pick_sides(["both:c"], strictly)
    with pytest.raises(UsageError, match="two systems"):
        compare(pick_sides(["both:a"], strictly), seed=1)


def test_a_run_without_responses_has_nothing_to_compare(tmp_path: Path):
    empty = Results(execute(tmp_path / "empty.sqlite", make_config(), [], [], Judges()))
    with pytest.raises(UsageError, match="no responses, so there is nothing to measure"):
        pick_sides(["empty"], {"empty": empty}.__getitem__)


def test_a_path_may_hold_colons(runs, tmp_path: Path):
    path = tmp_path / "2026-01-01T10:00.sqlite"
    path.touch()
    opened = {str(path): runs("x")}
    assert pick_sides([str(path)], opened.__getitem__)[0].system == "ours"
    assert pick_sides([f"{path}:ours"], opened.__getitem__)[0].system == "ours"


def test_the_same_system_in_two_runs_is_told_apart_by_the_run(runs):
    opened = {"x": runs("x"), "y": runs("y", judges=("other",))}
    labels = [side.label for side in pick_sides(["x", "y"], opened.__getitem__)]
    assert labels == [f"{opened[name].run_id[:8]}:ours" for name in ("x", "y")]


def test_runs_on_other_test_sets_judges_or_rubrics_are_refused_and_everything_is_named(runs):
    first = runs("first")
    changed = [
        make_case("c0", query="年假有几天？"),
        *(make_case(f"c{place}") for place in range(1, 5)),
        make_case("new"),
    ]
    other = runs("other", judges=("stricter",), given=changed, arbiter="judge")
    sides = pick_sides(["first", "other"], {"first": first, "other": other}.__getitem__)
    with pytest.raises(DataError) as refusal:
        compare(sides, seed=1)
    text = str(refusal.value)
    assert "--allow-mismatch" in text
    assert "1 cases only in the first (c5)" in text
    assert "1 cases only in the other (new)" in text
    assert "1 cases changed (c0)" in text
    assert "faithfulness: judge and stricter" in text
    assert "arbiter" in text
    found = compare(sides, seed=1, allow_mismatch=True)
    assert {one.what for one in found.mismatches if one.blocks} == {"test set", "judges", "arbiter"}
    assert found.metrics[0].n == 5


def test_another_rubric_or_weight_is_a_mismatch_and_another_dtype_is_only_said(runs):
    first = runs("first")
    rubrics = {**first.config.rubrics, "faithfulness.en@2": "f" * 64}
    other = runs("other", dtype="bfloat16")
    names = first.config.metric_names
    changed = first.config.model_copy(update={"rubrics": rubrics})
    assert [what for what, _ in config_changes(first.config, changed, metrics=names)] == ["rubrics"]
    assert config_changes(first.config, changed, metrics=["faithfulness"]) == []  # claims ask no judge
    found = mismatches(first, other, label="x", metrics=names)
    assert [(one.what, one.blocks) for one in found] == [("settings", False)]
    other.panel = other.panel.model_copy(update={"weights": dict.fromkeys(other.panel.examiners, 1.0)})
    found = mismatches(first, other, label="x", metrics=names)
    assert ("weights", True) in [(one.what, one.blocks) for one in found]


def test_encoders_in_another_number_format_are_said_where_both_runs_asked_one(runs):
    first, other = runs("first", encoder_dtype="float32"), runs("other", encoder_dtype="bfloat16")
    names = ["faithfulness"]
    assert mismatches(first, other, label="x", metrics=names) == []  # neither asked an encoder
    for results in (first, other):
        results.config = results.config.model_copy(update={"engines": {"nli": "x"}})
    (found,) = mismatches(first, other, label="x", metrics=names)
    assert (found.what, found.blocks) == ("encoder settings", False)
    assert found.detail == "encoder_dtype float32 and bfloat16"
    first.config = first.config.model_copy(update={"encoder_dtype": None})  # made before it was kept
    assert mismatches(first, other, label="x", metrics=names) == []


def test_metrics_that_not_every_side_has_are_named():
    old = make_side({"faithfulness": [0.5] * 8, "claim_recall": [0.5] * 8}, system="old")
    new = make_side({"faithfulness": [0.5] * 8, "claim_f1": [0.5] * 8}, system="new")
    assert compare([old, new], seed=1).left_out == ("claim_recall", "claim_f1")
    with pytest.raises(UsageError, match="no metric in common"):
        compare([make_side({"claim_f1": [0.5]}), make_side({"claim_recall": [0.5]})], seed=1)
    with pytest.raises(UsageError, match="not a metric of these runs"):
        compare([old, new], seed=1, by="claim_f1")


def test_scores_of_real_runs_are_paired_by_case_variant_and_attempt(runs):
    both = runs("both", systems=("a", "b"))
    first, other = pick_sides(["both"], {"both": both}.__getitem__)
    assert list(first.scores("total_grade")) == list(other.scores("total_grade")) == [f"c{n}" for n in range(6)]
    found = compare([first, other], seed=1)
    expected = [
        other.scores("total_grade")[f"c{n}"].value - first.scores("total_grade")[f"c{n}"].value for n in range(6)
    ]
    assert found.metrics[0].difference == pytest.approx(sum(expected) / 6)
    assert all(score.status is Status.SCORED for score in first.scores("total_grade").values())
