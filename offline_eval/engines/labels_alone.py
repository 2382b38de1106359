"""Labels that repeat to the bit on kernels that are not batch-invariant: computed alone, over fixed cache blocks.

What is computed together decides how a sum is split: neighbours in a batch, a prompt longer than a chunk, and how much
of it the prefix cache holds each move the last bits of a probability (measured in float32: up to 5e-6). Computing every
prompt alone and whole would repeat, but would compute a rubric again for each response. So a prompt is computed alone,
over exactly those cache blocks that its head fills, and every such block is computed alone over the blocks before it.
What vLLM says that it took from the cache is checked each time.
"""

from collections.abc import Callable, Sequence
from typing import Any

from offline_eval.core.errors import EngineError


class LabelsAlone:
    """Computes one prompt at a time.

    Args:
        llm: vLLM's `LLM`.
        sampling: vLLM's `SamplingParams`.
    """

    def __init__(self, llm: Any, sampling: Callable[..., Any]) -> None:
        self._llm = llm
        self._one_token = sampling(temperature=0.0, max_tokens=1, detokenize=False)
        self._block: int = llm.llm_engine.vllm_config.cache_config.block_size
        self._heads: set[tuple[int, ...]] = set()  # whose blocks are in the cache
        self._is_mixed = False

    def compute(self, prompt: Sequence[int], *, head: int, sampling: Any) -> Any:
        """Compute a prompt, the same to the bit whatever was computed before.

        Args:
            prompt: Token ids.
            head: How many of them other prompts begin with as well.
            sampling: vLLM's options for it.

        Returns:
            vLLM's output.

        Raises:
            EngineError: The cache is too small for the head.
        """
        kept = tuple(prompt[: min(head, len(prompt) - 1) // self._block * self._block])
        if self._is_mixed:
            self.forget_prefixes()
        output = self._ask_over(kept, prompt, sampling)
        if output.num_cached_tokens != len(kept):  # it was asked before, or its head was driven out
            self.forget_prefixes()
            output = self._ask_over(kept, prompt, sampling)
        if output.num_cached_tokens != len(kept):
            raise EngineError(
                f"vLLM kept {output.num_cached_tokens} of a prompt's first {len(kept)} tokens: its cache is too small "
                "for certified mode; give it more (VLLM_CPU_KVCACHE_SPACE, in GiB) or shorten the rubric"
            )
        return output

    def mix(self) -> None:
        """Say that prompts were computed together and may have left other blocks of a head than it alone does."""
        self._is_mixed = True

    def forget_prefixes(self) -> None:
        """Empty the prefix cache.

        Raises:
            EngineError: vLLM did not.
        """
        forget_prefixes(self._llm)
        self._heads.clear()
        self._is_mixed = False

    def _ask_over(self, kept: tuple[int, ...], prompt: Sequence[int], sampling: Any) -> Any:
        if kept not in self._heads:
            for end in range(self._block, len(kept) + 1, self._block):
                self._ask(kept[:end], self._one_token)
            self._heads.add(kept)
        return self._ask(prompt, sampling)

    def _ask(self, prompt: Sequence[int], sampling: Any) -> Any:
        return self._llm.generate([{"prompt_token_ids": list(prompt)}], [sampling], use_tqdm=False)[0]


def forget_prefixes(llm: Any) -> None:
    """Empty vLLM's prefix cache.

    Raises:
        EngineError: vLLM did not.
    """
    if not llm.reset_prefix_cache():
        raise EngineError("vLLM did not empty its prefix cache")
