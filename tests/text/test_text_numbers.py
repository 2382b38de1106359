from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.numbers import find_quantities
from offline_eval.text.numerals import plain, read_numeral


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("三千五百", 3500),
        ("三千五", 3500),
        ("一万二", 12000),
        ("十五", 15),
        ("一百零五", 105),
        ("一千零一十", 1010),
        ("二〇二四", 2024),
        ("三亿五千万", 350000000),
        ("三点一四", "3.14"),
        ("3.5万", 35000),
        ("1,200", 1200),
        ("two hundred and fifty", 250),
        ("twenty-five", 25),
        ("one thousand two hundred", 1200),
        ("3.5 million", 3500000),
    ],
)
def test_number_words_are_read(text: str, value: int | str) -> None:
    assert read_numeral(text) == Decimal(value)


@pytest.mark.parametrize("text", ["", "万千", "abc", "点", "一" * 100])
def test_what_is_no_number_is_not_read(text: str) -> None:
    assert read_numeral(text) is None


def in_chinese(value: int) -> str:
    """The textbook way to write a whole number below 10,000, written down apart from the reader."""
    digits, text, zero = "零一二三四五六七八九", "", False
    for power, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // power % 10
        if digit == 0:
            zero = bool(text)
            continue
        text += ("零" if zero else "") + digits[digit] + unit
        zero = False
    return text or "零"


@given(st.integers(0, 9999), st.integers(1, 9999))
def test_what_is_written_in_chinese_is_read_back(low: int, high: int) -> None:
    assert read_numeral(in_chinese(low)) == low
    joined = in_chinese(high) + "万" + ("" if low == 0 else ("零" if low < 1000 else "") + in_chinese(low))
    assert read_numeral(joined) == high * 10_000 + low


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("三千五百元", [("money", "3500", "CNY")]),
        ("3.5万元", [("money", "35000", "CNY")]),
        ("$1.2 million", [("money", "1200000", "USD")]),
        ("百分之五", [("percent", "5", "%")]),
        ("3.5 per cent", [("percent", "3.5", "%")]),
        ("12月3日", [("date", "--12-03", "")]),
        ("December 3", [("date", "--12-03", "")]),
        ("2024年3月5日", [("date", "2024-03-05", "")]),
        ("March 5, 2024", [("date", "2024-03-05", "")]),
        ("5 March 2024", [("date", "2024-03-05", "")]),
        ("2024/3/5", [("date", "2024-03-05", "")]),
        ("二〇二四年", [("date", "2024", "")]),
        ("two weeks", [("duration", "14", "day")]),
        ("两周", [("duration", "14", "day")]),
        ("半年", [("duration", "6", "month")]),
        ("一个半小时", [("duration", "5400", "s")]),
        ("15个工作日", [("duration", "15", "working day")]),
        ("下午3点半", [("time", "15:30", "")]),
        ("3:30 pm", [("time", "15:30", "")]),
        ("三分之一", [("number", "0.333333", "")]),
        ("第十二条", [("ordinal", "12", "")]),
        ("5公里", [("number", "5", "km")]),
        ("五百人", [("number", "500", "")]),
        ("3-5天", [("number", "3", ""), ("duration", "5", "day")]),
        ("v2.1 and COVID-19, see [1]", []),
        ("1. one thing\n2. 一些人统一", []),
        ("每周五", []),
    ],
)
def test_quantities_have_comparable_values(text: str, keys: list[tuple[str, str, str]]) -> None:
    assert [quantity.key for quantity in find_quantities(text)] == keys


@pytest.mark.parametrize(
    "text",
    [
        "A second factor is required.",
        "Sign in with a second factor.",
        "Ask for a second opinion.",
        "a second, independent check",
        "a second-level manager and a second-hand laptop",
        "She read it a second time.",
        "for a second straight season",
        "Nobody gets a second one.",
        "A second of these forms is signed.",
        "After a second\nreview it ends.",
        "A SECOND REVIEWER",
        "within a second working day",
        "the second factor, every second week, second to none, my second factors",
        "Second, sign the form.",
    ],
)
def test_second_before_what_there_is_another_of_is_no_span_of_time_and_no_number(text: str) -> None:
    assert find_quantities(text) == []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("The page loads within a second.", "1"),
        ("Wait a second, then try again.", "1"),
        ("In a second, users see the page.", "1"),
        ("It starts a second later.", "1"),
        ("ten times a second", "1"),
        ("a second or less", "1"),
        ("a second of silence", "1"),
        ("a second-long pause", "1"),
        ("half a second delay", "0.5"),
        ("a 30-second timeout", "30"),
        ("30 second timeout", "30"),
        ("two seconds", "2"),
        ("one second", "1"),
    ],
)
def test_second_as_a_span_of_time_is_one(text: str, seconds: str) -> None:
    durations = [quantity.key for quantity in find_quantities(text) if quantity.kind == "duration"]
    assert durations == [("duration", seconds, "s")]


@given(
    st.one_of(
        st.text(),
        st.text(alphabet="一二十百千万0123456789.,%年月日元点半个天周 -/:$[]第分之"),
        st.from_regex(r"[\d ,.万]{1,20}"),
    )
)
def test_quantities_do_not_overlap_and_stand_where_they_say(text: str) -> None:
    at = 0
    for quantity in find_quantities(text):
        assert at <= quantity.start < quantity.end <= len(text)
        assert text[quantity.start : quantity.end].strip() == quantity.text
        at = quantity.end


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4))
def test_equal_numbers_are_written_alike(value: Decimal) -> None:
    assert Decimal(plain(value)) == value
    assert plain(value) == plain(value + Decimal("0.00000"))
