"""The self-test finds judges that cannot do the task, each for its own reason, and lets a working one through."""

import json

import pytest

from offline_eval.benchmark.self_test import SelfTest, inverted, run_self_test, self_test_items, self_test_key
from offline_eval.benchmark.self_test_cache import keep, recall
from offline_eval.core.protocols import Failure, GenerateRequest, Generation
from offline_eval.engines.scripted import ScriptedEngine, pick
from offline_eval.judge.rubric import load_rubric

LANGUAGES = ("en", "zh")


def self_test_of(script, *, dimension="faithfulness", language="en") -> SelfTest:
    engine = ScriptedEngine(script)
    rubric = load_rubric(dimension, language)
    return run_self_test(engine, rubric, judge="j", weights_hash="w", engine_name="scripted", key="k")


def outcomes(test: SelfTest) -> dict[str, str]:
    return {finding.name: finding.outcome for finding in test.findings}


def able(language: str, *, reads_rubric: bool = True, reads_material: bool = True):
    """A judge that knows the items by heart: right answers to their own question are good, everything else is not."""
    items = self_test_items(language)

    def script(request: GenerateRequest) -> Generation:
        material = request.messages[1].content
        item = next((item for item in items if item.good in material.replace(item.passage, "")), None)
        is_good = item is not None and (not reads_material or item.passage in material)
        levels = load_rubric("faithfulness", language).levels
        turned = request.messages[0].content.index(levels[0].criterion) > request.messages[0].content.index(
            levels[-1].criterion
        )
        return pick(request, "3" if is_good != (turned and reads_rubric) else "1", probability=0.8)

    return script


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_judge_that_can_do_it_passes_with_twelve_requests(language):
    test = self_test_of(able(language), language=language)
    assert test.outcome == "pass", test.sentence()
    assert test.requests == 12
    assert test.sentence() == f"judge j passed the self-test on faithfulness.{language}@2"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("label", ["1", "2", "3"])
def test_a_judge_that_always_says_the_same_is_refused(language, label):
    test = self_test_of(lambda request: pick(request, label), language=language)
    assert test.outcome == "refuse"
    assert outcomes(test)["constant"] == "refuse"
    assert f"6 of 6 answers, half of them wrong, got the same label ({label})" in test.sentence()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_judge_that_does_not_look_at_the_passages_is_refused_for_that(language):
    found = outcomes(self_test_of(able(language, reads_material=False), language=language))
    assert found["reads_material"] == "refuse"
    assert found["tells_apart"] == "pass"
    assert found["reads_rubric"] == "pass"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_judge_that_does_not_read_the_rubric_is_refused_for_that(language):
    found = outcomes(self_test_of(able(language, reads_rubric=False), language=language))
    assert found["reads_rubric"] == "refuse"
    assert found["reads_material"] == "pass"


def test_a_label_that_is_never_reachable_is_found():
    def script(request: GenerateRequest) -> Generation:
        made = able("en")(request)
        logprobs = {**made.label_logprobs, "2": -100.0}
        return made.model_copy(update={"label_logprobs": logprobs})

    test = self_test_of(script)
    assert outcomes(test)["labels_reachable"] == "refuse"
    assert "the rarest label (2)" in test.sentence()


def test_requests_that_fail_are_counted_and_all_failing_is_a_refusal():
    seen: list[int] = []

    def sometimes(request: GenerateRequest) -> Generation | Failure:
        seen.append(1)
        return Failure(reason="time_limit", detail="slow") if len(seen) == 2 else able("en")(request)

    test = self_test_of(sometimes)
    assert outcomes(test)["answers"] == "warn"
    assert test.outcome == "warn"
    dead = self_test_of(lambda request: Failure(reason="off_menu", detail="chatter"))
    assert [(finding.name, finding.outcome) for finding in dead.findings] == [("answers", "refuse")]
    assert "12 of 12 requests had no verdict (off_menu: chatter)" in dead.sentence()


def test_an_engine_without_probabilities_is_judged_by_its_labels():
    def bare(request: GenerateRequest) -> Generation:
        return able("en")(request).model_copy(update={"label_logprobs": None})

    assert self_test_of(bare).outcome == "pass"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("dimension", ["faithfulness", "relevance", "completeness", "correctness"])
def test_inverted_rubrics_turn_levels_and_examples_and_stay_valid(language, dimension):
    rubric = load_rubric(dimension, language)
    turned = inverted(rubric)
    assert type(turned).model_validate(turned.model_dump()) == turned
    assert turned.levels[0].criterion == rubric.levels[-1].criterion
    assert [level.label for level in turned.levels] == ["1", "2", "3"]
    assert inverted(turned) == rubric
    for before, after in zip(rubric.examples, turned.examples, strict=True):
        assert int(before.label) + int(after.label) == 4


@pytest.mark.parametrize("dimension", ["faithfulness", "relevance", "completeness", "correctness"])
def test_the_wrong_answer_is_wrong_for_the_dimension(dimension):
    shown: list[str] = []

    def script(request: GenerateRequest) -> Generation:
        shown.append(request.messages[1].content)
        return pick(request, "1")

    self_test_of(script, dimension=dimension, language="zh")
    item = self_test_items("zh")[0]
    assert (item.aside if dimension == "relevance" else item.wrong) in shown[1]
    assert item.good in shown[0]


def test_items_say_what_they_claim_in_both_languages():
    for language in LANGUAGES:
        items = self_test_items(language)
        assert len(items) == 3
        assert len({text for item in items for text in (item.good, item.wrong, item.aside)}) == 9
    assert self_test_items("fr") == self_test_items("en")


def test_a_result_is_kept_for_exactly_these_weights_rubric_and_engine(tmp_path, monkeypatch):
    monkeypatch.setenv("OFFLINE_EVAL_HOME", str(tmp_path))
    rubric = load_rubric("faithfulness", "zh")
    identity = {"judge": "j", "weights_hash": "w", "engine": "vllm", "dtype": "float32"}
    key = self_test_key(**identity, rubric=rubric)
    assert recall(key) is None
    result = self_test_of(able("zh"), language="zh").model_copy(update={"key": key})
    keep(result)
    assert recall(key) == result
    others = [
        {**identity, "weights_hash": "x"},
        {**identity, "dtype": "bfloat16"},
        {**identity, "engine": "transformers"},
    ]
    keys = [self_test_key(**other, rubric=rubric) for other in others]
    keys.append(self_test_key(**identity, rubric=load_rubric("faithfulness", "en")))
    assert len({key, *keys}) == 5
    assert all(recall(other) is None for other in keys)


def test_a_kept_result_that_was_damaged_is_forgotten(tmp_path, monkeypatch):
    monkeypatch.setenv("OFFLINE_EVAL_HOME", str(tmp_path))
    keep(self_test_of(able("en")))
    path = next(tmp_path.rglob("k.json"))
    path.write_text(json.dumps({"key": "k"}))
    assert recall("k") is None
