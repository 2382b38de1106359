"""Low-rank adapters: a few thousand numbers beside frozen weights, so that what training changed stays small."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from offline_eval.core.errors import ModelError

_TARGETS = ("query", "key", "value", "query_proj", "key_proj", "value_proj", "q_proj", "k_proj", "v_proj", "Wqkv")
_FILE = "adapter.safetensors"
_SETTINGS = "adapter.json"


def add_adapters(network: Any, *, rank: int, alpha: float, seed: int) -> list[str]:
    """Freeze a network's body and put an adapter beside every attention projection; the head stays trainable.

    Args:
        network: A sequence classifier, changed in place.
        rank: Of the adapters, 1 or more.
        alpha: Their contribution is scaled by alpha / rank.
        seed: Of the first factors; the second ones start at 0, so nothing changes before training.

    Returns:
        Names of the adapted modules.

    Raises:
        ModelError: The network has no attention projection of a known name.

    Source:
        Hu et al. (2022), LoRA, ICLR.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    for parameter in network.base_model.parameters():
        parameter.requires_grad = False
    names = [
        name
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.Linear) and name.rsplit(".", 1)[-1] in _TARGETS
    ]
    if not names:
        raise ModelError(f"none of {', '.join(_TARGETS)} is in this model; train it without --lora")
    for name in names:
        module = network.get_submodule(name)
        down = torch.randn(rank, module.in_features, generator=generator) / module.in_features**0.5
        module.register_parameter("lora_down", torch.nn.Parameter(down))
        module.register_parameter("lora_up", torch.nn.Parameter(torch.zeros(module.out_features, rank)))
        module.register_forward_hook(_hook(alpha / rank))
    return names


def merge_adapters(network: Any, names: list[str], *, rank: int, alpha: float) -> dict[str, Any]:
    """Add the adapters into the weights, so that the network is an ordinary one again.

    Returns:
        The adapters and the head, by name: what `save_adapter` keeps.
    """
    import torch

    kept: dict[str, Any] = {}
    with torch.no_grad():
        for name in names:
            module = network.get_submodule(name)
            kept[f"{name}.lora_down"] = module.lora_down.detach().clone()
            kept[f"{name}.lora_up"] = module.lora_up.detach().clone()
            module.weight += (alpha / rank) * module.lora_up @ module.lora_down
            del module.lora_down, module.lora_up
            module._forward_hooks.clear()
    body = {id(parameter) for parameter in network.base_model.parameters()}
    kept |= {
        name: parameter.detach().clone() for name, parameter in network.named_parameters() if id(parameter) not in body
    }
    return kept


def save_adapter(folder: Path, tensors: Mapping[str, Any], *, rank: int, alpha: float, classes: list[str]) -> None:
    """Write an adapter: its tensors as safetensors, its settings as JSON."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / _FILE)
    settings = {"format": 1, "rank": rank, "alpha": alpha, "classes": classes}
    (folder / _SETTINGS).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def apply_adapter(network: Any, folder: Path) -> None:
    """Add a saved adapter to a network of the same base, in place.

    Raises:
        ModelError: The adapter cannot be read or belongs to another base.
    """
    import torch
    from safetensors.torch import load_file

    try:
        settings = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
        tensors = load_file(folder / _FILE)
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder} holds no readable adapter ({error}); copy it again") from error
    scale = settings["alpha"] / settings["rank"]
    known = dict(network.named_parameters())
    with torch.no_grad():
        for name, tensor in tensors.items():
            if name.endswith(".lora_down"):
                continue
            target = f"{name.removesuffix('.lora_up')}.weight" if name.endswith(".lora_up") else name
            change = (
                scale * tensor @ tensors[f"{name.removesuffix('.lora_up')}.lora_down"] if target != name else tensor
            )
            if target not in known or known[target].shape != change.shape:
                raise ModelError(f"{folder} does not fit this base: {target} is missing or of another shape")
            known[target].copy_(known[target] + change if target != name else change)


def _hook(scale: float) -> Any:
    def add(module: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        return output + scale * (inputs[0] @ module.lora_down.T) @ module.lora_up.T

    return add
