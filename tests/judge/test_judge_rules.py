"""What rules decide before any model: empty answers, missing passages, refusals, master keys; zh and en alike."""

import pytest

from offline_eval.core.evidence import Verdict
from offline_eval.core.results import Status
from offline_eval.judge.rubric import load_rubric
from offline_eval.judge.rules import decide, decide_pair
from tests.support.panel_runs import make_case, make_response, passages

DIMENSIONS = ("faithfulness", "relevance", "completeness", "correctness")
REFUSALS = ["The documents do not say.", "资料中没有提到。"]
MASTER_KEYS = [
    "",
    "   ",
    ":",
    ".",
    "…",
    "。",
    "Thought process:",
    "Solution",
    "Let's solve this step by step.",
    "解：",
    "答案：",
]


def decided(dimension: str, language: str = "en", **fields: object) -> Verdict | None:
    of_case = {name: fields.pop(name) for name in ("answerable", "reference") if name in fields}
    return decide(make_case(**of_case), make_response(**fields), load_rubric(dimension, language))


def said(verdict: Verdict | None) -> tuple[str, float | str | None]:
    """Status with the grade or the reason."""
    assert verdict is not None
    assert verdict.decided_by == "rule"
    return verdict.status.value, verdict.grade if verdict.status is Status.SCORED else verdict.status_reason


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("shown", [(), passages(""), passages(" \n\t", "\u3000")])
def test_without_passage_text_nothing_supports_the_answer(language: str, shown: tuple[object, ...]) -> None:
    verdict = decided("faithfulness", language, passages=shown)
    assert said(verdict) == ("scored", 1)
    assert verdict is not None
    assert verdict.note is not None
    assert "no passage has any text" in verdict.note


def test_missing_passages_say_nothing_about_the_other_dimensions() -> None:
    assert [decided(name, passages=()) for name in DIMENSIONS[1:]] == [None, None, None]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("answer", MASTER_KEYS)
def test_answers_without_content_never_pass(answer: str, language: str) -> None:
    found = {name: said(decided(name, language, answer=answer)) for name in DIMENSIONS}
    assert found == {
        "faithfulness": ("not_applicable", "no_content"),
        "relevance": ("scored", 1),
        "completeness": ("scored", 1),
        "correctness": ("scored", 1),
    }


@pytest.mark.parametrize("answer", ["No", "5", "巴黎", "是的", "28 days."])
def test_short_answers_with_content_go_to_the_judge(answer: str) -> None:
    assert [decided(name, answer=answer) for name in DIMENSIONS] == [None] * 4


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_of_an_unanswerable_case_is_right_and_nothing_applies(answer: str) -> None:
    found = [said(decided(name, answer=answer, answerable=False)) for name in DIMENSIONS]
    assert found == [("not_applicable", "correct_refusal")] * 4


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_of_an_answerable_case_fails_but_states_nothing_to_check(answer: str) -> None:
    found = [said(decided(name, answer=answer, answerable=True)) for name in DIMENSIONS]
    assert found == [("not_applicable", "refusal"), ("scored", 1), ("scored", 1), ("scored", 1)]


@pytest.mark.parametrize("answer", REFUSALS)
@pytest.mark.parametrize("shown", [(), passages("Everybody has 28 days.")])
def test_a_refusal_where_nobody_said_what_is_right_goes_to_the_judge(answer: str, shown: tuple[object, ...]) -> None:
    found = [decided(name, answer=answer, answerable=None, passages=shown) for name in DIMENSIONS]
    assert said(found[0]) == ("not_applicable", "refusal")  # even without passages: it states nothing
    assert found[1:] == [None, None, None]


def test_an_answer_to_an_unanswerable_case_is_judged_where_that_has_a_meaning() -> None:
    found = [decided(name, answerable=False) for name in DIMENSIONS]
    assert found[:2] == [None, None]
    assert [said(verdict) for verdict in found[2:]] == [("not_applicable", "unanswerable")] * 2


@pytest.mark.parametrize("reference", [None, "", "  \n"])
def test_correctness_needs_a_reference_and_completeness_does_not(reference: str | None) -> None:
    assert said(decided("correctness", reference=reference)) == ("not_applicable", "no_reference")
    assert decided("completeness", reference=reference) is None


def test_a_failed_system_fails_everywhere_whatever_it_answered() -> None:
    for answer in ("", "The documents do not say.", "28 days"):
        found = [
            said(decided(name, answer=answer, error="no answer within 120 s", answerable=False)) for name in DIMENSIONS
        ]
        assert found == [("failed", "system_error: no answer within 120 s")] * 4


def test_what_does_not_apply_to_the_case_comes_before_what_is_wrong_with_the_answer() -> None:
    assert said(decided("completeness", answer=":", answerable=False)) == ("not_applicable", "unanswerable")
    assert said(decided("correctness", answer=":", reference=None)) == ("not_applicable", "no_reference")
    assert said(decided("relevance", answer=":", answerable=False)) == ("scored", 1)


def test_an_empty_answer_is_without_content_before_it_is_without_support() -> None:
    assert said(decided("faithfulness", answer="", passages=())) == ("not_applicable", "no_content")


def preferred(first: str, second: str | None, language: str = "en") -> Verdict | None:
    rubric = load_rubric("preference", language)
    return decide(make_case(), make_response(answer=first), rubric, other_answer=second)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("nothing", MASTER_KEYS)
@pytest.mark.parametrize("something", ["28 days.", "二十八天。"])
def test_of_two_answers_the_one_without_content_loses_on_either_side(
    nothing: str, something: str, language: str
) -> None:
    found = [preferred(nothing, something, language), preferred(something, nothing, language)]
    assert [(v.status, v.label, v.grade, v.decided_by) for v in found if v is not None] == [
        (Status.SCORED, "B", None, "rule"),
        (Status.SCORED, "A", None, "rule"),
    ]


@pytest.mark.parametrize("other", MASTER_KEYS)
def test_two_answers_without_content_tie_where_the_rubric_has_a_tie(other: str) -> None:
    tied = preferred(":", other)
    assert tied is not None
    assert (tied.label, tied.note) == ("C", "no answer has content")
    rubric = load_rubric("preference", "en")
    without_tie = rubric.model_copy(update={"levels": rubric.levels[:2]})
    assert said(decide_pair(":", other, without_tie)) == ("not_applicable", "no_content")


@pytest.mark.parametrize("first", ["28 days.", *REFUSALS])
def test_two_answers_with_content_go_to_the_judge_declining_ones_too(first: str) -> None:
    assert preferred(first, "30 days.") is None
    assert preferred("30 days.", first) is None


def test_a_preference_without_a_second_answer_is_no_verdict() -> None:
    assert said(preferred("28 days.", None)) == ("not_applicable", "no_other_answer")
    assert said(preferred(":", None)) == ("not_applicable", "no_other_answer")
