"""The sets were written by us. `tune`, `held_out`, `second`, `third`, `fourth` and `more` (refusals_*.jsonl) train the
weights. First-shot F1, each on 100 answers a language, half of them hard look-alikes:

| set | rule | en | zh |
|---|---|---|---|
| `fourth` | the phrase patterns before | .435 (precision .79, recall .30) | .375 (.86, .24) |
| blind, the fifth | word classes with weights | .891 (precision .98, recall .82) | .848 (.93, .78) |
| blind, the fifth | the phrase patterns before | .369 (.80, .24) | .344 (.79, .22) |
| blind, the sixth | finer classes, who denies what, three sets | .970 (.96, .98) | .931 (.92, .94) |

The fifth set (refusals_blind_*.jsonl) has been seen since and now trains, as does refusals_more_*.jsonl, written to be
varied and hard, and refusals_plain_*.jsonl, 118 plain answers a language and no refusal. F1 on a set when the other
sets train (words were added with three of them in sight, so it is kind): written .914 (en) .941 (zh), fifth .938 .970,
more .860 .859; of the plain answers 5 (en) and 2 (zh) are taken for refusals.
Plain answers of public sets taken for refusals, before `plain` trained and since: CLAPnq's answerable ones 17 and 16 of
249 (9 of these are "NA"), EVOUNA's NQ answers that people judged right 27 and 14 of the first 6,000, row by row, and 41
and 23 of all 11,058; several of these do say that the speaker lacks something. Both were in sight while words changed.
The sixth set is kept elsewhere and decided nothing. It was first measured on the weights before `plain` trained: 95 %
bootstrap intervals [.931, 1.0] (en) and [.875, .976] (zh); on those shipped: .970 and .929. One of its answers a
language also stands in a training set.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.text.refusal import detect_refusal, refusal_fingerprint
from offline_eval.text.refusal_words import WORDS

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


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["refusals_blind", "refusals_more"])
def test_the_other_training_sets_are_found(language: str, name: str) -> None:
    assert f1(rows(language, name=name)) >= 0.95


@pytest.mark.parametrize("language", ["en", "zh"])
def test_plain_answers_with_denials_are_hardly_ever_refusals(language: str) -> None:
    plain = rows(language, name="refusals_plain")
    assert len(plain) >= 100
    assert not any(refused for _, refused in plain)
    assert sum(detect_refusal(answer).refused for answer, _ in plain) <= 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_answer_stands_in_two_sets(language: str) -> None:
    answers = [
        answer
        for name in ("refusals", "refusals_blind", "refusals_more", "refusals_plain")
        for answer, _ in rows(language, name=name)
    ]
    assert len(set(answers)) == len(answers)
    assert len(rows(language, name="refusals_blind")) == 100
    assert len(rows(language, name="refusals_more")) >= 250


def test_a_word_has_one_class() -> None:
    words = [word for names in WORDS.values() for word in names.split()]
    assert len(set(words)) == len(words)


def test_the_fingerprint_changes_with_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    before = refusal_fingerprint()
    monkeypatch.setattr("offline_eval.text.refusal._weights", lambda: {"bias": 0.0})
    refusal_fingerprint.cache_clear()
    try:
        assert refusal_fingerprint() != before
    finally:
        refusal_fingerprint.cache_clear()


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


@pytest.mark.parametrize(
    "answer",
    [
        "Ain't Misery Sweet is a song by Bo Hale.",
        "`` I Don't Know '' is a song recorded by Mia Lund.",
        "The tank holds hazardous gases such as chlorine.",
        "The keeper was never seen again and no one knows what became of him. The lamp was still lit.",
        "船长再也没有回来，船员下落不明。人们在外海发现了他的船，船灯还亮着。",
    ],
)
def test_denials_of_others_titles_and_lookalike_words_are_content(answer: str) -> None:
    assert not detect_refusal(answer).refused


def test_a_long_answer_is_no_refusal() -> None:
    assert detect_refusal("I don't know. " * 100).refused
    assert not detect_refusal("I don't know. " * 200).refused


@given(st.text())
def test_any_text_gets_a_decision(text: str) -> None:
    found = detect_refusal(text)
    assert found.refused == (found.matched is not None)
