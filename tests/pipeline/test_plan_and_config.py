"""A run's identity, its judges, its batches and what it will cost, all before anything is loaded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import DataError, UsageError
from offline_eval.judge.panel import load_panel
from offline_eval.pipeline.config import (
    assign_judges,
    case_set_hash,
    family_warnings,
    responses_hash,
    rubric_hashes,
    run_id,
)
from offline_eval.pipeline.plan import estimate_plan, pair, verdict_stages
from tests.support.panel_runs import make_case, make_config, make_response, many

PANEL = load_panel("three-examiners")


def test_one_judge_for_all_and_others_for_one_dimension() -> None:
    assert assign_judges(PANEL, ["a"]) == dict.fromkeys(PANEL.examiners, ("a",))
    assert assign_judges(PANEL, ["a", "relevance=b", "relevance=a"])["relevance"] == ("a", "b")
    assert assign_judges(PANEL, [f"{name}={name[0]}" for name in PANEL.examiners])["completeness"] == ("c",)


def test_a_dimension_without_a_judge_or_of_another_panel_is_refused() -> None:
    with pytest.raises(
        UsageError, match="no judge for relevance, completeness; add --judge MODEL or --judge relevance="
    ):
        assign_judges(PANEL, ["faithfulness=a"])
    with pytest.raises(UsageError, match="no examiner 'tone'; it has faithfulness, relevance, completeness"):
        assign_judges(PANEL, ["tone=a"])


def test_the_identity_follows_content_and_configuration_and_nothing_else() -> None:
    cases, responses = many(4)
    config = make_config()
    identity = run_id(config, cases, responses)
    assert len(identity) == 16
    assert run_id(make_config(), cases[::-1], responses[::-1]) == identity
    changed = [cases[0].model_copy(update={"reference": "29 days."}), *cases[1:]]
    assert case_set_hash(changed) != case_set_hash(cases)
    others = [
        run_id(config, changed, responses),
        run_id(config, cases, responses[:-1]),
        run_id(make_config(("other",)), cases, responses),
        run_id(make_config(batch_size=8), cases, responses),
        run_id(make_config(seed=1), cases, responses),
        run_id(make_config(reasons="none"), cases, responses),
        run_id(make_config(encoder_dtype="bfloat16"), cases, responses),
        run_id(make_config(encoder_engine="vllm"), cases, responses),
        run_id(config.model_copy(update={"models": {"judge": "other weights"}}), cases, responses),
        run_id(config.model_copy(update={"rubrics": {}}), cases, responses),
    ]
    assert len({identity, *others}) == 1 + len(others)


def test_what_encoders_run_in_is_told_where_one_is_asked() -> None:
    asked = {"engines": {"nli": "x"}, "engine": "none"}
    assert make_config().encoders_run_in is None
    assert make_config().model_copy(update={**asked, "engines": {"judge": "j"}}).encoders_run_in is None
    assert make_config(encoder_dtype="bfloat16").model_copy(update=asked).encoders_run_in == "bfloat16"
    on_vllm = make_config(encoder_dtype="float32", encoder_engine="vllm")
    assert on_vllm.model_copy(update=asked).encoders_run_in == "float32 on vLLM"
    on_onnx = make_config(encoder_dtype="int8", encoder_engine="onnx").model_copy(update={"engine": "none"})
    alone = on_onnx.model_copy(update={"engines": {"nli": "mine", "judge": "j"}})
    assert alone.encoders_run_in == "int8 on ONNX Runtime"
    for more in ({"nli": "default-support"}, {"nli": "mine", "embedder": "e"}):
        mixed = on_onnx.model_copy(update={"engines": {"answerability": "mine", **more}})
        assert mixed.encoders_run_in == "int8 on ONNX Runtime, float32 elsewhere"
    assert make_config().model_copy(update=asked).encoders_run_in is None  # a run made before it was kept
    assert make_config().model_copy(update={**asked, "engine": "scripted"}).encoders_run_in is None


def test_the_order_of_passages_is_content() -> None:
    one, two = make_response().passages[0], make_response().passages[0].model_copy(update={"id": "p2"})
    assert responses_hash([make_response(passages=(one, two))]) != responses_hash([make_response(passages=(two, one))])


def test_rubrics_of_both_languages_are_part_of_the_configuration() -> None:
    assert set(rubric_hashes(["relevance"])) == {"relevance.en@2", "relevance.zh@2"}


def test_families_are_warned_about() -> None:
    own = [make_response(system="mine", metadata={"family": "qwen"}), make_response("c2", system="other")]
    assert [text.en for text in family_warnings({"a": "llama", "b": "qwen"}, own)] == [
        "judge b and system mine are of the same family (qwen): judges tend to favour their own"
    ]
    assert [text.en for text in family_warnings({"a": "llama", "b": "llama"}, [])] == [
        "all 2 judges are of the family llama: their errors may agree"
    ]


@pytest.mark.parametrize("families", [{"a": "llama"}, {"a": "llama", "b": "unknown"}, {"a": "unknown", "b": "unknown"}])
def test_unknown_families_are_not_taken_for_the_same(families: dict[str, str]) -> None:
    assert family_warnings(families, []) == []


def test_responses_are_joined_with_their_cases_in_the_cases_order() -> None:
    cases, responses = many(3)
    extra = make_response("c001", attempt=2)
    items = pair(cases, [*responses[::-1], extra])
    assert [item.response.key for item in items] == ["system/c000", "system/c001", "system/c001#2", "system/c002"]
    assert all(item.case.id == item.response.case_id for item in items)


def test_two_responses_with_one_key_are_refused_because_their_verdicts_would_mix() -> None:
    with pytest.raises(DataError, match=r"system/c1: 2 responses have this key"):
        pair([make_case()], [make_response(answer="28"), make_response(answer="29")])


@given(st.integers(0, 40), st.integers(1, 9), st.sampled_from([("one",), ("one", "two"), ("one", "relevance=two")]))
def test_every_question_is_asked_of_every_judge_once_in_batches_of_bounded_size(
    n: int, size: int, judges: tuple[str, ...]
) -> None:
    config = make_config(judges, batch_size=size)
    stages = verdict_stages(config, pair(*many(n)))
    asked = [(stage.judge, question.key) for stage in stages for batch in stage.batches for question in batch.questions]
    assert len(asked) == len(set(asked)) == n * sum(len(names) for names in config.judges.values())
    assert all(len(batch.questions) <= max(3, 4 * size) for stage in stages for batch in stage.batches)
    names = [batch.name for stage in stages for batch in stage.batches]
    assert len(names) == len(set(names))


def test_the_plan_counts_calls_without_loading_anything() -> None:
    cases, responses = many(4)
    cases.append(make_case("empty"))
    responses.append(make_response("empty", answer=":"))
    plan = estimate_plan(make_config(("one", "two")), pair(cases, responses))
    # 5 responses x 3 dimensions x 2 judges; the empty answer's 6 by rule; label and reason for the other 24.
    assert (plan.responses, plan.verdicts, plan.by_rule, plan.model_calls, plan.model_loads) == (5, 30, 6, 48, 2)
    labels = estimate_plan(make_config(("one", "two"), reasons="none"), pair(cases, responses))
    assert (labels.model_calls, labels.output_tokens) == (24, 24)
    assert plan.prompt_tokens == pytest.approx(2 * labels.prompt_tokens, abs=1)
    assert "on a CPU" in plan.time_text


def test_a_plan_that_rules_decide_loads_no_model() -> None:
    plan = estimate_plan(make_config(), pair([make_case()], [make_response(answer="")]))
    assert (plan.by_rule, plan.model_calls, plan.model_loads, plan.prompt_tokens) == (3, 0, 0, 0)
