"""The Transformers engine: its numbers are the model's own, its shortcuts change nothing, its objects are whole."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from engine_requests import FAMILIES, grade_request, tail_request, tiny_spec
from safetensors.torch import load_file, save_file

import offline_eval.engines.transformers as engine_module
from offline_eval.core.errors import ModelError
from offline_eval.core.protocols import Failure, GenerateRequest, Generation
from offline_eval.engines.inprocess import Prepared
from offline_eval.engines.transformers import TransformersEngine

every_family = pytest.mark.parametrize("family", FAMILIES)
PASSAGES = Path(__file__).parents[2] / "offline_eval" / "demo" / "passages.jsonl"
TEXTS = [json.loads(line)["text"] for line in PASSAGES.read_text("utf-8").splitlines()]
SYSTEM = "Grade the passage by how clear it is: 1 is unclear, 2 is clear, 3 is very clear. Write one JSON object. " * 3


def labels(answers: list[Generation | Failure]) -> list[str]:
    assert all(isinstance(answer, Generation) for answer in answers), answers
    return [answer.text for answer in answers if isinstance(answer, Generation)]


def logprobs(answers: list[Generation | Failure]) -> list[dict[str, float]]:
    found = [answer.label_logprobs for answer in answers if isinstance(answer, Generation)]
    assert len(found) == len(answers)
    return [row for row in found if row is not None]


def prepared(engine: TransformersEngine, requests: list[GenerateRequest]) -> list[Prepared]:
    ready, failures = engine._preparer.prepare(requests)
    assert not failures
    return ready


@every_family
def test_label_probabilities_are_the_models_own_log_softmax(
    family: str, engines: dict[str, TransformersEngine], folders: dict[str, Path]
) -> None:
    from transformers import AutoModelForCausalLM

    requests = [grade_request(text[:80], system="S") for text in TEXTS[:6]]  # of different lengths: padded in the batch
    answers = engines[family].generate(requests)
    model = AutoModelForCausalLM.from_pretrained(str(folders[family]), dtype=torch.float32).eval()
    for request, answer in zip(prepared(engines[family], requests), answers, strict=True):
        with torch.inference_mode():
            logits = model(torch.tensor([request.prompt])).logits[0, -1]
        by_hand = logits - logits.exp().sum().log()  # log softmax; tiny logits need no shift
        assert isinstance(answer, Generation)
        assert answer.label_logprobs is not None
        expected = {label: float(by_hand[index]) for label, index in request.label_ids.items()}
        assert answer.label_logprobs == pytest.approx(expected, abs=1e-4)
        assert answer.text == max(expected, key=expected.__getitem__)
        assert answer.prompt_tokens == len(request.prompt)
        assert sum(torch.tensor(list(expected.values())).exp()) < 1  # unmasked: some mass is elsewhere


@pytest.mark.parametrize("family", ["llama", "qwen"])
def test_a_shared_prefix_changes_no_label_and_no_logit(
    family: str, engines: dict[str, TransformersEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engines[family]
    requests = [grade_request(text, system=SYSTEM) for text in TEXTS[:16]]
    tails = [tail_request(SYSTEM + text, reason=6) for text in TEXTS[:8]]
    batch = prepared(engine, requests)
    assert engine._shared_prefix(batch) >= engine_module._WORTH_SHARING
    assert len({len(request.prompt) for request in batch}) > 1  # so the rests are padded between prefix and rest
    shared, shared_tails = engine.generate(requests), engine.generate(tails)
    monkeypatch.setattr(engine_module, "_WORTH_SHARING", 10**9)
    assert engine._shared_prefix(batch) == 0
    plain = engine.generate(requests)
    assert labels(shared) == labels(plain)
    for one, other in zip(logprobs(shared), logprobs(plain), strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    assert engine.generate(tails) == shared_tails


def test_a_sliding_window_shares_nothing_since_padding_would_count_as_distance(
    engines: dict[str, TransformersEngine],
) -> None:
    engine = engines["gemma"]
    assert engine._shared_prefix(prepared(engine, [grade_request(text, system=SYSTEM) for text in TEXTS[:4]])) == 0


def test_the_last_token_of_equal_prompts_is_never_shared_away(engines: dict[str, TransformersEngine]) -> None:
    engine = engines["llama"]
    same = [grade_request("the same", system=SYSTEM)] * 3
    [first, *_] = batch = prepared(engine, same)
    assert engine._shared_prefix(batch) == len(first.prompt) - 1
    alone = engine.generate(same[:1])
    for row in logprobs(engine.generate(same)):
        assert row == pytest.approx(logprobs(alone)[0], abs=1e-4)


@every_family
def test_the_order_of_requests_changes_nothing(family: str, engines: dict[str, TransformersEngine]) -> None:
    engine = engines[family]
    requests: list[GenerateRequest] = [grade_request(text[:60], system="S") for text in TEXTS[:20]]
    requests += [tail_request(text[:60], reason=4) for text in TEXTS[:4]]
    answers = engine.generate(requests)
    order = list(range(len(requests)))
    random.Random(1).shuffle(order)
    again = engine.generate([requests[index] for index in order])
    assert [again[order.index(index)] for index in range(len(requests))] == answers  # to the last bit


@every_family
def test_every_object_of_a_hundred_is_whole_and_within_its_limits(family: str, folders: dict[str, Path]) -> None:
    engine = TransformersEngine(tiny_spec(family, folders[family], batch_size=50))
    requests = [tail_request(f"{n} {TEXTS[n % len(TEXTS)][:50]}", evidence=8, reason=12) for n in range(100)]
    values = [json.loads('{"grade":2,' + text) for text in labels(engine.generate(requests))]
    assert all(list(value) == ["grade", "evidence", "reason"] for value in values)
    assert max(len(value["evidence"]) for value in values) <= 8
    assert max(len(value["reason"]) for value in values) <= 12
    assert any(not value["reason"].isascii() for value in values)
    assert len({value["reason"] for value in values}) > 30  # they depend on the prompt


def test_objects_end_within_the_budget_and_count_their_tokens(engines: dict[str, TransformersEngine]) -> None:
    engine = engines["llama"]
    requests = [tail_request(text, reason=5) for text in TEXTS[:4]]
    for request, answer in zip(prepared(engine, requests), engine.generate(requests), strict=True):
        assert isinstance(answer, Generation)
        assert 1 <= answer.output_tokens <= request.budget - 1
        assert len(answer.text.encode()) <= request.budget - 1


def test_what_does_not_fit_is_refused_before_anything_is_computed(folders: dict[str, Path]) -> None:
    engine = TransformersEngine(tiny_spec("llama", folders["llama"], context_length=300))
    engine.close()  # without a model nothing can be computed
    long_label, long_tail = grade_request("x y z " * 400), tail_request("x", reason=100)
    [label, tail] = engine.generate([long_label, long_tail])
    assert isinstance(label, Failure)
    assert isinstance(tail, Failure)
    assert (label.reason, tail.reason) == ("prompt_too_long", "prompt_too_long")
    # "reason":" is 10 bytes, 100 characters of 4 bytes, "} is 2 bytes, and the end.
    assert f"budget of {10 + 4 * 100 + 2 + 1} exceed the model's 300" in tail.detail


def test_a_prompt_that_just_fits_is_answered_and_one_token_more_is_not(folders: dict[str, Path]) -> None:
    probe = TransformersEngine(tiny_spec("llama", folders["llama"]))
    request = tail_request("just fits", reason=3)
    [ready] = prepared(probe, [request])
    needed = len(ready.prompt) + ready.budget
    for limit, is_answered in ((needed, True), (needed - 1, False)):
        engine = TransformersEngine(tiny_spec("llama", folders["llama"], context_length=limit))
        [answer] = engine.generate([request, grade_request("short")])[:1]
        assert isinstance(answer, Generation) is is_answered


def test_one_text_that_cannot_be_encoded_fails_alone(
    engines: dict[str, TransformersEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    from offline_eval.engines.prompt_tokens import NotEncodableError, PromptEncoder

    encode = PromptEncoder.encode

    def refuse_one(self: PromptEncoder, request: GenerateRequest) -> list[int]:
        if request.messages[-1].content == "odd":
            raise NotEncodableError("the text cannot be encoded")
        return encode(self, request)

    monkeypatch.setattr(PromptEncoder, "encode", refuse_one)
    answers = engines["llama"].generate([grade_request(text) for text in ("a", "odd", "b")])
    assert [answer.kind for answer in answers] == ["generation", "failure", "generation"]
    assert isinstance(answers[1], Failure)
    assert answers[1].reason == "not_encodable"


def test_a_folder_that_lacks_a_weight_is_refused_and_not_filled_with_random_numbers(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    for file in folders["llama"].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"1 weights are missing, model\.layers\.1\.mlp\.up_proj\.weight"):
        TransformersEngine(tiny_spec("llama", tmp_path))


def test_a_tokenizer_without_an_end_token_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    for file in folders["llama"].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text("utf-8"))
    del settings["eos_token"]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(ModelError, match="no end token"):
        TransformersEngine(tiny_spec("llama", tmp_path))


def test_a_tokenizer_that_cannot_write_a_label_is_refused_at_load(folders: dict[str, Path], tmp_path: Path) -> None:
    for file in folders["llama"].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    data: dict[str, Any] = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    index = data["model"]["vocab"].pop("3")
    data["model"]["vocab"]["3three"] = index
    data["model"]["merges"] = [pair for pair in data["model"]["merges"] if "3" not in "".join(pair)]
    (tmp_path / "tokenizer.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(ModelError, match="label '3' is not a single token"):
        TransformersEngine(tiny_spec("llama", tmp_path))


def test_the_engines_identity_names_what_can_move_a_number(engines: dict[str, TransformersEngine]) -> None:
    info = engines["qwen"].info
    assert (info.engine, info.model, info.guarantee, info.dtype) == ("transformers", "tiny-qwen", "grammar", "float32")
    assert info.options == {"batch_size": 16, "seed": 0, "enable_thinking": False, "batches": "by prefix"}
    assert "llguidance" in info.grammar_backend
    assert {"torch", "transformers"} <= set(info.versions)
