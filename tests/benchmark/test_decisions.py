"""A verdict becomes a decision by the stated rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.benchmark.decisions import from_share, judged, nearest, remapped
from offline_eval.core.evidence import Verdict
from offline_eval.core.results import Status
from tests.benchmark.label_builders import binary_row, ordinal_row, pair_row


def grade(label: str, expected: float | None = None) -> Verdict:
    return Verdict(
        status=Status.SCORED, decided_by="judge", label=label, grade=float(label), expected_grade=expected, margin=0.1
    )


def preference(label: str, a: float, b: float) -> Verdict:
    probabilities = {"A": a, "B": b, "C": round(0.8 - a - b, 6)}  # the labels hold .8 of the mass
    return Verdict(status=Status.SCORED, decided_by="judge", label=label, probabilities=probabilities)


@pytest.mark.parametrize(("label", "pass_from", "decision"), [("1", 2, 0), ("2", 2, 1), ("3", 2, 1), ("2", 3, 0)])
def test_grades_from_the_threshold_on_mean_yes(label: str, pass_from: float, decision: float) -> None:
    found = judged(binary_row("a", 1), "j", grade(label, 2.5), pass_from=pass_from)
    assert (found.decision, found.score) == (decision, 0.75)  # (2.5 - 1) / (3 - 1)


def test_on_an_ordinal_scale_the_grade_keeps_its_place_at_the_nearest_level() -> None:
    row = ordinal_row("a", 1, scale=(0, 1, 2, 3))
    found = judged(row, "j", grade("2", 2.0))
    # The middle of 1-3 is the middle of 0-3, 1.5; levels 1 and 2 are equally close, the lower is taken.
    assert (found.decision, found.score) == (1.0, 1.5)
    assert judged(row, "j", grade("3", 2.8)).score == pytest.approx(0.9 * 3)  # (2.8 - 1) / 2 = .9


def test_a_preference_is_scored_by_its_lead_over_the_labels_alone() -> None:
    found = judged(pair_row("a", "A"), "j", preference("A", 0.5, 0.1))
    assert (found.decision, found.score) == (1.0, pytest.approx(0.5))  # (.5 - .1) / .8


def test_with_both_orders_only_a_common_preference_counts() -> None:
    first = preference("A", 0.5, 0.1)
    agreeing = judged(pair_row("a", "A"), "j", first, swapped=preference("B", 0.2, 0.4))
    assert (agreeing.decision, agreeing.score) == (1.0, pytest.approx((0.5 + 0.25) / 2))  # -(.2 - .4) / .8 = .25
    always_first = judged(pair_row("a", "A"), "j", first, swapped=preference("A", 0.5, 0.1))
    assert (always_first.decision, always_first.score) == (0.0, pytest.approx(0.0))


def test_a_failed_verdict_in_either_order_has_no_decision() -> None:
    failed = Verdict(status=Status.FAILED, status_reason="cut_off: no end", decided_by="judge")
    found = judged(pair_row("a", "A"), "j", preference("A", 0.5, 0.1), swapped=failed)
    assert (found.status, found.decision, found.status_reason) == (Status.FAILED, None, "cut_off: no end")


def test_another_threshold_reads_the_same_verdicts_again() -> None:
    row = binary_row("a", 1)
    first = judged(row, "j", grade("2", 2.0), tokens=(100, 1))
    (again,) = remapped([row], [first], pass_from=3)
    assert (first.decision, again.decision, again.prompt_tokens) == (1.0, 0.0, 100)


@given(st.floats(0, 1), st.lists(st.integers(-5, 5), min_size=2, max_size=6, unique=True))
def test_a_share_becomes_a_level_of_the_scale_and_never_leaves_it(share: float, levels: list[int]) -> None:
    scale = tuple(float(level) for level in sorted(levels))
    decision, score = from_share(ordinal_row("a", scale[0], scale=scale), share)
    assert decision in scale
    assert scale[0] <= score <= scale[-1] + 1e-9
    assert abs(decision - score) == pytest.approx(min(abs(level - score) for level in scale))
    assert nearest(scale, decision) == decision
