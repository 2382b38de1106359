"""Generations become verdicts: numbers by hand, bounds as properties, failures that never become a grade."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.evidence import Verdict
from offline_eval.core.protocols import Failure, Generation
from offline_eval.core.results import Status
from offline_eval.judge.prompt import Material
from offline_eval.judge.rubric import load_rubric
from offline_eval.judge.verdicts import best_window, read_label, read_reason
from tests.support.panel_runs import make_case, make_response, passages

GRADED = load_rubric("faithfulness", "en")
PREFERENCE = load_rubric("preference", "en")


def answered(text: str, probabilities: dict[str, float] | None = None) -> Generation:
    logprobs = None if probabilities is None else {name: math.log(value) for name, value in probabilities.items()}
    return Generation(text=text, label_logprobs=logprobs, prompt_tokens=10, output_tokens=1)


def test_expected_grade_margin_and_off_label_mass_by_hand() -> None:
    verdict = read_label(GRADED, answered("3", {"1": 0.1, "2": 0.2, "3": 0.5}))
    assert (verdict.label, verdict.grade, verdict.status) == ("3", 3, Status.SCORED)
    assert verdict.probabilities == {"1": 0.1, "2": 0.2, "3": 0.5}
    # 1 - (.1 + .2 + .5) = .2
    assert verdict.off_label_mass == 0.2
    # (1 x .1 + 2 x .2 + 3 x .5) / .8 = 2.0 / .8 = 2.5
    assert verdict.expected_grade == 2.5
    # (.5 - .2) / .8 = .375
    assert verdict.margin == 0.375


def test_labels_without_grades_have_a_margin_and_no_expected_grade() -> None:
    verdict = read_label(PREFERENCE, answered("B", {"A": 0.3, "B": 0.5, "C": 0.1}))
    assert (verdict.label, verdict.grade, verdict.expected_grade) == ("B", None, None)
    # (.5 - .3) / .9
    assert verdict.margin == pytest.approx(0.222222, abs=1e-9)


def test_without_probabilities_only_the_label_is_known() -> None:
    verdict = read_label(GRADED, answered("2"))
    assert (verdict.grade, verdict.probabilities, verdict.off_label_mass) == (2, {}, None)
    assert (verdict.expected_grade, verdict.margin) == (None, None)


def test_labels_that_the_model_would_never_write_leave_expected_grade_undefined() -> None:
    generation = Generation(text="1", label_logprobs=dict.fromkeys("123", -2000.0), prompt_tokens=0, output_tokens=1)
    verdict = read_label(GRADED, generation)
    assert (verdict.off_label_mass, verdict.expected_grade, verdict.margin) == (1.0, None, None)


LOGPROBS = st.fixed_dictionaries(dict.fromkeys("123", st.floats(-200, 0)))


@given(LOGPROBS)
def test_numbers_of_any_distribution_stay_in_their_ranges(logprobs: dict[str, float]) -> None:
    best = max(logprobs, key=lambda label: logprobs[label])
    verdict = read_label(GRADED, Generation(text=best, label_logprobs=logprobs, prompt_tokens=0, output_tokens=1))
    assert verdict.expected_grade is not None
    assert verdict.margin is not None
    assert verdict.off_label_mass is not None
    assert 1 <= verdict.expected_grade <= 3
    assert 0 <= verdict.margin <= 1
    assert 0 <= verdict.off_label_mass <= 1
    assert set(verdict.probabilities) == set("123")


@given(LOGPROBS, st.floats(-20, 0))
def test_mass_outside_the_labels_moves_neither_expected_grade_nor_margin(
    logprobs: dict[str, float], shift: float
) -> None:
    def read(values: dict[str, float]) -> Verdict:
        return read_label(GRADED, Generation(text="1", label_logprobs=values, prompt_tokens=0, output_tokens=1))

    one, two = read(logprobs), read({label: value + shift for label, value in logprobs.items()})
    assert one.expected_grade == pytest.approx(two.expected_grade, abs=2e-6)
    assert one.margin == pytest.approx(two.margin, abs=2e-6)


@given(LOGPROBS, st.sampled_from("12"), st.floats(0, 50))
def test_more_weight_on_the_best_label_never_lowers_the_expected_grade(
    logprobs: dict[str, float], loser: str, less: float
) -> None:
    def read(values: dict[str, float]) -> float:
        verdict = read_label(GRADED, Generation(text="3", label_logprobs=values, prompt_tokens=0, output_tokens=1))
        assert verdict.expected_grade is not None
        return verdict.expected_grade

    top_share = {**logprobs, "1": logprobs["1"] - less, "2": logprobs["2"] - less}
    assert read(top_share) >= read(logprobs) - 1e-6


@pytest.mark.parametrize("text", ["4", "", "3 ", "three", "优秀", '{"grade":3'])
def test_anything_but_a_label_is_off_menu_with_the_raw_text(text: str) -> None:
    verdict = read_label(GRADED, answered(text))
    assert (verdict.status, verdict.label, verdict.grade) == (Status.FAILED, None, None)
    assert verdict.status_reason == "off_menu: not one of the labels"
    assert verdict.raw == text


def test_a_failed_call_is_a_failed_verdict_with_its_reason() -> None:
    verdict = read_label(GRADED, Failure(reason="time_limit", detail="no answer within 60 s", raw="{"))
    assert (verdict.status, verdict.status_reason, verdict.raw) == (
        Status.FAILED,
        "time_limit: no answer within 60 s",
        "{",
    )


def window(grade: float | None, *, expected: float | None = None) -> Verdict:
    if grade is None:
        return read_label(GRADED, Failure(reason="engine_error", detail="out of memory"))
    verdict = Verdict(status=Status.SCORED, decided_by="judge", label=f"{grade:g}", grade=grade)
    return verdict.model_copy(update={"expected_grade": expected})


def test_the_window_that_supports_best_counts_and_the_first_of_equals() -> None:
    assert best_window([window(1), window(3), window(2)]) == 1
    assert best_window([window(2, expected=2.1), window(2, expected=2.3), window(2, expected=2.3)]) == 1


def test_a_window_that_failed_fails_the_verdict_because_its_part_was_not_judged() -> None:
    assert best_window([window(3), window(None), window(2)]) == 1


MATERIAL = Material(
    make_case(), make_response(passages=passages("Everybody has 28 days\nof leave a year.", "年假“28天”。"))
)


def reason(evidence: str, why: str = "It says so.") -> Generation:
    tail = json.dumps({"evidence": evidence, "reason": why}, ensure_ascii=False)[1:]
    return Generation(text=tail, prompt_tokens=10, output_tokens=20)


def test_the_whole_verdict_is_one_json_object_with_label_evidence_and_reason() -> None:
    found = read_reason(GRADED, MATERIAL, label="3", result=reason(" 28 days of leave ", ' Say "so". '))
    assert found["status"] is Status.SCORED
    assert (found["quote"], found["reason"]) == ("28 days of leave", 'Say "so".')
    assert json.loads(str(found["whole"])) == {"grade": 3, "evidence": " 28 days of leave ", "reason": ' Say "so". '}


@pytest.mark.parametrize(
    ("quote", "verbatim"),
    [
        ("28 days of leave", True),  # over a line break
        ('年假"28天"', True),  # another kind of quotation mark
        ("You get 28 days", True),  # from the answer, which is material too
        ("28 days of leave a month", False),
        ("27 days", False),
        ("8 days", False),  # inside a number
        ("28 days.", False),  # the reference, which a fact checker does not see
        ("…", False),
        ("", None),
    ],
)
def test_a_quote_is_checked_against_what_was_shown(quote: str, verbatim: bool | None) -> None:
    found = read_reason(GRADED, MATERIAL, label="3", result=reason(quote))
    assert found["status"] is Status.SCORED
    assert found["quote_verbatim"] is verbatim


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ('"evidence":"x","reason":"cut', "not JSON"),
        ('"evidence":"x"}', "keys"),
        ('"reason":"x","evidence":"y"}', "keys"),
        ('"evidence":"x","reason":"y","grade":3}', "label is not 1"),
        ('"evidence":"x","reason":["y"]}', "reason is not a string"),
        (f'"evidence":"{"x" * 121}","reason":"y"}}', "evidence is not a string of at most 120"),
        (f'"evidence":"x","reason":"{"y" * 161}"}}', "reason is not a string of at most 160"),
    ],
)
def test_a_malformed_reason_is_failed_with_its_raw_text(text: str, problem: str) -> None:
    found = read_reason(GRADED, MATERIAL, label="1", result=Generation(text=text, prompt_tokens=0, output_tokens=1))
    assert found["status"] is Status.FAILED
    assert str(found["status_reason"]).startswith("off_menu: ")
    assert problem in str(found["status_reason"])
    assert found["raw"] == text
    assert "reason" not in found


def test_a_failed_reason_call_keeps_its_reason() -> None:
    found = read_reason(GRADED, MATERIAL, label="1", result=Failure(reason="engine_error", detail="gone", raw="{"))
    assert found == {"status": Status.FAILED, "status_reason": "engine_error: gone", "raw": "{"}
