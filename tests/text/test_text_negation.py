import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.negation import Bound, find_bounds, find_negations, is_negated


@pytest.mark.parametrize(
    ("clause", "negated"),
    [
        ("年假不得结转", True),
        ("资料未提及", True),
        ("没有规定不可以", False),
        ("不得不说", False),
        ("不仅可以结转", False),
        ("非常特别的未来", False),
        ("能不能结转", False),
        ("别的员工分别申请", False),
        ("It may not be carried over", True),
        ("He isn't there", True),
        ("Leave without pay", True),
        ("It is not only good", False),
        ("No. 5 is here", False),
        ("It is not impossible, not at all", False),
    ],
)
def test_a_clause_is_denied_by_an_odd_number_of_cues(clause: str, negated: bool) -> None:
    assert is_negated(clause) is negated


@given(st.text())
def test_cues_stand_where_they_say(text: str) -> None:
    assert all(text[cue.start : cue.end] == cue.text for cue in find_negations(text))


ZH_BOUNDS = [
    f"不{verb}"
    for verb in ("超过", "超出", "多于", "少于", "高于", "低于", "大于", "小于", "晚于", "迟于", "早于", "长于", "短于")
]


@pytest.mark.parametrize("bound", ZH_BOUNDS)
@pytest.mark.parametrize("modal", ["", "得", "能", "可", "可以", "应", "会", "要", "宜", "允许"])
def test_a_chinese_bound_is_no_denial(bound: str, modal: str) -> None:
    text = f"每次报销的费用不{modal}{bound[1:]}3000元。"
    assert not is_negated(text)
    assert find_negations(text) == []
    assert [(found.verb, found.denied) for found in find_bounds(text)] == [(bound[1:], True)]
    assert is_negated(f"没有材料的，费用{bound}3000元。")  # another denial still denies
    assert not is_negated(f"每次报销的费用{bound[1:]}3000元。")


@pytest.mark.parametrize(
    "text",
    [
        "人数未超过5人。",
        "费用没有超过预算。",
        "借期从不超过30天。",
        "严禁超过核定人数。",
        "切勿超过10分钟。",
        "工龄不满3年的员工。",
        "不超3天。",
        "并不高于上年。",
    ],
)
def test_other_ways_to_say_a_bound_deny_nothing_either(text: str) -> None:
    assert not is_negated(text)
    assert any(bound.denied for bound in find_bounds(text))


@pytest.mark.parametrize(
    "text",
    [
        "no more than 5 days",
        "not more than 5 days",
        "no less than 5 days",
        "no fewer than 5 days",
        "no later than 5 May",
        "not earlier than 5 May",
        "no higher than 5 %",
        "not greater than 5 %",
        "no longer than 5 days",
        "It must not exceed 5 kg",
        "It does not exceed 5 kg",
        "It can't exceed 5 kg",
        "It cannot exceed 5 kg",
        "never exceeding 5 kg",
        "not to exceed 5 kg",
        "It may not be over 5 kg",
        "not under £5",
    ],
)
def test_an_english_bound_is_no_denial(text: str) -> None:
    assert not is_negated(text)
    assert [bound.denied for bound in find_bounds(text)] == [True]
    assert is_negated(text, bounds=True)  # for features that were fitted on it as one


@pytest.mark.parametrize(
    "text",
    [
        "客户不满意。",
        "员工不超额完成。",
        "不得转让，费用不超过5元。",
        "不足之处没有改正。",
        "It is no longer allowed.",
        "It is not over yet.",
        "There is no more coffee.",
        "Nothing may exceed 5 kg.",
    ],
)
def test_what_only_looks_like_a_bound_still_denies(text: str) -> None:
    assert is_negated(text)


def test_a_bound_stands_where_it_says_with_the_word_that_turns_it_round() -> None:
    text = "不得超过3天，超过的扣款；No more than 5 or more than 9."
    assert [(bound, text[bound.start : bound.end]) for bound in find_bounds(text)] == [
        (Bound("超过", True, 0, 4), "不得超过"),
        (Bound("超过", False, 7, 9), "超过"),
        (Bound("more", True, 13, 25), "No more than"),
        (Bound("more", False, 31, 40), "more than"),
    ]


@given(st.text(alphabet="不得没有超过满3天 nomrethaxcdu5"))
def test_leaving_bounds_out_only_ever_leaves_cues_out(text: str) -> None:
    assert set(find_negations(text)) <= set(find_negations(text, bounds=True))
