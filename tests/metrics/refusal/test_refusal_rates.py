"""The answerable × answered table as rates: each mean is the cell count it should be."""

from fractions import Fraction

import pytest

from offline_eval.core.evidence import Evidence
from offline_eval.core.protocols import Item
from offline_eval.core.results import Status
from tests.support.claim_runs import check_all, make_item, score_of

REFUSAL = {"en": "The documents do not say.", "zh": "资料中没有提到。"}
ANSWER = {"en": "It opens at nine.", "zh": "图书馆九点开门。"}


def table(language: str) -> list[Item]:
    """Answerable: 5 answered, 2 refused. Unanswerable: 1 answered, 3 refused. One refused of which nobody said."""
    cells = [(True, ANSWER, 5), (True, REFUSAL, 2), (False, ANSWER, 1), (False, REFUSAL, 3), (None, REFUSAL, 1)]
    return [
        make_item(text[language], "A passage.", answerable=answerable)
        for answerable, text, n in cells
        for _ in range(n)
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("refusal_precision", Fraction(3, 5)),
        ("refusal_recall", Fraction(3, 4)),
        ("over_refusal", Fraction(2, 7)),
        ("unsupported_answer_rate", Fraction(1, 4)),
        ("fallback_rate", Fraction(6, 12)),
    ],
)
def test_a_rate_by_hand(name: str, rate: Fraction, language: str) -> None:
    scores = [score_of(name, item, check_all(item)) for item in table(language)]
    counted = [score.value for score in scores if score.value is not None]
    assert len(counted) == {"refusal_precision": 5, "fallback_rate": 12, "over_refusal": 7}.get(name, 4)
    assert sum(counted) / len(counted) == pytest.approx(float(rate))
    assert all(score.status is Status.NOT_APPLICABLE for score in scores if score.value is None)


def test_a_case_that_does_not_say_is_not_applicable_and_a_missing_check_has_failed() -> None:
    item = make_item(REFUSAL["en"])
    nothing: list[Evidence] = []
    assert score_of("refusal_recall", item, check_all(item)).reason == "answerable_unknown"
    assert score_of("refusal_recall", item, nothing).status is Status.FAILED
