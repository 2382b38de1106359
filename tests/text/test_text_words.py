from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.words import content_words, words


def test_numbers_codes_percentages_and_standards_are_whole() -> None:
    found = words("按照 GB/T 7714 与 ISO 9001:2015，增长3.5%，v2.1版，1,000元；GPT-4o isn't U.S.")
    for whole in ("gb/t 7714", "iso 9001:2015", "3.5%", "v2.1", "1000", "gpt-4o", "isn't"):
        assert whole in found


def test_the_spelling_of_a_standard_does_not_matter() -> None:
    assert words("GB/T7714") == words("gb/t 7714") == words("ＧＢ/Ｔ-7714") == ["gb/t 7714"]


@pytest.mark.skipif(find_spec("jieba") is None, reason="jieba is not installed")
def test_chinese_is_cut_into_words() -> None:
    assert words("员工可以申请报销") == ["员工", "可以", "申请", "报销"]


def test_function_words_are_left_out() -> None:
    assert content_words("The fee is included in the price") == ["fee", "included", "price"]
    assert "的" not in content_words("公司的年假")


@given(st.text())
def test_any_text_gives_the_same_words_twice(text: str) -> None:
    assert words(text) == words(text)
    assert all(word and word == word.strip() for word in words(text))
