"""The wording is whole in both languages, its objects are bounded, and the user's examples are shown as style."""

import json
from math import log

import pytest

from offline_eval.core.protocols import Failure, Generation, ObjectTail
from offline_eval.core.records import Passage
from offline_eval.engines.grammar import object_tail_grammar
from offline_eval.engines.scripted import ScriptedEngine
from offline_eval.testset.critic import Critic, expected_grade
from offline_eval.testset.draft import QUESTION_TYPES
from offline_eval.testset.prompts import PromptLanguage, critic_request, load_prompts, step_request

LANGUAGES: tuple[PromptLanguage, ...] = ("en", "zh")
SMALLEST_CONTEXT = 8192  # tokens of the default judge


@pytest.mark.parametrize("language", LANGUAGES)
def test_both_languages_have_every_step_and_type(language: PromptLanguage) -> None:
    prompts, english = load_prompts(language), load_prompts("en")
    assert set(prompts.types) == set(QUESTION_TYPES)
    assert set(prompts.steps) == set(english.steps)
    assert set(prompts.words) == set(english.words)
    assert set(prompts.critic.dimensions) == {"clarity", "independence"}
    assert "{angle}" in prompts.about
    assert all(step.example.angle in prompts.angles for step in prompts.types.values())
    assert {name: list(step.fields) for name, step in prompts.steps.items()} == {
        name: list(step.fields) for name, step in english.steps.items()
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_object_has_a_budget_that_cannot_be_exceeded_and_leaves_room_for_passages(
    language: PromptLanguage,
) -> None:
    prompts = load_prompts(language)
    for step in (*prompts.steps.values(), *prompts.types.values()):
        budget = object_tail_grammar(step.fields).budget
        # a character takes up to four bytes, or six as an escape of ASCII; quotes, key, colon and comma come on top
        assert budget >= 4 * sum(step.fields.values())
        assert budget < SMALLEST_CONTEXT / 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_material_stands_inside_one_fence_and_examples_are_named_as_style(language: PromptLanguage) -> None:
    prompts = load_prompts(language)
    request = step_request(
        prompts,
        prompts.types["simple"],
        passages=(Passage(id="a", text="午餐补贴十五元。"),),
        shown={"facts": "- 有补贴"},
        examples=("午餐补贴多少？",),
        angle=prompts.angles[0],
    )
    system, example, worked, user = request.messages
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "user"]
    assert prompts.example_passages[0] in example.content
    assert json.loads(worked.content) == prompts.types["simple"].example.output
    assert prompts.angles[0] in user.content
    assert prompts.style in system.content
    assert "午餐补贴十五元。" not in system.content
    assert "- 午餐补贴多少？" in user.content
    assert (
        user.content.index("午餐补贴十五元。") < user.content.index("- 有补贴") < user.content.index("- 午餐补贴多少？")
    )
    assert isinstance(request.constraint, ObjectTail)
    plain = step_request(prompts, prompts.types["simple"], passages=(Passage(id="a", text="x"),))
    assert prompts.style not in plain.messages[0].content


def test_the_critic_is_asked_for_one_label() -> None:
    request = critic_request(load_prompts("zh"), "clarity", "午餐补贴多少？")
    assert request.constraint.kind == "label"
    assert request.prefill == '{"grade":'
    assert "午餐补贴多少？" in request.messages[1].content


def test_a_grade_is_the_mean_under_the_probabilities() -> None:
    answer = Generation(
        text="3",
        label_logprobs={"1": log(0.1), "2": log(0.1), "3": log(0.6)},
        prompt_tokens=1,
        output_tokens=1,
    )
    # (.1 * 1 + .1 * 2 + .6 * 3) / .8 = 2.1 / .8
    assert expected_grade(answer) == pytest.approx(2.625)
    assert expected_grade(answer.model_copy(update={"label_logprobs": None})) == 3.0
    assert expected_grade(Failure(reason="off_menu", detail="no label")) == "off_menu: no label"


def test_a_critic_whose_engine_fails_cannot_tell() -> None:
    critic = Critic(ScriptedEngine(lambda request: Failure(reason="engine_error", detail="gone")))
    ability = critic.ability("en", "clarity")
    assert not ability.can_tell
    assert ability.failure == "engine_error: gone"
