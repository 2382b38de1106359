"""Requests and specs that the engine tests share."""

from pathlib import Path
from typing import Any

from offline_eval.core.protocols import GenerateRequest, LabelChoice, Message, ObjectTail
from offline_eval.engines.inprocess import EngineSpec

FAMILIES = ("llama", "qwen", "gemma")
GRADES = LabelChoice(labels=("1", "2", "3"))


def tiny_spec(family: str, folder: Path, **changes: Any) -> EngineSpec:
    """A tiny model on the Transformers engine."""
    settings: dict[str, Any] = {
        "engine": "transformers",
        "model": f"tiny-{family}",
        "family": family,
        "folder": str(folder),
        "weights_hash": "w",
        "tokenizer_hash": "t",
        "template_hash": "c",
        "dtype": "float32",
        "context_length": 4096,
        "template_options": {"enable_thinking": False} if family == "qwen" else {},
    }
    return EngineSpec.model_validate(settings | changes)


def grade_request(text: str, *, system: str | None = None) -> GenerateRequest:
    """Ask for a grade of 1, 2 or 3."""
    opening = (Message(role="system", content=system),) if system else ()
    return GenerateRequest(
        messages=(*opening, Message(role="user", content=text)), prefill='{"grade":', constraint=GRADES
    )


def tail_request(text: str, **limits: int) -> GenerateRequest:
    """Ask for the rest of an object of bounded strings."""
    tail = ObjectTail(fields=limits)
    return GenerateRequest(messages=(Message(role="user", content=text),), prefill='{"grade":2,', constraint=tail)
