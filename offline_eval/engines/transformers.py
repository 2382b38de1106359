"""Transformers in process: the embedded engine of a machine without vLLM; one decoding loop under token masks."""

from collections.abc import Sequence
from typing import Any

from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation
from offline_eval.engines.inprocess import EngineSpec, Prepared, Preparer, choose, engine_info


class TransformersEngine:
    """A causal language model on the best local device, decoding greedily in fixed batches.

    Batches are cut in the order of the requests, so the same requests in the same order are computed together.
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
        self._model = AutoModelForCausalLM.from_pretrained(
            spec.folder,
            dtype=getattr(torch, spec.dtype),
            trust_remote_code=False,
            local_files_only=True,
            use_safetensors=True,
        )
        self._model.eval().to(device)
        self._end = int(self._preparer.encoder.tokenizer.eos_token_id)
        tokenizer_json = self._preparer.encoder.tokenizer.backend_tokenizer.to_str()
        self._masks = llguidance.LLTokenizer(tokenizer_json, eos_token=self._end)
        versions = {"torch": torch.__version__, "transformers": transformers.__version__}
        self.info: EngineInfo = engine_info(spec, device=device, versions=versions)

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order."""
        ready, results = self._preparer.prepare(requests)
        done: dict[int, Generation | Failure] = dict(results)
        for kind in (True, False):
            chosen = [prepared for prepared in ready if bool(prepared.label_ids) is kind]
            for start in range(0, len(chosen), self._spec.batch_size):
                batch = chosen[start : start + self._spec.batch_size]
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
        rows = []
        for row, prepared in enumerate(batch):
            values = {label: float(logprobs[row, index]) for label, index in prepared.label_ids.items()}
            rows.append(choose(prepared, values))
        return rows

    def _prefill(self, batch: Sequence[Prepared]) -> tuple[Any, Any, Any]:
        """Run all prompts at once, padded on the left; returns last logits, cache and attention mask."""
        torch = self._torch
        width = max(len(prepared.prompt) for prepared in batch)
        ids = torch.full((len(batch), width), self._end, dtype=torch.long)
        mask = torch.zeros((len(batch), width), dtype=torch.long)
        for row, prepared in enumerate(batch):
            ids[row, width - len(prepared.prompt) :] = torch.tensor(prepared.prompt)
            mask[row, width - len(prepared.prompt) :] = 1
        ids, mask = ids.to(self._model.device), mask.to(self._model.device)
        positions = (mask.cumsum(dim=-1) - 1).clamp(min=0)
        output = self._model(
            input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=True, logits_to_keep=1
        )
        return output.logits[:, -1, :], output.past_key_values, mask

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
            if stopped[row] or matcher.is_stopped():
                tokens.append(self._end)
                continue
            bits = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8), bitorder="little")
            allowed = self._torch.from_numpy(np.flatnonzero(bits)).to(logits.device)
            allowed = allowed[allowed < logits.shape[-1]]  # a tokenizer may know more ids than the model
            tokens.append(int(allowed[logits[row, allowed].argmax()]))
        return tokens


ENGINE = TransformersEngine
