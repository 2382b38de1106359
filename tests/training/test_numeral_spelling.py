"""What is written in Chinese numerals or English words is read back as the same number."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.numbers import find_quantities
from offline_eval.text.numerals import read_numeral
from offline_eval.training.numeral_spelling import (
    chinese_numeral,
    english_numeral,
    read_spelling,
    spell,
    stands_for_no_figure,
)


@given(value=st.integers(1, 99_999))
def test_chinese_numerals_are_read_back(value: int) -> None:
    assert read_numeral(chinese_numeral(value)) == Decimal(value)


@given(value=st.integers(1, 99))
def test_english_numerals_are_read_back(value: int) -> None:
    assert read_numeral(english_numeral(value)) == Decimal(value)


@pytest.mark.parametrize(
    ("value", "written"),
    [(2, "二"), (12, "十二"), (30, "三十"), (105, "一百零五"), (110, "一百一十"), (20_000, "二万")],
)
def test_chinese_numerals_are_written_as_people_write_them(value: int, written: str) -> None:
    assert chinese_numeral(value) == written


@pytest.mark.parametrize(
    ("text", "other", "written"),
    [("30天", 45, "45"), ("£2,000", 3000, "3,000"), ("三十天", 45, "四十五"), ("eight weeks", 21, "twenty-one")],
)
def test_a_number_is_written_like_another(text: str, other: int, written: str) -> None:
    spelling = read_spelling(text)
    assert spelling is not None
    assert spell(other, like=spelling) == written


@pytest.mark.parametrize("text", ["0.5%", "半天", ""])
def test_what_is_no_whole_number_has_no_spelling(text: str) -> None:
    assert read_spelling(text) is None


@pytest.mark.parametrize("value", [0, 100_000])
def test_numbers_out_of_range_are_refused(value: int) -> None:
    with pytest.raises(ValueError, match="is not between"):
        chinese_numeral(value)
    with pytest.raises(ValueError, match="is not between"):
        english_numeral(value)


def test_an_extension_and_the_one_before_are_no_figures() -> None:
    text = "致电分机6120，上一家单位，3天"
    found = {quantity.text: stands_for_no_figure(text, quantity) for quantity in find_quantities(text)}
    assert found == {"6120": True, "一": True, "3天": False}
