"""Transformers in process: the embedded engine of a machine without vLLM; one decoding loop under token masks."""

from collections.abc import Sequence
from typing import Any

from offline_eval.core.errors import EngineError, ModelError
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation
from offline_eval.engines.inprocess import EngineSpec, Prepared, Preparer, choose, engine_info
from offline_eval.engines.prefix_batches import common_prefix, cut_batches

_WORTH_SHARING = 32  # tokens


class TransformersEngine:
    """A causal language model on the best local device, decoding greedily in fixed batches.

    Batches are cut so that prompts with a long common beginning meet: it is computed once for the batch, and the same
    requests in any order are computed together.
    """

    def __init__(self, spec: EngineSpec) -> None:
        import llguidance
        import torch
        import transformers
        from transformers import AutoModelForCausalLM

        self._spec = spec
        self._torch = torch
        self._preparer = Preparer(spec)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(spec.seed)
        self._model, loading = AutoModelForCausalLM.from_pretrained(
            spec.folder,
            dtype=getattr(torch, spec.dtype),
            trust_remote_code=False,
            local_files_only=True,
            use_safetensors=True,
            output_loading_info=True,
        )
        missing = sorted(loading["missing_keys"])
        if missing:  # the library would go on with random numbers
            raise ModelError(f"{spec.folder}: {len(missing)} weights are missing, {missing[0]} first; copy it again")
        self._model.eval().to(device)
        text_config = self._model.config.get_text_config()
        self._has_sliding_window = getattr(text_config, "sliding_window", None) is not None
        self._end = self._preparer.end_id
        tokenizer_json = self._preparer.encoder.tokenizer.backend_tokenizer.to_str()
        self._masks = llguidance.LLTokenizer(tokenizer_json, eos_token=self._end)
        versions = {"torch": torch.__version__, "transformers": transformers.__version__}
        info = engine_info(spec, device=device, versions=versions)
        options = {**info.options, "batches": "by prefix"}  # what is computed together moves the last bits
        self.info: EngineInfo = info.model_copy(update={"options": options})

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order."""
        ready, results = self._preparer.prepare(requests)
        done: dict[int, Generation | Failure] = dict(results)
        for kind in (True, False):
            chosen = [prepared for prepared in ready if bool(prepared.label_ids) is kind]
            passes = max((prepared.budget for prepared in chosen), default=1)
            prompts = [prepared.prompt for prepared in chosen]
            for indices in cut_batches(prompts, size=self._spec.batch_size, passes=passes):
                batch = [chosen[index] for index in indices]
                with self._torch.inference_mode():
                    answers = self._labels(batch) if kind else self._decode(batch)
                done.update({prepared.position: answer for prepared, answer in zip(batch, answers, strict=True)})
        return [done[position] for position in range(len(requests))]

    def close(self) -> None:
        """Forget the model; the process that holds it gives the memory back when it ends."""
        del self._model

    def _labels(self, batch: Sequence[Prepared]) -> list[Generation | Failure]:
        logits, _, _ = self._prefill(batch)
        logprobs = self._torch.log_softmax(logits.float(), dim=-1)  # (n_requests, vocabulary), natural log
        rows: list[Generation | Failure] = []
        for row, prepared in enumerate(batch):
            values = {label: float(logprobs[row, index]) for label, index in prepared.label_ids.items()}
            rows.append(choose(prepared, values))
        return rows

    def _prefill(self, batch: Sequence[Prepared]) -> tuple[Any, Any, Any]:
        """Run all prompts at once: their common prefix for one row, the rest padded on the left.

        Returns:
            Last logits (n_requests, vocabulary), the cache, and the attention mask (n_requests, positions).
        """
        torch, device = self._torch, self._model.device
        shared = self._shared_prefix(batch)
        cache = None
        if shared:
            prefix = torch.tensor([batch[0].prompt[:shared]], device=device)
            cache = self._model(input_ids=prefix, use_cache=True, logits_to_keep=1).past_key_values
            cache.batch_repeat_interleave(len(batch))
        rests = [prepared.prompt[shared:] for prepared in batch]
        width = max(len(rest) for rest in rests)
        ids = torch.full((len(batch), width), self._end, dtype=torch.long)
        mask = torch.zeros((len(batch), shared + width), dtype=torch.long)
        mask[:, :shared] = 1
        for row, rest in enumerate(rests):
            ids[row, width - len(rest) :] = torch.tensor(rest)
            mask[row, shared + width - len(rest) :] = 1
        ids, mask = ids.to(device), mask.to(device)
        positions = (mask.cumsum(dim=-1) - 1).clamp(min=0)[:, shared:]
        output = self._model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        return output.logits[:, -1, :], output.past_key_values, mask

    def _shared_prefix(self, batch: Sequence[Prepared]) -> int:
        """Tokens that all prompts begin with, leaving each at least one; 0 when sharing is not worth it or not exact.

        Padding then stands between prefix and rest, which a sliding attention window would count as distance.
        """
        if len(batch) == 1 or self._has_sliding_window:
            return 0
        first, last = min(p.prompt for p in batch), max(p.prompt for p in batch)
        shared = min(common_prefix(first, last), min(len(p.prompt) for p in batch) - 1)
        return shared if shared >= _WORTH_SHARING else 0

    def _decode(self, batch: Sequence[Prepared]) -> list[Generation | Failure]:
        torch = self._torch
        matchers = [self._matcher(prepared.regex) for prepared in batch]
        outputs: list[list[int]] = [[] for _ in batch]
        stopped = [False] * len(batch)
        logits, cache, mask = self._prefill(batch)
        for _ in range(max(prepared.budget for prepared in batch)):
            tokens = self._step(logits, matchers, stopped=stopped)
            for row, token in enumerate(tokens):
                if stopped[row]:
                    continue
                if token == self._end:
                    stopped[row] = True
                    continue
                matchers[row].consume_token(token)
                outputs[row].append(token)
            if all(stopped):
                break
            mask = torch.cat([mask, torch.ones((len(batch), 1), dtype=mask.dtype, device=mask.device)], dim=1)
            position = mask.sum(dim=-1, keepdim=True) - 1
            step = torch.tensor(tokens, device=mask.device).unsqueeze(1)
            output = self._model(
                input_ids=step, attention_mask=mask, position_ids=position, past_key_values=cache, use_cache=True
            )
            logits, cache = output.logits[:, -1, :], output.past_key_values
        return [self._preparer.read(prepared, outputs[row], stopped=stopped[row]) for row, prepared in enumerate(batch)]

    def _matcher(self, regex: str) -> Any:
        import llguidance

        return llguidance.LLMatcher(self._masks, llguidance.LLMatcher.grammar_from_regex(regex))

    def _step(self, logits: Any, matchers: Sequence[Any], *, stopped: Sequence[bool]) -> list[int]:
        """The most probable allowed token of each row; a finished row repeats the end token."""
        import numpy as np

        tokens = []
        for row, matcher in enumerate(matchers):
            if matcher.is_error():
                raise EngineError(f"the grammar's matcher failed: {matcher.get_error()}")
            if stopped[row] or matcher.is_stopped():
                tokens.append(self._end)
                continue
            bits = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8), bitorder="little")
            allowed = self._torch.from_numpy(np.flatnonzero(bits)).to(logits.device)
            allowed = allowed[allowed < logits.shape[-1]]  # a tokenizer may know more ids than the model
            tokens.append(int(allowed[logits[row, allowed].argmax()]))
        return tokens


ENGINE = TransformersEngine
