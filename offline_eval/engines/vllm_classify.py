"""vLLM's classification heads as cross-encoders: three-way NLI, answerability and reranking heads on packed batches.

vLLM pads nothing, so that long and short pairs together cost no more than their tokens. It gets token ids and gives
logits back; reading a pair and naming the probabilities is the code of the Transformers backend.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from offline_eval.core.errors import ModelError
from offline_eval.core.evidence import Guarantee
from offline_eval.core.protocols import EngineInfo, Failure
from offline_eval.engines.inprocess import EngineSpec, engine_info
from offline_eval.engines.pair_encoding import EncodedPair, PairEncoder, named_probabilities

_BATCH_TOKENS = 4096  # of one step; a window longer than that sets it


class VllmClassifier:
    """A sequence-classification model inside vLLM.

    In certified mode every pair is computed alone, so that nothing beside it can move its score.

    Args:
        spec: With `relations`; `batch_size` is the number of pairs computed together.

    Raises:
        ModelError: vLLM does not know the architecture, or its head has another number of outputs.
    """

    def __init__(self, spec: EngineSpec) -> None:
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")  # our worker is already a process of its own
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")  # an encoder keeps nothing between pairs
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
        import torch
        import vllm
        from transformers import AutoTokenizer

        _require_known(spec, vllm)
        self._vllm = vllm
        self._relations = spec.relations
        self._encoder = PairEncoder(
            AutoTokenizer.from_pretrained(spec.folder, local_files_only=True, trust_remote_code=False),
            template=spec.template_options.get("pair_text"),
            window=spec.context_length,
            model=spec.model,
        )
        has_gpu = torch.cuda.is_available()
        settings: dict[str, Any] = {
            "model": spec.folder,
            "tokenizer": spec.folder,
            "runner": "pooling",
            "dtype": spec.dtype,
            "max_model_len": spec.context_length,
            "max_num_seqs": 1 if spec.certified else spec.batch_size,
            "max_num_batched_tokens": max(_BATCH_TOKENS, spec.context_length),
            "seed": spec.seed,
            "enable_prefix_caching": False,  # a score must not depend on the pairs before it
            "load_format": "safetensors",
            "trust_remote_code": False,
            "enforce_eager": not has_gpu,
            "disable_log_stats": True,
        }
        self._llm = vllm.LLM(**(settings | spec.options))
        self.info = _classifier_info(
            spec,
            device=torch.cuda.get_device_name(0) if has_gpu else "cpu",
            versions={"vllm": vllm.__version__, "torch": torch.__version__},
        )

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
        """Score pairs, as `CrossEncoderScorer.score` does."""
        encoded = self._encoder.encode(pairs)
        fitting = self._encoder.fitting(encoded)
        rows = dict(zip(fitting, self._compute(fitting), strict=True))
        return [rows[pair] if pair in rows else self._encoder.too_long(pair) for pair in encoded]

    def close(self) -> None:
        """Shut the engine down; the worker process ends afterwards."""
        del self._llm

    def _compute(self, pairs: Sequence[EncodedPair]) -> list[dict[str, float]]:
        if not pairs:
            return []
        outputs = self._llm.classify(
            [{"prompt_token_ids": list(pair.ids)} for pair in pairs],
            pooling_params=[self._pooling(pair) for pair in pairs],
            use_tqdm=False,
        )
        logits = [output.outputs.probs for output in outputs]  # named so, but no activation was asked for
        if len(logits[0]) != len(self._relations):
            raise ModelError(f"vLLM's head has {len(logits[0])} outputs, the model's config names {self._relations}")
        return [named_probabilities(row, self._relations) for row in logits]

    def _pooling(self, pair: EncodedPair) -> Any:
        params = self._vllm.PoolingParams(use_activation=False)
        if 1 in pair.types:
            # vLLM is told where the second segment begins, as its own scoring does.
            params.extra_kwargs = {"compressed_token_type_ids": pair.types.index(1)}
        return params


def _require_known(spec: EngineSpec, vllm: Any) -> None:
    """Refuse before anything is loaded: vLLM would run an unknown architecture by other code, or die in its middle."""
    stated = json.loads((Path(spec.folder) / "config.json").read_text(encoding="utf-8"))
    names: list[str] = stated.get("architectures") or []
    known = set(vllm.ModelRegistry.get_supported_archs())
    if not any(_is_known(name, known) for name in names):
        raise ModelError(
            f"vLLM {vllm.__version__} has no {' or '.join(names) or 'stated architecture'}; "
            "use --encoder-engine transformers"
        )


def _is_known(name: str, known: set[str]) -> bool:
    """Whether vLLM has the architecture, or the language model that it turns into a classifier."""
    ending = "ForSequenceClassification"
    return name in known or (name.endswith(ending) and name.removesuffix(ending) + "ForCausalLM" in known)


def _classifier_info(spec: EngineSpec, *, device: str, versions: dict[str, str]) -> EngineInfo:
    options = {
        "certified": spec.certified,
        "long_pair": "refused",
        "batch_size": 1 if spec.certified else spec.batch_size,
        **spec.options,
    }
    without_grammar = {"guarantee": Guarantee.NONE, "grammar_backend": "none", "options": options}
    return engine_info(spec, device=device, versions=versions).model_copy(update=without_grammar)


ENGINE = VllmClassifier
