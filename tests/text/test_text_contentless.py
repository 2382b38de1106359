import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.contentless import is_contentless

OPENERS = [
    "Thought process:",
    "Solution",
    "Let's solve this step by step.",
    "**Answer:**",
    "Sure! Here is the answer:",
    "Okay, let's think step by step:",
    "Based on the provided context,",
    "<think></think>",
    "Step 1:",
    "解：",
    "解",
    "答案：",
    "答案是：",
    "思考过程：\n\n答案：",
    "让我们一步一步来分析这个问题。",
    "好的，以下是您的问题的答案：",
    "您好！",
]


@pytest.mark.parametrize("answer", ["", " \n\t", "\u200b"])
def test_nothing_is_empty(answer: str) -> None:
    assert is_contentless(answer) == "empty"


@pytest.mark.parametrize("answer", [":", "...", "。。。", "——", "😀", "**", "$$ {} _"])
def test_marks_are_no_answer(answer: str) -> None:
    assert is_contentless(answer) == "punctuation only"


@pytest.mark.parametrize("answer", OPENERS)
def test_an_opener_is_no_answer(answer: str) -> None:
    assert is_contentless(answer) == "opener only"


@pytest.mark.parametrize("answer", OPENERS)
@pytest.mark.parametrize("content", ["42", "巴黎", "It opened in 1932."])
def test_an_opener_with_something_after_it_is_an_answer(answer: str, content: str) -> None:
    assert is_contentless(f"{answer}\n{content}") is None


@pytest.mark.parametrize(
    "answer",
    [
        "No",
        "Yes.",
        "OK",
        "A",
        "5",
        "½",
        "JSON",
        "None",
        "巴黎",
        "可以",
        "好的。",
        "不可以",
        "解决方案是重启",
        "答案是巴黎",
    ],
)
def test_a_short_answer_is_an_answer(answer: str) -> None:
    assert is_contentless(answer) is None


@given(st.text())
def test_any_text_gets_a_decision(text: str) -> None:
    assert is_contentless(text) in (None, "empty", "punctuation only", "opener only")
