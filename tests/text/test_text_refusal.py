"""The sets were written by us. `tune`, `held_out`, `second`, `third`, `fourth` and `more` (refusals_*.jsonl) train the
weights. First-shot F1, each on 100 answers a language, half of them hard look-alikes:

| set | rule | en | zh |
|---|---|---|---|
| `fourth` | the phrase patterns before | .435 (precision .79, recall .30) | .375 (.86, .24) |
| blind, the fifth | word classes with weights | .891 (precision .98, recall .82) | .848 (.93, .78) |
| blind, the fifth | the phrase patterns before | .369 (.80, .24) | .344 (.79, .22) |

The blind set (refusals_blind_*.jsonl) was written after words and weights were fixed, measured once and trains nothing;
.891 and .848, not the figures on the training sets, are what to expect of wordings nobody thought of.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.refusal import detect_refusal

DATA = Path(__file__).parent / "data"


def rows(language: str, *splits: str, name: str = "refusals") -> list[tuple[str, bool]]:
    lines = (DATA / f"{name}_{language}.jsonl").read_text(encoding="utf-8").splitlines()
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


@pytest.mark.parametrize(("language", "least"), [("en", 0.87), ("zh", 0.83)])
def test_wordings_that_trained_nothing_are_found_as_often_as_stated(language: str, least: float) -> None:
    blind = rows(language, name="refusals_blind")
    assert len(blind) == 100
    assert sum(refused for _, refused in blind) == 50
    assert not {answer for answer, _ in blind} & {answer for answer, _ in rows(language)}
    assert f1(blind) >= least


def test_a_refusal_may_say_what_the_documents_hold_instead() -> None:
    assert detect_refusal("The leaflet does not say who built it. It only covers the gardens.").refused
    assert detect_refusal("手册没有写明由谁建造，里面只介绍了花园。").refused


def test_the_clause_named_stands_in_the_answer() -> None:
    assert detect_refusal("Sorry, I can't find that in the guide.").matched == "i can't find that in the guide."


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
