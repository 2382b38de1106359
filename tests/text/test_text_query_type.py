import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.query_type import classify_query


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
