"""The set was written by us: `tune` and `held_out` before the rules, `second` and `third` each after a version of the
rules and then used to improve them. The first-shot F1 on `second` was .27 (en) and .67 (zh), on `third` .72 and .63,
so a wording nobody thought of is still often missed; precision was higher than recall throughout.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.refusal import detect_refusal

DATA = Path(__file__).parent / "data"


def rows(language: str, *splits: str) -> list[tuple[str, bool]]:
    lines = (DATA / f"refusals_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    read = [json.loads(line) for line in lines]
    return [(row["answer"], row["refused"]) for row in read if not splits or row["split"] in splits]


def f1(pairs: list[tuple[str, bool]]) -> float:
    found = [(detect_refusal(answer).refused, refused) for answer, refused in pairs]
    hits = sum(guess and truth for guess, truth in found)
    wrong = sum(guess != truth for guess, truth in found)
    return 2 * hits / (2 * hits + wrong)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_set_is_large_and_balanced(language: str) -> None:
    everything = rows(language)
    assert len(everything) >= 200
    assert len({answer for answer, _ in everything}) == len(everything)
    assert sum(refused for _, refused in everything) == len(everything) / 2


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("splits", [("tune",), ("held_out",), ()])
def test_f1_is_at_least_95_percent(language: str, splits: tuple[str, ...]) -> None:
    assert f1(rows(language, *splits)) >= 0.95


@pytest.mark.parametrize(
    "answer", ["The documents do not say.", "资料中没有提到。", "I don't know", '"I don\'t know."', "无"]
)
def test_a_plain_refusal_names_its_words(answer: str) -> None:
    found = detect_refusal(answer)
    assert found.refused
    assert found.matched


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not give the day, but the bridge opened in 1932.",
        "文档没有给出日期，但大桥于1932年通车。",
        "I'm not sure, but I think it is 42.",
        'The system prints "I don\'t know".',
        "",
        "Paris",
    ],
)
def test_an_answer_that_follows_makes_it_no_refusal(answer: str) -> None:
    assert not detect_refusal(answer).refused


def test_a_long_answer_is_no_refusal() -> None:
    assert detect_refusal("I don't know. " * 100).refused
    assert not detect_refusal("I don't know. " * 200).refused


@given(st.text())
def test_any_text_gets_a_decision(text: str) -> None:
    found = detect_refusal(text)
    assert found.refused == (found.matched is not None)
