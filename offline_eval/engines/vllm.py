"""vLLM in process: prefix caching and continuous batching, called directly so that every field of a result is seen."""

import os
from collections.abc import Sequence
from typing import Any

from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation
from offline_eval.engines.inprocess import EngineSpec, Prepared, Preparer, choose, engine_info
from offline_eval.engines.labels_alone import LabelsAlone, forget_prefixes

_MAX_LABELS = 128  # vLLM's limit on logprob_token_ids
_INVARIANT_FROM = (8, 0)  # compute capability of the first cards that batch-invariant kernels run on


class VllmEngine:
    """A model inside vLLM; greedy, grammar through llguidance, label probabilities before any mask."""

    def __init__(self, spec: EngineSpec) -> None:
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")  # our worker is already a process of its own
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "4")
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
        os.environ.setdefault("VLLM_REGEX_COMPILATION_TIMEOUT_S", "120")
        import torch

        is_invariant = spec.certified and _can_be_invariant(torch)
        if is_invariant:  # on a CPU the switch crashes the engine; there labels are computed alone
            os.environ["VLLM_BATCH_INVARIANT"] = "1"
        import vllm

        self._spec = spec
        self._vllm = vllm
        self._preparer = Preparer(spec)
        has_gpu = torch.cuda.is_available()
        settings: dict[str, Any] = {
            "model": spec.folder,
            "tokenizer": spec.folder,
            "dtype": spec.dtype,
            "max_model_len": spec.context_length,
            "max_num_seqs": spec.batch_size,
            "seed": spec.seed,
            "generation_config": "vllm",  # else a checkpoint's sampling defaults leak in
            "logprobs_mode": "raw_logprobs",
            "max_logprobs": _MAX_LABELS,
            "enable_prefix_caching": True,
            "structured_outputs_config": {"backend": "guidance"},
            "load_format": "safetensors",
            "trust_remote_code": False,
            "enforce_eager": not has_gpu,
            "disable_log_stats": True,
        }
        if is_invariant:
            settings["attention_backend"] = "FLASH_ATTN"  # keeps the prefix cache, which the others give up
        self._llm = vllm.LLM(**(settings | spec.options))
        is_alone = spec.certified and not is_invariant
        self._labels_alone = LabelsAlone(self._llm, vllm.SamplingParams) if is_alone else None
        device = torch.cuda.get_device_name(0) if has_gpu else "cpu"
        versions = {"vllm": vllm.__version__, "torch": torch.__version__}
        info = engine_info(spec, device=device, versions=versions)
        more: dict[str, Any] = {"batch_invariant": True} if is_invariant else {}
        if self._labels_alone:
            more = {"labels_alone": True}  # part of the fingerprint: cached answers computed otherwise are no answers
        self.info: EngineInfo = info.model_copy(update={"options": {**info.options, **more}})

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order."""
        ready, failures = self._preparer.prepare(requests)
        done: dict[int, Generation | Failure] = dict(failures)
        if self._labels_alone:
            for prepared in (one for one in ready if one.label_ids):
                sampling = self._sampling(prepared)
                output = self._labels_alone.compute(prepared.prompt, head=prepared.head, sampling=sampling)
                done[prepared.position] = self._read(prepared, output)
        together = [prepared for prepared in ready if prepared.position not in done]
        if together:
            done.update(self._compute_together(together))
        return [done[position] for position in range(len(requests))]

    def _compute_together(self, ready: Sequence[Prepared]) -> dict[int, Generation | Failure]:
        if self._labels_alone:
            self._labels_alone.mix()
        outputs = self._llm.generate(
            [{"prompt_token_ids": prepared.prompt} for prepared in ready],
            [self._sampling(prepared) for prepared in ready],
            use_tqdm=False,
        )
        return {one.position: self._read(one, output) for one, output in zip(ready, outputs, strict=True)}

    def forget_prefixes(self) -> None:
        """Empty the prefix cache."""
        if self._labels_alone:
            self._labels_alone.forget_prefixes()
        else:
            forget_prefixes(self._llm)

    def close(self) -> None:
        """Shut the engine down; the worker process ends afterwards."""
        del self._llm

    def _sampling(self, prepared: Prepared) -> Any:
        neutral: dict[str, Any] = {
            "temperature": 0.0,
            "max_tokens": prepared.budget,
            "min_tokens": 0,
            "detokenize": False,
        }
        if prepared.label_ids:
            ids = list(prepared.label_ids.values())
            return self._vllm.SamplingParams(**neutral, allowed_token_ids=ids, logprob_token_ids=ids, logprobs=len(ids))
        form = self._vllm.sampling_params.StructuredOutputsParams(regex=prepared.regex)
        return self._vllm.SamplingParams(**neutral, structured_outputs=form)

    def _read(self, prepared: Prepared, output: Any) -> Generation | Failure:
        completion = output.outputs[0]
        if not prepared.label_ids:
            ids = [token for token in completion.token_ids if token != self._preparer.end_id]
            return self._preparer.read(prepared, ids, stopped=completion.finish_reason == "stop")
        first = completion.logprobs[0]
        return choose(prepared, {label: float(first[index].logprob) for label, index in prepared.label_ids.items()})


def _can_be_invariant(torch: Any) -> bool:
    return bool(torch.cuda.is_available()) and torch.cuda.get_device_capability(0) >= _INVARIANT_FROM


ENGINE = VllmEngine
