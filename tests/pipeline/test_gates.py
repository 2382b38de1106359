"""Gates pass on what was measured, and never on what is missing."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.gate import Gate, GateResult, Requirement, Why
from offline_eval.core.records import Case
from offline_eval.pipeline.gates import hold, read_gates
from tests.support.scored_sides import FAILED, NEVER_JUDGED, judged, make_side


def result(gate: Gate, side, *, baseline=None) -> GateResult:
    return hold([gate], [side], baselines=[baseline] if baseline else [], seed=1).results[0]


def test_the_bad_end_of_the_interval_is_held_against_the_limit_and_the_value_on_request():
    # 90 of 100 right: value .9; Wilson: (.9 + .0192) / 1.0384 ∓ ... = [.8256, .9448]
    side = make_side({"refusal_recall": [1.0] * 90 + [0.0] * 10})
    found = result(Gate(metric="refusal_recall", at_least=0.85), side)
    assert (found.outcome, found.value) == ("failed", 0.9)
    assert found.interval.low == pytest.approx(0.8256, abs=1e-4)
    assert found.required == Requirement(bound="lower bound", sign="≥", limit=0.85)
    assert found.reason == Why(code="missed", values={"held": found.interval.low})
    assert result(Gate(metric="refusal_recall", at_least=0.82), side).outcome == "passed"
    assert result(Gate(metric="refusal_recall", at_least=0.9, use="value"), side).outcome == "passed"


def test_at_most_is_held_against_the_upper_bound():
    side = make_side({"over_refusal": [0.0] * 95 + [1.0] * 5})  # Wilson upper bound of 5 in 100: .1118
    assert result(Gate(metric="over_refusal", at_most=0.1), side).outcome == "failed"
    assert result(Gate(metric="over_refusal", at_most=0.12), side).outcome == "passed"


@pytest.mark.parametrize("metric", ["faithfulness", "hallucination", "total_grade", "fallback_rate"])
@pytest.mark.parametrize(
    "limit",
    [{"at_least": -100.0}, {"at_most": 100.0}, {"at_least": 0.0, "use": "value"}, {"at_most": 1.0, "use": "value"}],
)
@pytest.mark.parametrize("more", [{}, {"case_at_least": -9.0}, {"case_at_most": 9.0}, {"difference": True}])
def test_a_metric_made_of_failed_cases_never_passes(metric, limit, more):
    side = make_side({metric: [FAILED] * 50})
    baseline = make_side({metric: [1.0] * 50}, system="old")
    found = result(Gate(metric=metric, **limit, **more), side, baseline=baseline)
    assert found.outcome == "undetermined"
    assert found.value is None
    assert not hold([Gate(metric=metric, **limit, **more)], [side], baselines=[baseline], seed=1).passed


@pytest.mark.parametrize("limit", [{"at_least": 0.0}, {"at_most": 1.0}])
def test_a_metric_that_applies_to_no_case_does_not_pass_either(limit):
    found = result(Gate(metric="faithfulness", **limit), make_side({"faithfulness": [None] * 20}))
    assert found.outcome == "undetermined"
    assert found.reason == Why(code="nothing_scored", unscored=(("not_applicable", "no_reference"),))


@settings(max_examples=25)
@given(
    values=st.lists(st.floats(0, 1), min_size=6, max_size=30),
    lost=st.integers(1, 30),
    limit=st.floats(0, 1),
    metric=st.sampled_from(["faithfulness", "hallucination"]),
    upper=st.booleans(),
    by_case=st.booleans(),
)
def test_losing_scores_to_failures_opens_no_gate(values, lost, limit, metric, upper, by_case):
    case = {"case_at_least": 0.5} if by_case else {}
    gate = Gate(metric=metric, use="value", **{"at_most" if upper else "at_least": limit}, **case)
    whole = result(gate, make_side({metric: values}))
    broken = result(gate, make_side({metric: [FAILED] * min(lost, len(values)) + values[lost:]}))
    if broken.outcome == "passed":
        assert whole.outcome == "passed"


def test_an_undefined_interval_does_not_pass_and_says_what_to_do():
    side = make_side({"faithfulness": [0.9, 0.8, 1.0]})
    found = result(Gate(metric="faithfulness", at_least=0.1), side)
    assert found.outcome == "undetermined"
    assert found.reason.code == "no_interval"
    assert "at least 6 independent cases, here 3" in found.reason.values["why"]
    assert result(Gate(metric="faithfulness", at_least=0.9, use="value"), side).outcome == "passed"  # 2.7 / 3


def test_slices_by_query_type_language_and_tag():
    cases = [
        Case(
            id=f"c{n}",
            query="年假有几天？" if n % 2 else "How many days?",
            query_type="open" if n < 10 else "factual",
            tags=("leave",) if n < 4 else (),
        )
        for n in range(20)
    ]
    side = make_side(
        {"faithfulness": [1.0 if n % 2 else 0.0 for n in range(20)]}, cases=cases, owners=[c.id for c in cases]
    )
    for slice_, value, n in (("language=zh", 1.0, 10), ("query_type=open", 0.5, 10), ("tag=leave", 0.5, 4)):
        found = result(Gate(metric="faithfulness", at_least=0.5, use="value", slice=slice_), side)
        assert (found.value, found.n) == (value, n)
    empty = result(Gate(metric="faithfulness", at_least=0.0, slice="tag=none"), side)
    assert (empty.outcome, empty.reason) == ("undetermined", Why(code="empty_slice", values={"slice": "tag=none"}))


def test_differences_to_a_baseline_are_paired():
    before = [place / 100 for place in range(100)]
    old = make_side({"faithfulness": before}, system="old")
    new = make_side({"faithfulness": [max(0.0, value - (0.03 if n % 2 else 0.01)) for n, value in enumerate(before)]})
    assert result(Gate(metric="faithfulness", difference=True, at_least=-0.03), new, baseline=old).outcome == "passed"
    found = result(Gate(metric="faithfulness", difference=True, at_least=-0.01), new, baseline=old)
    assert found.outcome == "failed"
    assert found.value == pytest.approx(-0.02, abs=1e-3)
    missing = result(Gate(metric="faithfulness", difference=True, at_least=-1), new)
    assert (missing.outcome, missing.reason) == ("undetermined", Why(code="no_baseline"))


def test_a_baseline_that_failed_helps_nobody_and_an_unchanged_run_is_no_regression():
    gate = Gate(metric="faithfulness", difference=True, at_least=-0.01)
    old = make_side({"faithfulness": [FAILED] * 10 + [0.9] * 10}, system="old")
    worse = make_side({"faithfulness": [0.9] * 10 + [0.8] * 9 + [0.7]})
    found = result(gate, worse, baseline=old)
    assert (found.outcome, found.n) == ("failed", 10)
    assert found.value == pytest.approx(-0.11)  # (9 × -.1 - .2) / 10
    same = make_side({"faithfulness": [0.9, 0.5] * 10})
    unchanged = result(gate, same, baseline=same)
    assert (unchanged.outcome, unchanged.value, unchanged.interval) == ("passed", 0.0, None)
    wanted = Gate(metric="faithfulness", difference=True, at_least=0.01)
    assert result(wanted, same, baseline=same).outcome == "failed"


def test_coverage_counts_failed_items_and_cases_without_a_response():
    side = make_side({"faithfulness": [1.0] * 18 + [FAILED] * 2, "claim_recall": [None] * 10 + [1.0] * 10})
    found = result(Gate(metric="coverage", at_least=0.95), side)
    assert (found.value, found.outcome) == (0.9, "failed")  # 18 of 20, the worst metric
    assert found.reason == Why(code="missed_of", values={"held": found.interval.low, "metric": "faithfulness"})
    assert result(Gate(metric="coverage", of="claim_recall", at_least=1.0, use="value"), side).value == 1.0
    side.results.cases.append(Case(id="unanswered", query="?"))
    assert result(Gate(metric="coverage", of="claim_recall", at_least=0), side).value == pytest.approx(10 / 11)


def test_review_load_is_the_share_of_responses_sent_to_review():
    side = make_side({"total_grade": [2.0, 3.0] * 50})
    for place, item in enumerate(side.items):
        side.results.verdicts[item.response.key] = judged("review" if place < 6 else "accept")
    found = result(Gate(metric="review_load", at_most=0.08), side)
    assert (found.value, found.outcome) == (0.06, "failed")  # Wilson upper bound of 6 in 100: .1248
    assert found.interval.high == pytest.approx(0.1248, abs=1e-4)
    assert result(Gate(metric="review_load", at_most=0.08, use="value"), side).outcome == "passed"
    unjudged = result(Gate(metric="review_load", at_most=1.0), make_side({"faithfulness": [1.0] * 9}))
    assert (unjudged.outcome, unjudged.reason) == ("undetermined", Why(code="no_verdicts"))


@pytest.mark.parametrize("limit", [{"at_most": 1.0}, {"at_most": 0.1, "use": "value"}, {"at_least": 0.0}])
@pytest.mark.parametrize(
    ("verdict", "status", "reason"),
    [
        (NEVER_JUDGED, "failed", "not_judged"),
        (judged("accept", unjudged="off_menu", failed=True), "failed", "off_menu"),
        (judged("accept", unjudged="unanswerable"), "not_applicable", "unanswerable"),
    ],
)
def test_a_review_load_of_nothing_judged_does_not_pass(limit, verdict, status, reason):
    side = make_side({"total_grade": [2.0] * 30})
    side.results.verdicts.update(dict.fromkeys(side.results.verdicts, verdict))
    found = result(Gate(metric="review_load", **limit), side)
    assert (found.outcome, found.value, found.n) == ("undetermined", None, 0)
    assert found.reason == Why(code="nothing_scored", unscored=((status, reason),))


def test_of_a_review_load_what_was_not_judged_counts_as_the_gate_fears_and_what_does_not_apply_not_at_all():
    side = make_side({"total_grade": [2.0] * 50})
    kinds = [judged("review")] * 4 + [NEVER_JUDGED] * 6 + [judged("accept", unjudged="unanswerable")] * 10
    for item, verdict in zip(side.items, kinds, strict=False):
        side.results.verdicts[item.response.key] = verdict
    most = result(Gate(metric="review_load", at_most=0.2, use="value"), side)
    assert (most.outcome, most.value, most.n, most.n_failed) == ("failed", 10 / 40, 34, 6)  # (4 + 6) of 50 less 10
    least = result(Gate(metric="review_load", at_least=0.1, use="value"), side)
    assert (least.outcome, least.value) == ("passed", 4 / 40)


def test_shares_of_cases_by_their_own_value():
    side = make_side({"faithfulness": [2 / 3] * 8 + [0.5] * 2})
    found = result(Gate(metric="faithfulness", case_at_least=0.666666, at_least=0.8, use="value"), side)
    assert (found.value, found.outcome) == (0.8, "passed")


def test_every_system_is_held_against_a_gate_that_names_none():
    sides = [make_side({"faithfulness": [1.0] * 9}, system=name) for name in ("a", "b")]
    found = hold(
        [Gate(metric="faithfulness", at_least=0.5), Gate(metric="faithfulness", at_least=0.5, system="b")],
        sides,
        seed=1,
    )
    assert [one.system for one in found.results] == ["a", "b", "b"]
    with pytest.raises(UsageError, match="no system 'c'"):
        hold([Gate(metric="faithfulness", at_least=0.5, system="c")], sides, seed=1)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"metric": "faithfulness"}, "either at_least or at_most"),
        ({"metric": "faithfulness", "at_least": 0, "at_most": 1}, "either at_least or at_most"),
        ({"metric": "coverage", "at_least": 0.9, "difference": True}, "coverage takes neither"),
        ({"metric": "faithfulness", "at_least": 0.9, "slice": "easy"}, "write all, query_type="),
        ({"metric": "faithfulness", "at_least": 0.9, "of": "x"}, "belongs to coverage"),
        ({"metric": "faithfulness", "at_least": 0.9, "case_at_least": 1, "difference": True}, "cannot be a difference"),
    ],
)
def test_gates_that_make_no_sense_are_refused(fields, says):
    with pytest.raises(ValidationError, match=says):
        Gate(**fields)


def test_every_fault_of_a_gates_file_is_named_with_its_gate(tmp_path: Path):
    path = tmp_path / "gates.yaml"
    path.write_text(
        "gates:\n"
        "  - {metric: faithfulness, at_least: 0.8}\n"
        "  - {metric: faithfullness, at_least: 0.8}\n"
        "  - {metric: hallucination, atmost: 0.1}\n",
        "utf-8",
    )
    with pytest.raises(DataError) as refusal:
        read_gates(path)
    assert "gate 2: unknown metric 'faithfullness'; did you mean 'faithfulness'?" in str(refusal.value)
    assert "gate 3: atmost" in str(refusal.value)
    path.write_text("- nothing", "utf-8")
    with pytest.raises(DataError, match="expected `gates:` with a list"):
        read_gates(path)
    path.write_text("gates: !!python/object/apply:os.system ['true']", "utf-8")
    with pytest.raises(DataError, match="could not determine a constructor"):
        read_gates(path)
