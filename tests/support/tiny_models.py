"""Tiny chat models with random weights, written to disk: a whole Llama, Qwen or Gemma folder in a second.

Every engine loads them like real ones, and they know nothing; what still holds with them holds by construction.
"""

import json
import random
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import offline_eval.demo

Family = Literal["llama", "qwen", "gemma"]

_DEMO = Path(offline_eval.demo.__file__).parent
_CONTEXT = 8192
_VOCABULARY = 5000
_LONGEST_TOKEN = 16  # longer ones would be whole sentences of so small a corpus
_SHAPE = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 32,  # the smallest that vLLM's attention on the CPU knows
    "max_position_embeddings": _CONTEXT,
}
# Embeddings are small and layers large, so that the last token of every prompt, which is the same, decides little.
_EMBEDDING_STD = 0.125
_LAYER_STD = 0.3
_NORM_GAINS = {
    "model.norm.weight": 4.0,  # widens the logits: some tokens are clearly more probable than others
    "q_norm.weight": 6.0,  # sharpens attention: a few places of the prompt count, not its mean
    "post_attention_layernorm.weight": 4.0,  # what was read from the prompt outweighs the last token itself
}

_LLAMA_TEMPLATE = """\
{{- bos_token }}
{%- for message in messages %}
{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' + message.content | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""
_QWEN_TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}
{%- if not (enable_thinking | default(true)) %}{{- '<think>\\n\\n</think>\\n\\n' }}{% endif %}{% endif %}"""
_GEMMA_TEMPLATE = """\
{{- bos_token }}
{%- for message in messages %}
{%- if message.role == 'system' %}{{ raise_exception('this model knows no system turn') }}{% endif %}
{%- set role = 'model' if message.role == 'assistant' else message.role %}
{{- '<start_of_turn>' + role + '\\n' + message.content | trim + '<end_of_turn>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<start_of_turn>model\\n' }}{% endif %}"""

_TEMPLATES: dict[Family, str] = {"llama": _LLAMA_TEMPLATE, "qwen": _QWEN_TEMPLATE, "gemma": _GEMMA_TEMPLATE}
_ROLES: dict[Family, dict[str, str]] = {  # `eos` ends a turn, as in the chat models of each family
    "llama": {"bos": "<|begin_of_text|>", "eos": "<|eot_id|>", "pad": "<|finetune_right_pad_id|>"},
    "qwen": {"eos": "<|im_end|>", "pad": "<|endoftext|>"},
    "gemma": {"bos": "<bos>", "eos": "<end_of_turn>", "pad": "<pad>", "unk": "<unk>"},
}
_MARKUP: dict[Family, tuple[str, ...]] = {
    "llama": ("<|start_header_id|>", "<|end_header_id|>"),
    "qwen": ("<|im_start|>", "<think>", "</think>"),
    "gemma": ("<start_of_turn>",),
}


def tiny_models(folder: Path) -> dict[str, Path]:
    """All three families below `folder`; one that is already there is taken as it is.

    Returns:
        Family to model folder.
    """
    made = {str(family): folder / family for family in get_args(Family)}
    for family in get_args(Family):
        if not made[family].is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as unfinished:
                make_tiny_model(family, Path(unfinished) / family).rename(made[family])
    return made


def make_tiny_model(family: Family, folder: Path, *, seed: int = 0) -> Path:
    """Write one model folder; the same family and seed give the same bytes.

    Args:
        family: Architecture, kind of tokenizer and style of chat template.
        folder: Created; receives config.json, model.safetensors (float32), tokenizer.json and tokenizer_config.json.
        seed: Of the weights; the tokenizer does not depend on it.

    Returns:
        `folder`.
    """
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _gemma_tokenizer() if family == "gemma" else _byte_level_tokenizer(family)
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {f"{role}_token": token for role, token in _ROLES[family].items()}
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": _CONTEXT,
        "clean_up_tokenization_spaces": False,
        "chat_template": _TEMPLATES[family],
        **special,
    }
    text = json.dumps(settings, ensure_ascii=False, indent=2)
    (folder / "tokenizer_config.json").write_text(text + "\n", encoding="utf-8")
    model = _untrained(family, tokenizer)
    with torch.no_grad():
        _fill(model, torch.Generator().manual_seed(seed), norm_offset=1.0 if family == "gemma" else 0.0)
    model.save_pretrained(folder, safe_serialization=True)
    return folder


def _untrained(family: Family, tokenizer: Any) -> Any:
    import torch
    import transformers

    size = -(-tokenizer.get_vocab_size() // 64) * 64  # as in real models, a few rows that no token has
    ids = {f"{role}_token_id": tokenizer.token_to_id(token) for role, token in _ROLES[family].items() if role != "unk"}
    settings: dict[str, Any] = {**_SHAPE, **ids, "vocab_size": size, "dtype": torch.float32}
    if family == "llama":
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(**settings, tie_word_embeddings=False))
    if family == "qwen":
        return transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**settings, tie_word_embeddings=False))
    layers = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 512}
    config = transformers.Gemma3TextConfig(**settings, **layers, query_pre_attn_scalar=32, tie_word_embeddings=True)
    return transformers.Gemma3ForCausalLM(config)


def _fill(model: Any, generator: Any, *, norm_offset: float) -> None:
    """Draw all weights, in the order of their names.

    Args:
        norm_offset: What the architecture adds to a norm's stored weight.
    """
    for name, weight in sorted(model.named_parameters()):
        if name.endswith("norm.weight"):
            gain = next((gain for ending, gain in _NORM_GAINS.items() if name.endswith(ending)), 1.0)
            weight.fill_(gain - norm_offset)
            continue
        is_embedding = name.endswith(("embed_tokens.weight", "lm_head.weight"))
        weight.normal_(0.0, _EMBEDDING_STD if is_embedding else _LAYER_STD, generator=generator)


def _byte_level_tokenizer(family: Family) -> Any:
    """Byte-level BPE, its control tokens behind the vocabulary."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        min_frequency=2,
        max_token_length=_LONGEST_TOKEN,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_corpus(), trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in _control(family)])
    return tokenizer


def _gemma_tokenizer() -> Any:
    """BPE over characters with ▁ for the space and bytes for unknown characters, as SentencePiece writes it.

    The control tokens come first, then the 256 bytes, then the trained vocabulary.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    normalizer = normalizers.Replace(" ", "▁")
    splits = [
        pre_tokenizers.Split("▁", "merged_with_next"),
        pre_tokenizers.Split(Regex(r"\d"), "isolated"),
    ]
    trained = Tokenizer(models.BPE())
    trained.normalizer = normalizer
    trained.pre_tokenizer = pre_tokenizers.Sequence(splits)
    control = _control("gemma")
    reserved = [*control, *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY - len(reserved),
        min_frequency=2,
        max_token_length=_LONGEST_TOKEN,
        initial_alphabet=[chr(code) for code in range(0x21, 0x7F)],
        show_progress=False,
    )
    trained.train_from_iterator(_corpus(), trainer)
    model = json.loads(trained.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
    tokenizer = Tokenizer(
        models.BPE(
            {token: index for index, token in enumerate([*reserved, *tokens])},
            [(left, right) for left, right in model["merges"]],
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in control])
    return tokenizer


def _control(family: Family) -> list[str]:
    return [*_ROLES[family].values(), *_MARKUP[family]]


@cache
def _corpus() -> tuple[str, ...]:
    """The demo's handbook, and JSON objects made of its lines, so that some tokens cross the border of a string."""
    files = sorted((_DEMO / "handbook").glob("*/*.md"))
    texts = [file.read_text("utf-8") for file in files]
    lines = [line for text in texts for line in text.splitlines() if line]
    return (*texts, *_json_objects(lines))


def _json_objects(lines: list[str]) -> Iterator[str]:
    draw = random.Random(0)
    for line in lines:
        start = draw.randrange(len(line))
        verdict = {
            "grade": draw.randint(1, 3),
            "evidence": line[start : start + 60],
            "reason": draw.choice(lines)[:120],
        }
        yield json.dumps(verdict, ensure_ascii=False, separators=(",", ":"))
        yield json.dumps({"label": draw.choice("ABC"), "claims": [line[:80], line[-80:]]}, indent=2)
