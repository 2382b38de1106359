"""A classification head as ONNX with 8-bit weights: made once from a verified model, kept, and checked at loading.

Quantized beforehand, a model loads in a moment. What is kept lies outside the verified folder, whose files are hashed,
and is named by the weights and by everything that made it, so that another version makes a file of its own.
"""

import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from offline_eval.airgap.switches import OFFLINE_SWITCHES
from offline_eval.core.errors import EngineError
from offline_eval.core.hashing import digest, file_digest
from offline_eval.core.protocols import ProgressCallback
from offline_eval.engines.cross_encoder import load_network
from offline_eval.engines.first_token import read_first_token_only
from offline_eval.engines.pair_batches import PairBatches
from offline_eval.engines.pair_encoding import EncodedPair
from offline_eval.models.hashes import model_files
from offline_eval.models.home import derived_home
from offline_eval.models.installed import InstalledModel
from offline_eval.models.staging import staging_folder

MADE_BY = ("onnx", "onnxruntime", "onnxscript", "torch", "transformers")
"""Packages whose version can move what is made."""

_RECIPE = 1  # another one makes other files
_FILE = "model.onnx"
_CONTENTS = "made.json"
_STEPS = 3  # export, check, quantize
_EXACT = 1e-3  # of a logit: far above float rounding, far below what a wrongly traced branch does
_MOST_LABELS = 8  # of a head; a layer is far wider
_EXTERNAL_BYTES = 1 << 30  # weights beyond this go into a file beside; a protobuf ends at 2 GiB


class Inputs(NamedTuple):
    """What a network reads.

    Attributes:
        segments: Whether token types are part of it.
        padding: Token id of what is filled up.
    """

    segments: bool
    padding: int

    @property
    def names(self) -> tuple[str, ...]:
        """The arrays, in the order in which a converted network takes them."""
        return ("input_ids", "attention_mask", *(("token_type_ids",) if self.segments else ()))


def made_by() -> dict[str, str]:
    """The packages of `MADE_BY` with their versions; all are installed."""
    runtime = onnx_runtime()  # comes in distributions of several names
    return {name: runtime.__version__ if name == "onnxruntime" else version(name) for name in MADE_BY}


def quantized_model(
    model: InstalledModel,
    inputs: Inputs,
    *,
    announce: Callable[[str], None] = lambda line: None,
    progress: ProgressCallback = lambda done, total: None,
) -> Path:
    """The ONNX file of a model; made if it is not there, and made again if it is damaged.

    Args:
        announce: Called with a line about what begins.
        progress: Called with steps done and in all.

    Raises:
        EngineError: The network cannot be converted.
        ModelError: The folder of derived files cannot be written.
    """
    made = {"weights": model.weights_hash, "inputs": inputs._asdict(), "recipe": _RECIPE, "versions": made_by()}
    folder = derived_home() / "onnx" / digest("OnnxModel", made)[:32]
    if _is_intact(folder):
        return folder / _FILE
    again = f"{folder} is damaged and made again" if folder.exists() else f"once, kept in {folder}"
    announce(f"converting {model.config.name} to ONNX with 8-bit weights; {again}")
    with staging_folder() as staging:
        finished = staging / "finished"
        finished.mkdir()
        _convert(model, inputs, staging / "float32.onnx", finished / _FILE, progress=progress)
        files = {path: file_digest(finished / path) for path in model_files(finished)}
        contents = {"model": model.config.name, **made, "files": files}
        (finished / _CONTENTS).write_text(json.dumps(contents, indent=1), encoding="utf-8")
        _put(finished, folder)
    return folder / _FILE


def export_float(network: Any, inputs: Inputs, file: Path) -> None:
    """Write a network as float32 ONNX: (n_pairs, n_tokens) of any size in, logits (n_pairs, n_labels) out.

    Args:
        network: A transformers network for sequence classification; on the CPU, in float32, not training.

    Raises:
        EngineError: The exporter does not know how.
    """
    import torch

    class Logits(torch.nn.Module):  # type: ignore[misc]
        """The logits alone, with named inputs in a fixed order."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *arrays: torch.Tensor) -> torch.Tensor:
            return self.network(**dict(zip(inputs.names, arrays, strict=True))).logits

    sample = tuple(torch.from_numpy(array) for array in _sample(network, inputs, rows=2, width=8).values())
    sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    try:
        with _quiet():
            program = torch.onnx.export(
                Logits().eval(),
                sample,
                dynamo=True,
                input_names=list(inputs.names),
                output_names=["logits"],
                dynamic_shapes=((sizes,) * len(sample),),
                verbose=False,
            )
            program.save(file, external_data=True)
    except Exception as error:  # an exporter that meets unknown code raises anything
        raise EngineError(_not_convertible(network, _reason(error))) from error


def quantize(plain: Path, out: Path) -> None:
    """Quantize the layers' weights to 8 bits, a scale for each channel; embeddings and the head stay in float32.

    Weights take 7 bits of the 8: older processors add two products in 16 bits, which would overflow.

    Args:
        plain: A file of `export_float`; its notes on shapes are removed.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    program = onnx.load(plain, load_external_data=False)
    narrow = {tensor.name for tensor in program.graph.initializer if tensor.dims and tensor.dims[-1] <= _MOST_LABELS}
    head = [node.name for node in program.graph.node if node.op_type == "Gemm" or narrow & set(node.input[1:2])]
    del program.graph.value_info[:]  # the quantizer turns the head's weights and would find their old shape here
    onnx.save(program, plain)
    size = sum(path.stat().st_size for path in plain.parent.glob(f"{plain.name}*"))
    with _quiet():
        quantize_dynamic(
            plain,
            out,
            op_types_to_quantize=["MatMul"],
            nodes_to_exclude=[*head, *(f"{name}_MatMul" for name in head)],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            use_external_data_format=size > _EXTERNAL_BYTES,
        )


def open_session(file: Path) -> Any:
    """ONNX Runtime on the processor with as many threads as torch takes.

    Raises:
        EngineError: It cannot load the file, or would report its use.
    """
    import torch

    runtime = onnx_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3  # errors
    try:
        return runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no class in common
        raise EngineError(f"ONNX Runtime cannot load {file}: {_reason(error)}") from error


def onnx_runtime() -> Any:
    """The library, told to report nothing before it is loaded.

    Raises:
        EngineError: Something else loaded it before, with its reports on.
    """
    name, value = "ORT_DISABLE_TELEMETRY", OFFLINE_SWITCHES["ORT_DISABLE_TELEMETRY"]
    if "onnxruntime" in sys.modules and os.environ.get(name) != value:
        raise EngineError(f"ONNX Runtime was loaded before {name}={value} was set and may report its use; set it first")
    os.environ[name] = value
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def _convert(model: InstalledModel, inputs: Inputs, plain: Path, out: Path, *, progress: ProgressCallback) -> None:
    progress(0, _STEPS)
    network = load_network(model, "float32")
    network.eval()
    network.set_attn_implementation("eager")  # the exporter writes another one with a check for NaN in every layer
    read_first_token_only(network)
    export_float(network, inputs, plain)
    progress(1, _STEPS)
    _require_same(network, inputs, plain)
    progress(2, _STEPS)
    quantize(plain, out)
    progress(_STEPS, _STEPS)


def _require_same(network: Any, inputs: Inputs, plain: Path) -> None:
    """The float32 file gives the network's logits at other sizes than those it was traced with."""
    import torch

    session = open_session(plain)
    for rows, width in ((1, 5), (3, 24)):
        arrays = _sample(network, inputs, rows=rows, width=width)
        with torch.inference_mode():
            expected = network(**{name: torch.from_numpy(array) for name, array in arrays.items()}).logits.numpy()
        (found,) = session.run(None, arrays)
        if found.shape != expected.shape or not np.allclose(found, expected, rtol=_EXACT, atol=_EXACT):
            raise EngineError(_not_convertible(network, "the converted network gives other scores"))


def _sample(network: Any, inputs: Inputs, *, rows: int, width: int) -> dict[str, npt.NDArray[np.int64]]:
    """Random tokens in rows of falling length, padded as pairs are."""
    draw = np.random.default_rng(0)
    vocabulary = network.get_input_embeddings().num_embeddings
    batch = []
    for length in range(width, width - rows, -1):
        types = tuple(int(at > length // 2) for at in range(length)) if inputs.segments else ()
        batch.append(EncodedPair(tuple(draw.integers(0, vocabulary, size=length).tolist()), types))
    return PairBatches(window=width, budget=rows * width).arrays(batch, padding=inputs.padding)


def _is_intact(folder: Path) -> bool:
    """Whether a folder holds what was written there."""
    try:
        files = json.loads((folder / _CONTENTS).read_text(encoding="utf-8"))["files"]
        return _FILE in files and all(file_digest(folder / path) == sha for path, sha in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _put(finished: Path, folder: Path) -> None:
    """Give a finished folder its name; whoever comes second, at the same time, finds it taken and intact."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists() and not _is_intact(folder):
        folder.rename(finished.with_name("damaged"))  # goes with the staging folder
    try:
        finished.rename(folder)
    except OSError:
        if not _is_intact(folder):
            raise


@contextmanager
def _quiet() -> Iterator[None]:
    """Converters warn and log about themselves; what matters about their result is checked instead."""
    quiet, before = logging.NullHandler(), logging.root.manager.disable
    logging.root.addHandler(quiet)  # without one, their first line would set up logging for the whole program
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
        logging.root.removeHandler(quiet)


def _not_convertible(network: Any, why: str) -> str:
    return f"{type(network).__name__} cannot be converted to ONNX ({why}); use --encoder-engine transformers"


def _reason(error: BaseException) -> str:
    """The first line of what began it; what is wrapped around gives advice about another program."""
    while error.__cause__ is not None:
        error = error.__cause__
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
