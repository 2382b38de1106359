"""The tiny models are whole: text survives the tokenizer, templates speak, and greedy choices follow the prompt."""

import json
import string
from pathlib import Path
from typing import Any

import pytest

from offline_eval.core.protocols import GenerateRequest, Generation, LabelChoice, Message, ObjectTail
from offline_eval.engines.inprocess import EngineSpec
from offline_eval.engines.prompt_tokens import PromptEncoder
from offline_eval.engines.transformers import TransformersEngine
from offline_eval.engines.vocabulary import ByteVocabulary
from tests.support.tiny_models import make_tiny_model, tiny_models

FAMILIES = ("llama", "qwen", "gemma")
ARCHITECTURES = {"llama": "LlamaForCausalLM", "qwen": "Qwen3ForCausalLM", "gemma": "Gemma3ForCausalLM"}
TURN_ENDS = {"llama": "<|eot_id|>", "qwen": "<|im_end|>", "gemma": "<end_of_turn>"}
PASSAGES = Path(__file__).parents[2] / "offline_eval" / "demo" / "passages.jsonl"
TEXTS = (
    "Staff may work from home on 2 days a week.",
    "员工每周可以在家办公2天，须提前3个工作日申请。",
    '{"grade":3,"evidence":"“每班补贴60元”","reason":""}',
    "  two  spaces, a\ttab,\n\na blank line ",
    "unseen: 龘 😀 ñ Ω",
)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return tiny_models(tmp_path_factory.mktemp("tiny"))


every_family = pytest.mark.parametrize("family", FAMILIES)


def spec(family: str, folder: Path) -> EngineSpec:
    return EngineSpec(
        engine="transformers",
        model=f"tiny-{family}",
        family=family,
        folder=str(folder),
        weights_hash="",
        tokenizer_hash="",
        template_hash="",
        dtype="float32",
        context_length=4096,
        template_options={"enable_thinking": False} if family == "qwen" else {},
    )


def tokenizer_of(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(folder), local_files_only=True)


@every_family
@pytest.mark.parametrize("text", TEXTS)
def test_text_survives_the_tokenizer(family: str, text: str, folders: dict[str, Path]) -> None:
    tokenizer = tokenizer_of(folders[family])
    ids = tokenizer.encode(text, add_special_tokens=False)
    assert tokenizer.decode(ids) == text
    assert ByteVocabulary(folders[family] / "tokenizer.json").decode(ids) == text


@every_family
def test_every_letter_and_digit_is_one_token_that_the_tokenizer_uses(family: str, folders: dict[str, Path]) -> None:
    labels = string.ascii_letters + string.digits
    found = ByteVocabulary(folders[family] / "tokenizer.json").label_ids(list(labels))
    tokenizer = tokenizer_of(folders[family])
    assert {label: tokenizer.encode(label, add_special_tokens=False) for label in labels} == {
        label: [index] for label, index in found.items()
    }


@every_family
def test_numbers_are_read_digit_by_digit(family: str, folders: dict[str, Path]) -> None:
    assert len(tokenizer_of(folders[family]).encode("2026", add_special_tokens=False)) == 4


@every_family
def test_all_bytes_can_be_written(family: str, folders: dict[str, Path]) -> None:
    vocabulary = json.loads((folders[family] / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    if family == "gemma":
        assert {f"<0x{byte:02X}>" for byte in range(256)} <= set(vocabulary)
        assert "▁the" in vocabulary
        return
    from tokenizers.pre_tokenizers import ByteLevel

    assert set(ByteLevel.alphabet()) <= set(vocabulary)
    assert len(ByteLevel.alphabet()) == 256


@every_family
def test_the_end_token_is_the_familys_end_of_turn(family: str, folders: dict[str, Path]) -> None:
    tokenizer = tokenizer_of(folders[family])
    config = json.loads((folders[family] / "config.json").read_text("utf-8"))
    assert tokenizer.eos_token == TURN_ENDS[family]
    assert config["eos_token_id"] == tokenizer.eos_token_id
    assert config["pad_token_id"] == tokenizer.pad_token_id
    assert tokenizer.pad_token_id != tokenizer.eos_token_id
    assert config["max_position_embeddings"] == 8192
    assert config["architectures"] == [ARCHITECTURES[family]]


def test_the_templates_speak_each_in_their_familys_way(folders: dict[str, Path]) -> None:
    turns = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]

    def render(family: str, turns: list[dict[str, str]], **options: bool) -> str:
        tokenizer = tokenizer_of(folders[family])
        return str(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True, **options))

    assert render("llama", turns) == (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nU<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    )
    qwen = "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"
    assert render("qwen", turns) == qwen
    assert render("qwen", turns, enable_thinking=False) == qwen + "<think>\n\n</think>\n\n"
    assert render("gemma", turns[1:]) == "<bos><start_of_turn>user\nU<end_of_turn>\n<start_of_turn>model\n"


def test_gemma_refuses_a_system_turn_and_the_encoder_merges_it(folders: dict[str, Path]) -> None:
    from jinja2.exceptions import TemplateError

    turns = [Message(role="system", content="Be brief."), Message(role="user", content="Hello")]
    with pytest.raises(TemplateError, match="no system turn"):
        tokenizer_of(folders["gemma"]).apply_chat_template([turn.model_dump() for turn in turns], tokenize=False)
    encoder = PromptEncoder(folders["gemma"], {})
    request = GenerateRequest(messages=tuple(turns), constraint=LabelChoice(labels=("1", "2")))
    assert encoder.tokenizer.decode(encoder.encode(request)) == (
        "<bos><start_of_turn>user\nBe brief.\n\nHello<end_of_turn>\n<start_of_turn>model\n"
    )


@every_family
def test_the_folder_loads_and_holds_float32(family: str, folders: dict[str, Path]) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(str(folders[family]), local_files_only=True, use_safetensors=True)
    assert type(model).__name__ == ARCHITECTURES[family]
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert model.config.vocab_size >= len(tokenizer_of(folders[family]))


@every_family
def test_a_seed_gives_the_same_bytes_and_another_seed_other_weights(
    family: str, folders: dict[str, Path], tmp_path: Path
) -> None:
    again = make_tiny_model(family, tmp_path / "again")  # type: ignore[arg-type]
    other = make_tiny_model(family, tmp_path / "other", seed=1)  # type: ignore[arg-type]
    files = {path.name for path in folders[family].iterdir()}
    assert {path.name for path in again.iterdir()} == files
    for name in files:
        assert (again / name).read_bytes() == (folders[family] / name).read_bytes(), name
        same = (other / name).read_bytes() == (folders[family] / name).read_bytes()
        assert same is (name != "model.safetensors"), name


def test_models_that_are_there_are_not_made_again(folders: dict[str, Path]) -> None:
    before = {family: (folder / "model.safetensors").stat().st_mtime_ns for family, folder in folders.items()}
    assert tiny_models(folders["llama"].parent) == folders
    assert {family: (folder / "model.safetensors").stat().st_mtime_ns for family, folder in folders.items()} == before


@every_family
def test_each_of_three_labels_is_chosen_and_every_object_is_whole(family: str, folders: dict[str, Path]) -> None:
    engine = TransformersEngine(spec(family, folders[family]))
    grade = LabelChoice(labels=("1", "2", "3"))
    texts = [json.loads(line)["text"] for line in PASSAGES.read_text("utf-8").splitlines()]
    requests = [
        GenerateRequest(messages=(Message(role="user", content=text),), prefill='{"grade":', constraint=grade)
        for text in texts
    ]
    answers = engine.generate(requests)
    assert {answer.text for answer in answers if isinstance(answer, Generation)} == {"1", "2", "3"}
    tail = ObjectTail(fields={"evidence": 20, "reason": 30})
    tails = engine.generate(
        [request.model_copy(update={"prefill": '{"grade":2,', "constraint": tail}) for request in requests[:4]]
    )
    for answer in tails:
        assert isinstance(answer, Generation), answer
        verdict = json.loads("{" + answer.text)
        assert set(verdict) == {"evidence", "reason"}
        assert len(verdict["evidence"]) <= 20
        assert len(verdict["reason"]) <= 30
