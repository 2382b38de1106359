"""Each feature moves for the fault it is there for, in English and Chinese, and stays finite for any text."""

import math

from hypothesis import given
from hypothesis import strategies as st

from offline_eval.engines.support_features import LEXICAL, best_sentence, lexical_features

TEXT = "Full-time staff receive 26 days of annual leave a year. Unused days may not be carried over. Ask Helen Brandt."
CHINESE = "全职员工每年享有年假10天。未休的年假不得结转到下一年。申请由李华审批。"


def features(text: str, claim: str) -> dict[str, float]:
    return dict(zip(LEXICAL, lexical_features(text, claim), strict=True))


def test_a_sentence_of_the_text_is_covered_whole() -> None:
    found = features(TEXT, "Full-time staff receive 26 days of annual leave a year.")
    shares = ("content_words", "stems", "bigrams", "best_sentence", "common_order", "sentence_covered")
    assert [found[name] for name in shares] == [1.0] * len(shares)
    assert found["figures_missing"] == found["names_missing"] == found["negation_differs"] == 0.0
    assert found["stems_missing"] == 0.0


def test_a_wrong_figure_is_missed_in_the_text() -> None:
    assert features(TEXT, "Staff receive 28 days of annual leave.")["figures_missing"] == 1.0
    assert features(CHINESE, "全职员工每年享有年假15天。")["figures_missing"] == 1.0
    assert features(CHINESE, "全职员工每年享有年假十天。")["figures_missing"] == 0.0


def test_a_wrong_name_is_missed_in_the_text() -> None:
    assert features(TEXT, "Leave is granted by Martin Keller.")["names_missing"] == 1.0
    assert features(TEXT, "Leave is granted by Helen Brandt.")["names_missing"] == 0.0


def test_a_lost_denial_differs() -> None:
    assert features(TEXT, "Unused days may be carried over.")["negation_differs"] == 1.0
    assert features(TEXT, "Unused days may not be carried over.")["negation_differs"] == 0.0
    assert features(CHINESE, "未休的年假可以结转到下一年。")["negation_differs"] == 1.0
    assert features(CHINESE, "未休的年假不得结转到下一年。")["negation_differs"] == 0.0


def test_two_denials_against_none_are_not_told_apart() -> None:
    assert features(CHINESE, "年假可以结转到下一年。")["negation_differs"] == 0.0  # a known limit: 未休, 不得 and none


def test_shares_by_hand() -> None:
    # Content words of the claim: staff, receive, bonus; two of three stand in the text. Its words are the same three,
    # its pairs (staff, receive) and (receive, bonus); one of two stands there. In order: staff, receive of three.
    found = features(TEXT, "staff receive bonus")
    assert found["content_words"] == 2 / 3
    assert found["bigrams"] == 1 / 2
    assert found["common_order"] == 2 / 3
    assert found["stems_missing"] == math.log(2)
    assert found["claim_length"] == math.log(4)


def test_the_best_sentence_holds_most_of_the_claim() -> None:
    assert best_sentence(TEXT, "Can unused days be carried over?") == "Unused days may not be carried over."
    assert best_sentence(CHINESE, "谁审批申请？") == "申请由李华审批。"
    assert best_sentence("", "anything") == ""


def test_a_question_is_marked() -> None:
    assert features(TEXT, "How many days?")["is_question"] == features(CHINESE, "几天？")["is_question"] == 1.0
    assert features(TEXT, "26 days.")["is_question"] == 0.0


@given(text=st.text(max_size=200), claim=st.text(max_size=80))
def test_every_feature_is_finite_and_shares_stay_in_range(text: str, claim: str) -> None:
    found = features(text, claim)
    assert tuple(found) == LEXICAL
    assert all(math.isfinite(value) for value in found.values())
    shares = ("content_words", "stems", "bigrams", "best_sentence", "common_order", "characters", "sentence_covered")
    assert all(0 <= found[name] <= 1 for name in shares)


@given(claim=st.text(max_size=80))
def test_a_text_that_says_more_never_lowers_the_share_of_words(claim: str) -> None:
    assert features(f"{TEXT} {claim}", claim)["content_words"] >= features(TEXT, claim)["content_words"]
