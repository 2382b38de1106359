"""Stored verdicts become grades and a route: every rule on and off, the arbiter's word, failures that never help."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.evidence import Evidence
from offline_eval.judge.panel import RoutingRules
from offline_eval.judge.routing import PanelVerdict, disputed_dimensions, panel_verdict
from tests.support.panel_runs import scored, unscored

OFF = RoutingRules(examiners_apart=False, judges_apart=False, tie=False, low_margin=0, failed=False)


def combined(*evidence: Evidence, **rules: object) -> PanelVerdict:
    return panel_verdict("system/c1", evidence, rules=OFF.model_copy(update=rules))


APART = (scored("faithfulness", 3), scored("relevance", 1), scored("completeness", 2))
TWO_LEVELS = (scored("relevance", 3, judge="one"), scored("relevance", 1, judge="two"))
TIED = (scored("relevance", 3, judge="one"), scored("relevance", 2, judge="two"))
CLOSE = (scored("relevance", 2, margin=0.04),)
FAILED = (scored("faithfulness", 3), unscored("relevance", failed=True))


@pytest.mark.parametrize(
    ("evidence", "rule", "reasons"),
    [
        (APART, {"examiners_apart": True}, ("examiners_apart: faithfulness 3, relevance 1",)),
        (TWO_LEVELS, {"judges_apart": True}, ("judges_apart: relevance",)),
        (TIED, {"tie": True}, ("tie: relevance",)),
        (CLOSE, {"low_margin": 0.05}, ("low_margin: relevance",)),
        (FAILED, {"failed": True}, ("failed: relevance",)),
    ],
)
def test_each_rule_sends_to_review_when_on_and_not_when_off(
    evidence: tuple[Evidence, ...], rule: dict[str, object], reasons: tuple[str, ...]
) -> None:
    on, off = combined(*evidence, **rule), combined(*evidence)
    assert (on.route, on.review_reasons) == ("review", reasons)
    assert (off.route, off.review_reasons) == ("accept", ())
    assert on.grades == off.grades


def test_all_rules_together_name_everything_they_saw() -> None:
    evidence = (*TWO_LEVELS, scored("faithfulness", 3, margin=0.01), unscored("completeness", failed=True))
    found = panel_verdict("system/c1", evidence, rules=RoutingRules())
    assert found.review_reasons == (
        "failed: completeness",
        "low_margin: faithfulness",
        "judges_apart: relevance",
        "tie: relevance",
    )


@pytest.mark.parametrize(
    ("evidence", "rules"),
    [
        ((scored("faithfulness", 3), scored("relevance", 2)), {"examiners_apart": True}),
        ((scored("relevance", 2, judge="one"), scored("relevance", 3, judge="two")), {"judges_apart": True}),
        ((scored("relevance", 2, judge="one"), scored("relevance", 2, judge="two")), {"tie": True}),
        ((scored("relevance", 2, margin=0.05),), {"low_margin": 0.05}),
        ((scored("relevance", 2),), {"low_margin": 0.05}),  # an engine without probabilities
        ((unscored("relevance", failed=False),), {"failed": True}),
    ],
)
def test_what_lies_on_the_other_side_of_a_rule_is_accepted(
    evidence: tuple[Evidence, ...], rules: dict[str, object]
) -> None:
    assert combined(*evidence, **rules).route == "accept"


def test_a_majority_is_no_tie_and_three_different_grades_are_one() -> None:
    votes = [scored("relevance", grade, judge=str(place)) for place, grade in enumerate((3, 3, 2))]
    assert combined(*votes, tie=True).route == "accept"
    split = [scored("relevance", grade, judge=str(place)) for place, grade in enumerate((3, 1, 2))]
    assert combined(*split, tie=True).review_reasons == ("tie: relevance",)


def test_judges_of_one_dimension_are_averaged() -> None:
    votes = [scored("relevance", g, judge=str(i), expected_grade=e) for i, (g, e) in enumerate([(3, 2.8), (2, 2.2)])]
    found = combined(*votes)
    assert found.grades == {"relevance": 2.5}  # (3 + 2) / 2
    assert found.expected_grades == {"relevance": pytest.approx(2.5)}  # (2.8 + 2.2) / 2


def test_an_expected_grade_falls_back_on_the_grade() -> None:
    votes = (scored("relevance", 3, judge="one", expected_grade=2.6), scored("relevance", 2, judge="two"))
    assert combined(*votes).expected_grades == {"relevance": pytest.approx(2.3)}  # (2.6 + 2) / 2


def test_the_arbiters_verdict_counts_and_the_dispute_stays_visible() -> None:
    found = combined(*TWO_LEVELS, scored("relevance", 1, judge="three", role="arbiter"), judges_apart=True, tie=True)
    assert found.grades == {"relevance": 1}  # and not the mean of 3, 1 and 1
    assert found.review_reasons == ("judges_apart: relevance", "tie: relevance")


def test_an_arbiter_that_failed_leaves_the_dimension_failed_rather_than_averaged() -> None:
    found = combined(
        *TWO_LEVELS, unscored("relevance", failed=True, judge="three", role="arbiter", why="time_limit: late")
    )
    assert (found.grades, found.missing, found.failed) == ({}, {"relevance": "time_limit: late"}, ("relevance",))


def test_one_failed_judge_fails_its_dimension() -> None:
    found = combined(scored("relevance", 3, judge="one"), unscored("relevance", failed=True, judge="two", why="gone"))
    assert (found.grades, found.missing, found.failed) == ({}, {"relevance": "gone"}, ("relevance",))


def test_what_does_not_apply_is_missing_and_not_failed() -> None:
    found = combined(unscored("relevance", failed=False, why="correct_refusal"))
    assert (found.grades, found.missing, found.failed) == ({}, {"relevance": "correct_refusal"}, ())


def test_no_evidence_gives_an_empty_accepted_verdict() -> None:
    found = panel_verdict("system/c1", [], rules=RoutingRules())
    assert (found.grades, found.missing, found.route) == ({}, {}, "accept")


def test_only_disputed_dimensions_go_to_the_arbiter() -> None:
    agreed = (scored("faithfulness", 3, judge="one"), scored("faithfulness", 3, judge="two"))
    lone = (scored("completeness", 1),)
    assert disputed_dimensions([*agreed, *TWO_LEVELS, *lone]) == ["relevance"]
    assert disputed_dimensions(TIED) == ["relevance"]


@given(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=1, max_size=5))
def test_a_grade_lies_between_its_judges(grades: list[float]) -> None:
    found = combined(*(scored("relevance", grade, judge=str(place)) for place, grade in enumerate(grades)))
    assert min(grades) <= found.grades["relevance"] <= max(grades)
