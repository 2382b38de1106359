"""Judges are asked with the shipped rubrics, label only, and pairs in the orders that are wished."""

from collections.abc import Callable

import pytest

from offline_eval.benchmark.judges import ask_judge, pair_request
from offline_eval.core.protocols import Failure, GenerateRequest, Generation, LabelChoice
from offline_eval.core.results import Status
from offline_eval.engines.scripted import ScriptedEngine, pick
from tests.benchmark.label_builders import binary_row, ordinal_row, pair_row


def always(label: str, probability: float = 0.9) -> Callable[[GenerateRequest], Generation]:
    return lambda request: pick(request, label, probability=probability)


def test_a_row_of_any_kind_is_answered_in_its_place() -> None:
    rows = [pair_row("p", "A"), binary_row("b", 1), ordinal_row("o", 2), binary_row("x", 1, dimension="answerability")]

    def script(request: GenerateRequest) -> Generation:
        assert isinstance(request.constraint, LabelChoice)
        return pick(request, request.constraint.labels[-1], probability=0.8)

    pair, binary, ordinal, other = ask_judge(rows, "j", ScriptedEngine(script))
    assert [answer.row_id for answer in (pair, binary, ordinal, other)] == ["p", "b", "o", "x"]
    assert pair.decision == 0.0  # C, a tie
    # Grade 3 with .8, 1 and 2 with .1 each: expected (.1 + .2 + 2.4) = 2.7, place (2.7 - 1) / 2 = .85.
    assert (binary.decision, binary.score) == (1.0, pytest.approx(0.85))
    assert (ordinal.decision, ordinal.score) == (3.0, pytest.approx(2.7))
    assert (other.status, other.status_reason) == (Status.NOT_APPLICABLE, "no_rubric: no rubric is named answerability")


def test_only_labels_are_asked_for() -> None:
    engine = ScriptedEngine(always("3"))
    ask_judge([binary_row("a", 1), binary_row("b", 0)], "j", engine)
    assert engine.requests_seen == 2


def test_a_judge_that_always_prefers_the_first_answer_ties_when_both_orders_are_asked() -> None:
    rows = [pair_row("a", "A"), pair_row("b", "B")]
    once = ask_judge(rows, "j", ScriptedEngine(always("A")))
    both = ask_judge(rows, "j", ScriptedEngine(always("A")), swap=True)
    assert [answer.decision for answer in once] == [1.0, 1.0]
    assert [answer.decision for answer in both] == [0.0, 0.0]
    assert both[0].swapped is not None


def test_the_answers_change_places_in_the_second_order() -> None:
    row = pair_row("a", "A")
    shown = pair_request(row).messages[1].content
    swapped = pair_request(row, swapped=True).messages[1].content
    assert shown.index("the first answer to a") < shown.index("second a")
    assert swapped.index("second a") < swapped.index("the first answer to a")


def test_an_answer_without_content_loses_by_rule_whatever_the_order() -> None:
    engine = ScriptedEngine(always("A"))
    rows = [
        pair_row("a", "A", answer_a=":"),
        pair_row("b", "A", answer_b=""),
        pair_row("c", "tie", answer_a="", answer_b=":"),
    ]
    found = ask_judge(rows, "j", engine, swap=True)
    assert [answer.decision for answer in found] == [-1.0, 1.0, 0.0]
    assert engine.requests_seen == 0


def test_a_failing_engine_fails_the_row_and_no_other() -> None:
    def script(request: GenerateRequest) -> Generation | Failure:
        if "It says bad." in request.messages[1].content:
            return Failure(reason="time_limit", detail="too slow")
        return pick(request, "3")

    good, bad = ask_judge([binary_row("good", 1), binary_row("bad", 1)], "j", ScriptedEngine(script))
    assert (good.decision, bad.decision, bad.status_reason) == (1.0, None, "time_limit: too slow")


def test_chinese_rows_are_asked_with_the_chinese_rubric() -> None:
    seen: list[str] = []

    def script(request: GenerateRequest) -> Generation:
        seen.append(request.messages[0].content)
        return pick(request, "3")

    row = binary_row("a", 1, query="年假有几天？", answer="十天。", language=None)
    ask_judge([row], "j", ScriptedEngine(script))
    assert "你负责给问答系统的回答打分" in seen[0]
