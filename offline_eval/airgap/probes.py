"""Facts about this machine that decide what can run on it, found without importing, starting or sending anything.

Why: `doctor` must answer quickly and safely on a machine where nothing works yet.
"""

import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from offline_eval.airgap.switches import check_switches
from offline_eval.core.records import Record

OPTIONAL_MODULES: tuple[str, ...] = (
    "vllm",
    "transformers",
    "torch",
    "outlines",
    "outlines_core",
    "safetensors",
    "gguf",
    "sentence_transformers",
    "onnxruntime",
    "faiss",
    "bm25s",
    "jieba",
)
CPU_FEATURES: tuple[str, ...] = ("avx2", "avx512f", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8")

_ROUTE_IS_UP = 0x1


class MachineFacts(Record):
    """What was found.

    Attributes:
        switch_problems: One line per offline switch that is not as it must be; empty when all are.
        default_routes: Network interfaces with a way out of this machine's networks; empty inside an air gap.
        modules: Optional module to whether it can be imported here; nothing was imported to find out.
        cpus: Cores this process may use.
        cpu_features: Those of `CPU_FEATURES` the processor has, in that order.
        memory_total: Bytes; None when the system does not say.
        memory_available: Bytes a new process can get without swapping; None when the system does not say.
        disk_free: Bytes free for this user where runs and models are kept.
        gpus: Names of NVIDIA cards, `unknown` for one whose driver gives no name.
        nvidia_smi: Whether the driver's own tool is on the path.
    """

    python: str
    platform: str
    switch_problems: tuple[str, ...]
    default_routes: tuple[str, ...]
    modules: dict[str, bool]
    cpus: int
    cpu_features: tuple[str, ...]
    memory_total: int | None
    memory_available: int | None
    disk_free: int
    gpus: tuple[str, ...]
    nvidia_smi: bool


def probe_machine(
    folder: Path, *, environ: Mapping[str, str] = os.environ, proc: Path = Path("/proc"), dev: Path = Path("/dev")
) -> MachineFacts:
    """Collect the facts.

    Args:
        folder: Where runs and models are kept; it need not exist yet.
        environ: The environment whose switches are checked.
        proc: The kernel's process file system.
        dev: The device folder.

    Returns:
        The facts; what the system does not tell is None or empty.
    """
    memory = _memory(proc)
    return MachineFacts(
        python=platform.python_version(),
        platform=platform.platform(),
        switch_problems=tuple(check_switches(environ)),
        default_routes=default_routes(proc),
        modules={name: importable(name) for name in OPTIONAL_MODULES},
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        cpu_features=cpu_features(proc),
        memory_total=memory.get("MemTotal"),
        memory_available=memory.get("MemAvailable"),
        disk_free=shutil.disk_usage(_existing(folder)).free,
        gpus=gpus(proc, dev),
        nvidia_smi=shutil.which("nvidia-smi") is not None,
    )


def default_routes(proc: Path = Path("/proc")) -> tuple[str, ...]:
    """Interfaces that hold a default route, IPv4 and IPv6, sorted; loopback's own entries do not count."""
    found: set[str] = set()
    for line in _lines(proc / "net" / "route")[1:]:
        column = line.split()
        if len(column) > 7 and column[1] == column[7] == "00000000" and int(column[3], 16) & _ROUTE_IS_UP:
            found.add(column[0])
    for line in _lines(proc / "net" / "ipv6_route"):
        column = line.split()
        if len(column) > 9 and column[0] == "0" * 32 and column[1] == "00" and column[9] != "lo":
            found.add(column[9])
    return tuple(sorted(found))


def importable(name: str) -> bool:
    """Whether a top-level module could be imported, found out without importing it."""
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def cpu_features(proc: Path = Path("/proc")) -> tuple[str, ...]:
    """Those of `CPU_FEATURES` that the first processor reports."""
    for line in _lines(proc / "cpuinfo"):
        if line.startswith("flags"):
            flags = set(line.split())
            return tuple(feature for feature in CPU_FEATURES if feature in flags)
    return ()


def processor_name(proc: Path = Path("/proc")) -> str:
    """What the first processor calls itself; the kind of machine where it has no name."""
    for line in _lines(proc / "cpuinfo"):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def gpus(proc: Path = Path("/proc"), dev: Path = Path("/dev")) -> tuple[str, ...]:
    """Names of the NVIDIA cards this process can see, from the driver's files or, without them, its device nodes."""
    names = [
        line.partition(":")[2].strip()
        for card in sorted(proc.glob("driver/nvidia/gpus/*/information"))
        for line in _lines(card)
        if line.startswith("Model:")
    ]
    if names:
        return tuple(names)
    nodes = [node for node in dev.glob("nvidia*") if re.fullmatch(r"nvidia\d+", node.name)]
    return ("unknown",) * len(nodes)


def _memory(proc: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in _lines(proc / "meminfo"):
        name, _, rest = line.partition(":")
        if rest.split()[1:] == ["kB"]:
            found[name] = int(rest.split()[0]) * 1024
    return found


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _existing(folder: Path) -> Path:
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder
