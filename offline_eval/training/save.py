"""Writes a trained encoder as a model folder with its card, ready for `models import`."""

import json
import re
from pathlib import Path

from pydantic import JsonValue

from offline_eval.core.errors import UsageError
from offline_eval.models.config import FolderSource, ModelConfig
from offline_eval.models.hashes import hash_files
from offline_eval.models.installed import InstalledModel
from offline_eval.models.manifest import Manifest, write_manifest
from offline_eval.stats.measured import Measured
from offline_eval.training.evaluate import HeldOut
from offline_eval.training.finetune import Trained, TrainSettings
from offline_eval.training.labels import LabelledSet
from offline_eval.training.lora import save_adapter

_RELATION_OF = {"not_entailment": "neutral"}


def check_out(out: Path) -> None:
    """Refuse an output folder that holds something.

    Raises:
        UsageError: It exists and is not an empty folder.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is not empty; choose a new folder")


def save(
    trained: Trained,
    data: LabelledSet,
    base: InstalledModel,
    *,
    held_out: HeldOut,
    out: Path,
    settings: TrainSettings,
    license: str,
    languages: tuple[str, ...],
) -> ModelConfig:
    """Write the folder: weights, tokenizer, manifest, `training.json`, `README.md`, and `adapter/` after LoRA.

    Args:
        trained: What training gave.
        data: The labels it was trained on.
        base: What it was trained from.
        held_out: Its scores on the reporting part.
        out: A new or empty folder.
        settings: How it was trained.
        license: Of the result, as the user states it.
        languages: The result was made for.

    Returns:
        The config in the folder's manifest.
    """
    out.mkdir(parents=True, exist_ok=True)
    trained.network.save_pretrained(out, safe_serialization=True)
    trained.tokenizer.save_pretrained(out)
    if trained.adapter:
        rank = settings.lora_rank
        save_adapter(out / "adapter", trained.adapter, rank=rank, alpha=2.0 * rank, classes=list(data.classes))
    config = ModelConfig(
        name=re.sub(r"[^A-Za-z0-9._-]", "-", out.resolve().name).strip("-._") or "trained",
        kind=data.task,
        family=base.config.family,
        languages=languages,
        license=license,
        context_length=settings.max_tokens,
        dtype="float32",
        memory_gib=base.config.memory_gib,
        source=FolderSource(upstream=f"trained from {base.config.name}"),
        label_map={name: _RELATION_OF.get(name, name) for name in data.classes},
        description=f"Trained on {len(data.examples):,} labelled pairs for {data.task}.",
    )
    card = _card(trained, data, base, held_out, settings, config)
    (out / "training.json").write_text(json.dumps(card, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (out / "README.md").write_text(_readme(card, config, held_out), encoding="utf-8")
    write_manifest(out, Manifest(config=config, files=hash_files(out, trust_memory=False)))
    return config


def _card(
    trained: Trained,
    data: LabelledSet,
    base: InstalledModel,
    held_out: HeldOut,
    settings: TrainSettings,
    config: ModelConfig,
) -> dict[str, JsonValue]:
    return {
        "task": data.task,
        "base": base.config.name,
        "base_weights_hash": base.weights_hash,
        "base_license": base.config.license,
        "license": config.license,
        "languages": list(config.languages),
        "data_hash": data.data_hash,
        "pairs": {name: len(part) for name, part in zip(trained.parts._fields, trained.parts, strict=True)},
        "groups": {
            name: len({pair.group for pair in part})
            for name, part in zip(trained.parts._fields, trained.parts, strict=True)
        },
        "left_out_too_long": dict(trained.too_long),
        "stopping_losses": list(trained.losses),
        "best_epoch": trained.best_epoch,
        "settings": settings.model_dump(mode="json"),
        "held_out": held_out.model_dump(mode="json"),
    }


def _readme(card: dict[str, JsonValue], config: ModelConfig, held_out: HeldOut) -> str:
    lines = [
        f"# {config.name}",
        "",
        config.description,
        "",
        f"- Base: {card['base']} ({card['base_license']}), weights {str(card['base_weights_hash'])[:12]}",
        f"- Licence: {config.license}; languages: {', '.join(config.languages)}",
        f"- Data hash: {card['data_hash']}",
        f"- Pairs: {card['pairs']}; groups: {card['groups']}; left out as too long: {card['left_out_too_long']}",
        f"- Loss on the stopping part by epoch, from before training: {card['stopping_losses']}",
        "",
        "## Held-out scores",
        "",
        "Measured on groups of pairs that neither training nor stopping saw; 95 % intervals by resampling groups.",
        "",
        "| measure | value | interval | pairs |",
        "| --- | --- | --- | --- |",
        *(
            f"| {name} | {_value(found)} | {_interval(found)} | {found.n} |"
            for name, found in held_out.measures.items()
        ),
        "",
        held_out.sentence(),
        "",
    ]
    return "\n".join(lines)


def _value(found: Measured) -> str:
    return found.reason or "–" if found.value is None else f"{found.value:.3g}"


def _interval(found: Measured) -> str:
    if found.interval is None:
        return found.interval_reason or "–"
    return f"{found.interval.low:.3g} to {found.interval.high:.3g}"
