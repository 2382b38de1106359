"""Drift over variants, attempts and passage order, by hand."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.records import Case, Passage, Response
from offline_eval.core.results import Score, Status
from offline_eval.metrics.robustness._drift import word_f1
from tests.support.claim_runs import METRICS

CASE = Case(id="c1", query="When?", variants=("At what time?", "几点？"))


def respond(
    answer: str = "nine", *, variant: int | None = None, attempt: int = 1, order: str = "", error: bool = False
) -> Response:
    return Response(
        case_id="c1",
        answer=answer,
        variant=variant,
        attempt=attempt,
        passages=tuple(Passage(id=letter, text=letter) for letter in order),
        error="time-out" if error else None,
    )


def scores(responses: Sequence[Response], *values: float | None, failed: bool = False) -> list[Score]:
    missing = Status.FAILED if failed else Status.NOT_APPLICABLE
    return [
        Score(
            metric="faithfulness",
            response_key=response.key,
            cluster="c1",
            system="system",
            status=Status.SCORED if value is not None else missing,
            value=value,
            reason=None if value is not None else "why",
        )
        for response, value in zip(responses, values, strict=True)
    ]


def drift(name: str, responses: Sequence[Response], found: Sequence[Score] = ()) -> Score:
    score: Score = METRICS.load(name).score_group(CASE, responses, found)
    return score


def test_the_mean_distance_over_all_pairs_of_variants() -> None:
    asked = [respond(), respond(variant=0), respond(variant=1), respond(attempt=2)]
    # The second attempt is not a variant: |1-.5|, |1-.25|, |.5-.25| → 1.5 / 3
    assert drift("variant_score_drift", asked, scores(asked, 1.0, 0.5, 0.25, 0.0)).value == 0.5


def test_attempts_are_compared_at_the_same_wording_only() -> None:
    asked = [respond(), respond(attempt=2), respond(variant=0), respond(variant=0, attempt=2)]
    # |1-.8| and |.5-.1|; never 1 against .5.
    assert drift("attempt_score_drift", asked, scores(asked, 1.0, 0.8, 0.5, 0.1)).value == pytest.approx(0.3)


def test_order_is_compared_among_the_same_passages_only() -> None:
    asked = [
        respond(order="abc"),
        respond(order="cab", attempt=2),
        respond(order="abd", attempt=3),
        respond(order="abc", attempt=4),
    ]
    # abc against cab: .4. abd is another set, and the fourth has an order that was there before.
    assert drift("passage_order_score_drift", asked, scores(asked, 1.0, 0.6, 0.0, 0.0)).value == pytest.approx(0.4)


def test_another_metric_is_divided_by_its_range() -> None:
    asked = [respond(), respond(attempt=2)]
    metric = METRICS.load("attempt_score_drift").comparing("total_grade", low=1.0, high=3.0)
    assert metric.name == "attempt_score_drift(of=total_grade)"
    assert (metric.of, metric.score_group(CASE, asked, scores(asked, 3.0, 2.0)).value) == ("total_grade", 0.5)


def test_the_same_answers_do_not_drift_and_other_words_do() -> None:
    asked = [respond("It opens at nine."), respond("it opens at NINE", attempt=2)]
    assert drift("attempt_answer_drift", asked).value == 0.0
    # 4 and 4 words, 3 in common: 1 - 6/8.
    asked = [respond("It opens at nine."), respond("It opens at ten.", attempt=2)]
    assert drift("attempt_answer_drift", asked).value == pytest.approx(0.25)
    asked = [respond("图书馆九点开门"), respond("食堂在东边", variant=1)]
    assert drift("variant_answer_drift", asked).value == 1.0


@pytest.mark.parametrize("name", ["variant_score_drift", "variant_answer_drift", "passage_order_answer_drift"])
def test_one_response_has_nothing_to_be_compared_with(name: str) -> None:
    asked = [respond()]
    found = drift(name, asked, scores(asked, 1.0))
    assert (found.status, found.reason, found.response_key) == (
        Status.NOT_APPLICABLE,
        "nothing_to_compare",
        "system/c1",
    )


def test_a_failed_score_or_response_fails_the_drift_and_one_that_does_not_apply_is_left_out() -> None:
    asked = [respond(), respond(attempt=2), respond(attempt=3)]
    assert drift("attempt_score_drift", asked, scores(asked, 1.0, 0.5, None, failed=True)).status is Status.FAILED
    assert drift("attempt_score_drift", asked, scores(asked, 1.0, 0.5, None)).value == 0.5
    assert drift("attempt_score_drift", asked, scores(asked, 1.0, None, None)).reason == "fewer_than_two_scored"
    broken = [respond(), respond(attempt=2, error=True)]
    assert drift("attempt_answer_drift", broken).status is Status.FAILED


@given(st.text(max_size=40), st.text(max_size=40))
def test_word_f1_is_symmetric_bounded_and_one_for_the_same_text(first: str, second: str) -> None:
    assert 0.0 <= word_f1(first, second) == word_f1(second, first) <= 1.0
    assert word_f1(first, first) == 1.0
