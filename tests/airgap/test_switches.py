import os
import subprocess
import sys

from offline_eval.airgap.switches import OFFLINE_SWITCHES, check_switches, set_switches


def test_all_switches_are_set_and_modelscope_is_removed() -> None:
    environ = {"VLLM_USE_MODELSCOPE": "True", "HF_HUB_OFFLINE": "0", "HOME": "/home/someone"}
    set_switches(environ)
    assert environ == {**OFFLINE_SWITCHES, "HOME": "/home/someone"}
    assert check_switches(environ) == []


def test_every_missing_switch_is_named() -> None:
    assert [line.split()[0] for line in check_switches({})] == list(OFFLINE_SWITCHES)


def test_a_switch_with_another_value_and_a_forbidden_one_are_named() -> None:
    environ = {**OFFLINE_SWITCHES, "RAY_USAGE_STATS_ENABLED": "1", "VLLM_USE_MODELSCOPE": "0"}
    assert check_switches(environ) == [
        "RAY_USAGE_STATS_ENABLED is '1', must be '0'",
        "VLLM_USE_MODELSCOPE is set, must not be",
    ]


def test_an_empty_plugin_list_is_set_not_missing() -> None:
    without = {name: value for name, value in OFFLINE_SWITCHES.items() if name != "VLLM_PLUGINS"}
    assert check_switches(without) == ["VLLM_PLUGINS is None, must be ''"]


def test_a_hub_library_imported_before_the_switches_is_found() -> None:
    code = (
        "import sys, types\n"
        "hub = types.ModuleType('huggingface_hub.constants'); hub.HF_HUB_OFFLINE = False\n"
        "sys.modules['huggingface_hub.constants'] = hub\n"
        "from offline_eval.airgap.switches import set_switches, check_switches\n"
        "set_switches(); print(check_switches())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert "imported before HF_HUB_OFFLINE was set" in done.stdout


def test_no_command_loads_a_library_that_reads_the_switches_before_they_are_set() -> None:
    code = (
        "import sys\n"
        "from importlib import import_module\n"
        "from offline_eval.cli.main import COMMANDS\n"
        "for name in COMMANDS: import_module(f'offline_eval.cli.{name}')\n"
        "readers = {'huggingface_hub', 'transformers', 'datasets', 'vllm', 'ray', 'torch', 'sentence_transformers'}\n"
        "readers.add('onnxruntime')\n"
        "print(sorted(readers & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_program_sets_the_switches_before_it_looks_at_its_arguments() -> None:
    code = (
        "from offline_eval.cli.main import run_cli\n"
        "from offline_eval.airgap.switches import check_switches\n"
        "assert len(check_switches()) > 5\n"
        "run_cli(['no-such-command']); print(check_switches())"
    )
    environ = {name: value for name, value in os.environ.items() if name not in OFFLINE_SWITCHES}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    assert done.stdout.strip() == "[]"
