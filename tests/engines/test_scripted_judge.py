"""The default script writes test sets from the passages it is shown and keeps to fixed text everywhere else."""

import json
from itertools import product

import pytest

from offline_eval.core.protocols import GenerateRequest, Generation, Message, ObjectTail
from offline_eval.core.records import Passage
from offline_eval.engines.scripted import ScriptedEngine, query_share
from offline_eval.testset.asking import asks
from offline_eval.testset.prompts import PromptLanguage, load_prompts, step_request
from offline_eval.text.language import detect_language

PASSAGES = {
    "en": (
        Passage(id="a", title="Leave", text="## Leave\n\nStaff receive 26 days a year. Managers sign every request."),
        Passage(id="b", text="Hotels in London cost at most 170 pounds. Meridian Desk books trains for all staff."),
    ),
    "zh": (
        Passage(id="a", title="休假", text="## 休假\n\n员工每年享有年休假五天。请假须经主管批准。"),
        Passage(id="b", text="食堂午餐每人补贴十五元。访客凭接待单就餐。"),
    ),
}
LANGUAGES: tuple[PromptLanguage, ...] = ("en", "zh")


def _written(request: GenerateRequest) -> dict[str, str]:
    (answer,) = ScriptedEngine().generate([request])
    assert isinstance(answer, Generation)
    return json.loads(request.prefill + answer.text)  # type: ignore[no-any-return]


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_are_in_the_passages_language_of_their_words_and_differ_by_request(language: PromptLanguage) -> None:
    prompts, passages = load_prompts(language), PASSAGES[language]
    found: set[str] = set()
    for (kind, step), angle in product(prompts.types.items(), prompts.angles):
        shown = passages if kind == "multi_hop" else passages[:1]
        request = step_request(prompts, step, passages=shown, angle=angle)
        output = _written(request)
        assert output == _written(request)
        question = output["question"]
        assert asks(question)
        assert detect_language(question) == language
        assert len(question) <= step.fields["question"]
        shared = query_share(question, "\n".join(passage.text for passage in shown))
        assert shared < 0.5 if kind == "unanswerable" else shared >= 0.5
        if "premise" in output:
            assert output["premise"] in question
        found.add(question)
    assert len(found) == len(prompts.types) * len(prompts.angles)


@pytest.mark.parametrize(
    ("language", "reference", "points"),
    [
        (
            "en",
            "Hotels in London cost at most 170 pounds.",
            [
                "Hotels in London cost at most 170 pounds.",
                "Staff receive 26 days a year.",
                "Meridian Desk books trains for all staff.",
                "Managers sign every request.",
            ],
        ),
        (
            "zh",
            "食堂午餐每人补贴十五元。",
            ["食堂午餐每人补贴十五元。", "员工每年享有年休假五天。", "访客凭接待单就餐。", "请假须经主管批准。"],
        ),
    ],
)
def test_references_and_key_points_are_the_passages_sentences_in_turns(
    language: PromptLanguage, reference: str, points: list[str]
) -> None:
    prompts = load_prompts(language)
    request = step_request(
        prompts, prompts.steps["reference"], passages=PASSAGES[language], shown={"question": "What?"}
    )
    output = _written(request)
    assert output["reference"] == reference
    assert [output[f"key_point_{n}"] for n in range(1, 5)] == points


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("word " * 50 + "end.", "word " * 19 + "word."),
        ("一二三四五六七八九十" * 12 + "。", ("一二三四五六七八九十" * 10)[:-1] + "。"),
    ],
)
def test_a_sentence_beyond_its_room_is_ended_at_a_word(text: str, cut: str) -> None:
    prompts = load_prompts("en")
    request = step_request(prompts, prompts.steps["reference"], passages=[Passage(id="a", text=text)])
    point = _written(request)["key_point_1"]
    assert point == cut
    assert len(point) <= 100


def test_other_objects_keep_their_fixed_text() -> None:
    fields = {"evidence": 120, "reason": 160}
    request = GenerateRequest(
        messages=(Message(role="user", content="=== 0123456789ab passages ===\n[1] x\n=== 0123456789ab end ==="),),
        constraint=ObjectTail(fields=fields),
    )
    (answer,) = ScriptedEngine().generate([request])
    assert isinstance(answer, Generation)
    assert answer.text == '"evidence":"scripted","reason":"scripted"}'
    assert _written(step_request(load_prompts("en"), load_prompts("en").steps["paraphrase"])) == {
        "paraphrase": "scripted",
        "colloquial": "scripted",
    }


def test_golden_query_share() -> None:
    # hotel and london of hotel, london, cost; the function words do not count
    assert query_share("What does a hotel in London cost?", "The hotel is in London") == pytest.approx(2 / 3)
    assert query_share("?", "anything") == 0.0
