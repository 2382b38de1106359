"""A config for a folder that has none of ours, read from its own files, so that any local model can be used by path."""

import json
import re
from pathlib import Path
from typing import Any, cast, get_args

from pydantic import ValidationError

from offline_eval.core.errors import ModelError
from offline_eval.models.config import CONFIGS_VARIABLE, Dtype, FolderSource, ModelConfig, ModelKind, Relation

# The first prefix of config.json's `model_type` that fits names the family.
_FAMILIES = {
    "llama": "llama",
    "qwen": "qwen",
    "mistral": "mistral",
    "mixtral": "mistral",
    "ministral": "mistral",
    "gemma": "gemma",
    "smollm": "smollm",
    "phi": "phi",
    "deberta": "deberta",
    "xlm-roberta": "roberta",
    "roberta": "roberta",
    "bert": "bert",
}
_MEMORY_FACTOR = 1.25  # weights plus caches and work space


def derive_config(folder: Path, *, name: str | None = None, kind: ModelKind | None = None) -> ModelConfig:
    """Make a config from a folder's config.json.

    Args:
        folder: A safe model folder.
        name: Registered name; the folder's own name when None.
        kind: What the model is used for; found from its architecture when None.

    Raises:
        ModelError: Something that must be known is not in the folder; the message says how to state it.
    """
    data = _read_json(folder / "config.json")
    text = {**data, **data.get("text_config", {})} if isinstance(data.get("text_config"), dict) else data
    model_type = str(data.get("model_type", "unknown"))
    labels = read_labels(folder)
    chosen = kind or _kind_of(folder, data, labels)
    label_map = _relations(labels) if chosen == "nli" else {}
    if chosen == "nli" and "entailment" not in label_map.values():
        raise ModelError(
            f"{folder}: its labels {labels} do not say which is entailment; write a config with label_map in the "
            f"folder ${CONFIGS_VARIABLE}, or state another kind ({', '.join(get_args(ModelKind))})"
        )
    try:
        return ModelConfig(
            name=name or re.sub(r"[^A-Za-z0-9._-]", "-", folder.resolve().name).strip("-._") or "model",
            kind=chosen,
            family=next((family for prefix, family in _FAMILIES.items() if model_type.startswith(prefix)), model_type),
            languages=("*",),
            license="unknown",
            context_length=_context_length(folder, text, model_type),
            dtype=_dtype_of(text),
            memory_gib=_memory_gib(folder),
            source=FolderSource(upstream="unknown"),
            template_options=_template_options(folder),
            label_map=label_map,
            description=f"Read from a folder: {model_type}.",
        )
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ModelError(
            f"{folder}: cannot derive a config ({wrong}); write one in the folder ${CONFIGS_VARIABLE}"
        ) from error


def read_labels(folder: Path) -> list[str]:
    """The labels in a folder's config.json, in their order; empty when it names none.

    Raises:
        ModelError: config.json cannot be read, or `id2label` is no mapping.
    """
    labels = _read_json(folder / "config.json").get("id2label") or {}
    if not isinstance(labels, dict):
        raise ModelError(f"{folder / 'config.json'}: id2label must be an object; copy the model's folder again")
    return [str(label) for label in labels.values()]


def read_template(folder: Path) -> Any:
    """The folder's chat template (text, or a list of named ones); None when it has none."""
    jinja = folder / "chat_template.jinja"
    if jinja.is_file():
        try:
            return jinja.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"{jinja} cannot be read ({error}); copy the model's folder again") from error
    for name in ("tokenizer_config.json", "chat_template.json"):
        if (folder / name).is_file() and (template := _read_json(folder / name).get("chat_template")):
            if not _is_template(template):
                raise ModelError(f"{folder / name}: chat_template is neither text nor a list of named texts")
            return template
    return None


def _is_template(value: Any) -> bool:
    if isinstance(value, str):
        return True
    named = value if isinstance(value, list) else []
    return bool(named) and all(
        isinstance(entry, dict) and all(isinstance(text, str) for text in entry.values()) for entry in named
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read ({error}); copy the model's folder again") from error
    if not isinstance(data, dict):
        raise ModelError(f"{path} is not a JSON object; copy the model's folder again")
    return data


def _kind_of(folder: Path, data: dict[str, Any], labels: list[str]) -> ModelKind:
    architectures = data.get("architectures") or [""]
    architecture = str(architectures[0]) if isinstance(architectures, list) else ""
    if architecture.endswith("ForSequenceClassification"):
        return "reranker" if len(labels) == 1 else "nli"
    if architecture.endswith(("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")):
        return "judge"
    if (folder / "modules.json").is_file() or architecture.endswith("Model"):
        return "embedder"
    raise ModelError(
        f"{folder}: cannot tell what {architecture or 'a model without architectures'} is for; "
        f"state the kind ({', '.join(get_args(ModelKind))})"
    )


def _relations(labels: list[str]) -> dict[str, Relation]:
    """Labels that name a relation themselves; `not_entailment` counts as neutral."""
    found: dict[str, Relation] = {}
    for label in labels:
        plain = label.lower().replace("-", "_")
        if plain.startswith(("not_", "non_")) or plain == "neutral":
            found[label] = "neutral"
        elif plain in ("entailment", "contradiction"):
            found[label] = cast(Relation, plain)
    return found if len(found) == len(labels) else {}


def _context_length(folder: Path, text: dict[str, Any], model_type: str) -> int:
    limits = [text.get("max_position_embeddings")]
    if model_type in ("roberta", "xlm-roberta", "camembert") and isinstance(limits[0], int):
        limits = [limits[0] - 2]  # the first two positions of this architecture are padding
    sentence_config = folder / "sentence_bert_config.json"
    if sentence_config.is_file():
        limits.append(_read_json(sentence_config).get("max_seq_length"))
    known = [limit for limit in limits if isinstance(limit, int) and limit > 0]
    if not known:
        raise ModelError(
            f"{folder}: config.json has no max_position_embeddings; write a config with context_length "
            f"in the folder ${CONFIGS_VARIABLE}"
        )
    return min(known)


def _dtype_of(text: dict[str, Any]) -> Dtype:
    stated = str(text.get("dtype") or text.get("torch_dtype") or "float32")
    return cast(Dtype, stated) if stated in get_args(Dtype) else "bfloat16"


def _memory_gib(folder: Path) -> float:
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    return max(round(size / 2**30 * _MEMORY_FACTOR, 2), 0.01)


def _template_options(folder: Path) -> dict[str, Any]:
    # A template that knows the switch belongs to a model that would think before it answers.
    return {"enable_thinking": False} if "enable_thinking" in json.dumps(read_template(folder)) else {}
