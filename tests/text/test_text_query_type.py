import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.query_type import classify_query, states_condition


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("How many days of annual leave do employees get?", "factual"),
        ("年假有多少天？", "factual"),
        ("Where is the archive?", "factual"),
        ("What is the difference between plan A and plan B?", "comparison"),
        ("Is the red model cheaper than the blue one?", "comparison"),
        ("年假和病假有什么区别？", "comparison"),
        ("高铁和飞机哪个更快？", "comparison"),
        ("Why was the project cancelled?", "reasoning"),
        ("为什么试用期员工不能休年假？", "reasoning"),
        ("If I join in July, how much leave do I get?", "conditional"),
        ("如果七月入职，可以休几天年假？", "conditional"),
        ("I work part-time, three days a week. Do I get a bonus?", "conditional"),
        ("Who wrote the policy and when was it last changed?", "multi-hop"),
        ("Who heads the department that approves travel?", "factual"),  # no cue: words are all it knows
        ("张伟和李娜分别在哪个部门工作？", "multi-hop"),
        ("Describe the onboarding process.", "open"),
        ("请谈谈你对远程办公的看法。", "open"),
        ("", "factual"),
    ],
)
def test_cue_words_decide(query: str, kind: str) -> None:
    found = classify_query(query)
    assert found.type == kind
    assert (found.cue is None) == (kind == "factual")


@given(st.text())
def test_any_query_has_a_type(query: str) -> None:
    assert classify_query(query).type


@pytest.mark.parametrize(
    ("query", "states"),
    [
        ("If I work half-time, how many days do I get?", True),
        ("I work part-time, three days a week. Do I get a bonus?", True),
        ("如果七月入职，可以休几天年假？", True),
        ("我是兼职员工，年假几天？", True),
        ("请假的话，要提前几天？", True),
        ("我的银行卡丢了，工资怎么发？", True),
        ("如果我的身份证是假的，会怎样？", True),
        ("请问在加班超过三小时的情况下有补贴吗？", True),
        ("我的身份证是[证件号]，年假几天？", False),
        ("我叫李雷，工号是123，年假几天？", False),
        ("我想问一下，年假几天？", False),
        ("My phone number is [phone], how many days of leave are there?", False),
        ("I want to know if staff get leave.", False),
        ("Can you tell me if leave is paid?", False),
        ("Under what conditions is leave paid?", False),
        ("在什么情况下可以请假？", False),
        ("在什么样的情况下可以请假？", False),
        ("年假有多少天？", False),
        ("", False),
    ],
)
def test_a_stated_condition_is_one_that_decides_the_answer(query: str, states: bool) -> None:
    assert states_condition(query) == states


@given(st.text())
def test_what_states_a_condition_is_of_that_type(query: str) -> None:
    assert states_condition(query) in (True, False)
