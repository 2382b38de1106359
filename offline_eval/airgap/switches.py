"""Environment switches that keep model libraries from calling home; they work only when set before the first import."""

import os
import sys
from collections.abc import Mapping, MutableMapping

OFFLINE_SWITCHES: dict[str, str] = {
    # Model hubs: never ask, never report, never send a token that happens to lie around.
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    # Usage statistics.
    "DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "OTEL_SDK_DISABLED": "true",
    "ORT_DISABLE_TELEMETRY": "1",  # ONNX Runtime from 1.29 on would report its use, from C code that no guard sees
    # No third-party code is loaded into the engine by entry point.
    "VLLM_PLUGINS": "",
    # Without these, vLLM opens a socket towards a public address to learn its own, and gloo and NCCL look up the
    # host's name and bind a network card. One machine needs loopback only.
    "VLLM_HOST_IP": "127.0.0.1",
    "GLOO_SOCKET_IFNAME": "lo",
    "NCCL_SOCKET_IFNAME": "lo",
}
"""Variable to the value it must have."""

MUST_BE_UNSET: tuple[str, ...] = ("VLLM_USE_MODELSCOPE",)
"""Variables whose mere presence can send a library to the network."""


def set_switches(environ: MutableMapping[str, str] = os.environ) -> None:
    """Set every switch and remove what must not be set; call it before anything imports the model stack.

    Args:
        environ: The environment to change; children inherit it.
    """
    environ.update(OFFLINE_SWITCHES)
    for name in MUST_BE_UNSET:
        environ.pop(name, None)


def check_switches(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Find what is not as `set_switches` leaves it.

    Args:
        environ: The environment to look at.

    Returns:
        One line per deviation, naming the variable; empty when all is well.
    """
    wrong = [
        f"{name} is {environ.get(name)!r}, must be {value!r}"
        for name, value in OFFLINE_SWITCHES.items()
        if environ.get(name) != value
    ]
    wrong += [f"{name} is set, must not be" for name in MUST_BE_UNSET if name in environ]
    # The hub library reads its switch once, at import: too late is the same as never.
    hub = sys.modules.get("huggingface_hub.constants")
    if hub is not None and not getattr(hub, "HF_HUB_OFFLINE", False):
        wrong.append("huggingface_hub was imported before HF_HUB_OFFLINE was set")
    return wrong
