"""The panel's metrics: 3/1/1 is 2.0, what does not apply is renormalised, and a failure can never help."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.evidence import Evidence, VerdictEvidence
from offline_eval.core.results import Score, Status
from offline_eval.judge.panel import load_panel
from offline_eval.metrics.panel.completeness_grade import METRIC as COMPLETENESS
from offline_eval.metrics.panel.correctness_grade import METRIC as CORRECTNESS
from offline_eval.metrics.panel.faithfulness_grade import METRIC as FAITHFULNESS
from offline_eval.metrics.panel.relevance_grade import METRIC as RELEVANCE
from offline_eval.metrics.panel.total_grade import TotalGrade
from offline_eval.stats.estimate import estimate
from tests.support.panel_runs import make_case, make_response, scored, unscored

DIMENSIONS = ("faithfulness", "relevance", "completeness")


def grades(*values: float, **fields: float) -> list[Evidence]:
    return [scored(name, value, **fields) for name, value in zip(DIMENSIONS, values, strict=True)]


def total(evidence: list[Evidence], metric: TotalGrade | None = None, **case: object) -> Score:
    return (metric or TotalGrade()).score(make_case(**case), make_response(), evidence)


def test_three_one_one_gives_two() -> None:
    found = total(grades(3, 1, 1))
    # .5 x 3 + .3 x 1 + .2 x 1 = 2.0
    assert (found.value, found.status) == (2.0, Status.SCORED)
    assert (found.metric, found.response_key, found.cluster, found.system) == (
        "total_grade",
        "system/c1",
        "c1",
        "system",
    )


def test_weights_need_not_sum_to_one() -> None:
    assert total(grades(3, 1, 1), TotalGrade({"faithfulness": 5, "relevance": 3, "completeness": 2})).value == 2.0


def test_a_dimension_that_does_not_apply_is_left_out_and_the_rest_renormalised() -> None:
    evidence = [scored("faithfulness", 3), scored("relevance", 1), unscored("completeness", failed=False)]
    # (.5 x 3 + .3 x 1) / (.5 + .3) = 1.8 / .8 = 2.25
    assert total(evidence).value == pytest.approx(2.25, abs=1e-12)


def test_when_nothing_applies_the_total_does_not_either() -> None:
    found = total([unscored(name, failed=False, why="correct_refusal") for name in DIMENSIONS])
    assert (found.status, found.value, found.reason) == (Status.NOT_APPLICABLE, None, "correct_refusal")


def test_a_failed_dimension_fails_the_total_and_is_named() -> None:
    evidence = [
        scored("faithfulness", 3),
        unscored("relevance", failed=True, why="off_menu: x"),
        scored("completeness", 3),
    ]
    found = total(evidence)
    assert (found.status, found.value, found.reason) == (Status.FAILED, None, "relevance: off_menu: x")


def test_a_dimension_that_was_not_judged_yet_fails_the_total() -> None:
    found = total(grades(3, 3, 3)[:2])
    assert (found.status, found.reason) == (Status.FAILED, "completeness: not_judged")
    assert total([]).status is Status.FAILED


def test_a_dimension_without_weight_cannot_fail_the_total() -> None:
    metric = TotalGrade({"faithfulness": 1, "relevance": 0, "completeness": 1})
    evidence = [scored("faithfulness", 3), unscored("relevance", failed=True), scored("completeness", 2)]
    assert total(evidence, metric).value == 2.5


def test_expected_grades_are_used_on_request() -> None:
    evidence = [scored("faithfulness", 3, expected_grade=2.6), *grades(3, 1, 1)[1:]]
    assert total(evidence).value == 2.0
    # .5 x 2.6 + .3 x 1 + .2 x 1 = 1.8
    assert total(evidence, TotalGrade(by_expected=True)).value == pytest.approx(1.8, abs=1e-12)


def test_weights_follow_the_query_type_of_the_case() -> None:
    panel = load_panel("three-examiners")
    metric = TotalGrade(panel.weights, by_query_type=panel.weights_by_query_type)
    # factual: .6 x 3 + .25 x 1 + .15 x 1 = 2.2; open: .3 x 3 + .3 x 1 + .4 x 1 = 1.6; a type of its own: .5, .3, .2
    assert total(grades(3, 1, 1), metric, query_type="factual").value == pytest.approx(2.2, abs=1e-12)
    assert total(grades(3, 1, 1), metric, query_type="open").value == pytest.approx(1.6, abs=1e-12)
    assert total(grades(3, 1, 1), metric, query_type="riddle").value == 2.0


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("How many days of leave are there?", 2.2),  # factual
        ("有几天年假？", 2.2),
        ("Describe the culture of the company.", 1.6),  # open
        ("请谈谈公司的文化。", 1.6),
    ],
)
def test_a_type_that_was_not_given_is_classified(query: str, value: float) -> None:
    panel = load_panel("three-examiners")
    metric = TotalGrade(panel.weights, by_query_type=panel.weights_by_query_type)
    found = total(grades(3, 1, 1), metric, query=query, query_type=None)
    assert found.value == pytest.approx(value, abs=1e-12)


def test_each_dimension_has_its_own_metric_and_card() -> None:
    metrics = [FAITHFULNESS, RELEVANCE, COMPLETENESS, CORRECTNESS]
    evidence = [*grades(3, 1, 2), unscored("correctness", failed=False, why="no_reference")]
    found = [metric.score(make_case(), make_response(), evidence) for metric in metrics]
    assert [score.metric for score in found] == [
        "faithfulness_grade",
        "relevance_grade",
        "completeness_grade",
        "correctness_grade",
    ]
    assert [score.value for score in found] == [3, 1, 2, None]
    assert (found[3].status, found[3].reason) == (Status.NOT_APPLICABLE, "no_reference")
    assert all("Definition:" in (metric.__doc__ or "") for metric in metrics)


def test_a_dimension_nobody_judged_is_failed_and_not_inapplicable() -> None:
    found = RELEVANCE.score(make_case(), make_response(), [])
    assert (found.status, found.reason) == (Status.FAILED, "not_judged")


@given(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=3, max_size=3), st.permutations([0.5, 0.3, 0.2]))
def test_a_total_lies_between_its_dimensions(values: list[float], weights: list[float]) -> None:
    metric = TotalGrade(dict(zip(DIMENSIONS, weights, strict=True)))
    found = total(grades(*values), metric).value
    assert found is not None
    assert min(values) - 1e-9 <= found <= max(values) + 1e-9


GRADE = st.sampled_from([1.0, 2.0, 3.0, None])  # None: does not apply
# Per response and dimension: one verdict a judge, and sometimes an arbiter's.
RESPONSES = st.lists(st.lists(st.lists(GRADE, min_size=1, max_size=3), min_size=3, max_size=3), min_size=1, max_size=5)


def _evidence(response: list[list[float | None]], arbiters: bool) -> list[Evidence]:
    found: list[Evidence] = []
    for dimension, votes in zip(DIMENSIONS, response, strict=True):
        for place, grade in enumerate(votes):
            role = "arbiter" if arbiters and place == 2 else "examiner"
            if grade is None:
                found.append(unscored(dimension, failed=False, judge=str(place), role=role))
            else:
                found.append(scored(dimension, grade, judge=str(place), role=role))
    return found


def _mean(metric: TotalGrade, all_evidence: list[list[Evidence]]) -> tuple[float, int]:
    """The mean, in which failed responses have the lowest grade, and how many failed."""
    scores = [metric.score(make_case(), make_response(), evidence) for evidence in all_evidence]
    found = estimate(scores, low=metric.low, high=metric.high, seed=0, resamples=100)
    return (metric.low if found.value is None else found.value), found.n_failed


@given(RESPONSES, st.booleans(), st.data())
def test_replacing_any_verdict_by_a_failure_is_counted_and_never_raises_the_mean(
    responses: list[list[list[float | None]]], arbiters: bool, data: st.DataObject
) -> None:
    metric = TotalGrade()
    before = [_evidence(response, arbiters) for response in responses]
    place = data.draw(st.integers(0, len(before) - 1))
    chosen = data.draw(st.sampled_from(_that_count(before[place])))
    failure = unscored(chosen.dimension, failed=True, judge=chosen.judge, role=chosen.role)
    after = [list(evidence) for evidence in before]
    after[place][after[place].index(chosen)] = failure

    mean_before, failed_before = _mean(metric, before)
    mean_after, failed_after = _mean(metric, after)
    assert failed_after == failed_before + 1
    assert mean_after <= mean_before + 1e-9


def _that_count(evidence: list[Evidence]) -> list[VerdictEvidence]:
    """Verdicts that enter the total: an arbiter's replaces its dimension's examiners."""
    pieces = [piece for piece in evidence if isinstance(piece, VerdictEvidence)]
    settled = {piece.dimension for piece in pieces if piece.role == "arbiter"}
    return [piece for piece in pieces if piece.role == "arbiter" or piece.dimension not in settled]


def test_default_weights_are_those_of_the_default_panel() -> None:
    weights: Mapping[str, float] = load_panel("three-examiners").weights
    assert total(grades(3, 2, 1)).value == total(grades(3, 2, 1), TotalGrade(weights)).value
