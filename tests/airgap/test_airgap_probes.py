import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from offline_eval.airgap.probes import cpu_features, default_routes, gpus, importable, probe_machine
from offline_eval.airgap.switches import OFFLINE_SWITCHES

HEADER = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_default_route_is_found_and_a_local_network_is_not_one(tmp_path: Path) -> None:
    local = "eth1\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
    write(tmp_path / "net" / "route", HEADER + local)
    assert default_routes(tmp_path) == ()
    write(tmp_path / "net" / "route", HEADER + "eth0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n" + local)
    assert default_routes(tmp_path) == ("eth0",)


def test_an_ipv6_default_route_counts_but_the_loopback_entry_does_not(tmp_path: Path) -> None:
    zero = "0" * 32
    lo = f"{zero} 00 {zero} 00 {zero} ffffffff 00000001 00000000 00200200       lo\n"
    write(tmp_path / "net" / "ipv6_route", lo)
    assert default_routes(tmp_path) == ()
    gateway = "fe80" + "0" * 27 + "1"
    write(
        tmp_path / "net" / "ipv6_route",
        lo + f"{zero} 00 {zero} 00 {gateway} 00000400 00000001 00000000 00000003 wlan0\n",
    )
    assert default_routes(tmp_path) == ("wlan0",)


def test_a_system_without_these_files_gives_no_facts_and_no_error(tmp_path: Path) -> None:
    assert default_routes(tmp_path) == ()
    assert cpu_features(tmp_path) == ()
    assert gpus(tmp_path, tmp_path) == ()
    facts = probe_machine(tmp_path, environ=OFFLINE_SWITCHES, proc=tmp_path, dev=tmp_path)
    assert facts.memory_total is None
    assert facts.switch_problems == ()


def test_cpu_features_are_whole_words(tmp_path: Path) -> None:
    write(tmp_path / "cpuinfo", "processor\t: 0\nflags\t\t: fpu avx2 avx512f_not amx_tile amx_bf16\n")
    assert cpu_features(tmp_path) == ("avx2", "amx_tile", "amx_bf16")


def test_cards_are_named_by_the_driver_or_counted_by_their_nodes(tmp_path: Path) -> None:
    for node in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        write(tmp_path / "dev" / node, "")
    assert gpus(tmp_path, tmp_path / "dev") == ("unknown", "unknown")
    write(tmp_path / "driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 1\n")
    assert gpus(tmp_path, tmp_path / "dev") == ("NVIDIA H200",)


def test_importable_does_not_import() -> None:
    code = (
        "import sys\n"
        "from offline_eval.airgap.probes import probe_machine, importable\n"
        "from pathlib import Path\n"
        "facts = probe_machine(Path('.'))\n"
        "assert importable('json') and not importable('no_such_module_here')\n"
        "print([name for name in facts.modules if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_module_without_a_spec_counts_as_there() -> None:
    assert importable("__main__")


def test_this_machine_answers(tmp_path: Path) -> None:
    facts = probe_machine(tmp_path / "not" / "yet" / "there", environ={})
    assert facts.python == platform.python_version()
    assert facts.cpus == len(os.sched_getaffinity(0))
    assert facts.memory_available is not None
    assert facts.memory_total is not None
    assert 0 < facts.memory_available <= facts.memory_total
    assert abs(facts.disk_free - shutil.disk_usage(tmp_path).free) < 2**32
    assert len(facts.switch_problems) == len(OFFLINE_SWITCHES)
    assert facts.modules["torch"] is importable("torch")
