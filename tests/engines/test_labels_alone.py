"""One prompt, one result, whatever came before it: shown on a cache that remembers how each block came about."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import EngineError
from offline_eval.engines.labels_alone import LabelsAlone

BLOCK = 4
HEADS = ((1, 2, 3, 4, 5), (1, 2, 3, 4, 9, 9, 9, 9, 9), (7, 7), ())  # the first two share a block


class FakeLlm:
    """vLLM's prefix cache, with a result that tells which tokens were computed in one go, block by block.

    Attributes:
        n_computed: Tokens computed so far.
    """

    def __init__(self, *, holds: int = 1000) -> None:
        self.llm_engine = SimpleNamespace(vllm_config=SimpleNamespace(cache_config=SimpleNamespace(block_size=BLOCK)))
        self._blocks: dict[tuple[int, ...], object] = {}  # what stands before a block's end → how it was computed
        self._holds = holds
        self.n_computed = 0

    def generate(self, prompts: list[dict[str, list[int]]], sampling: list[Any], *, use_tqdm: bool) -> list[Any]:
        assert len(prompts) == len(sampling)
        assert not use_tqdm
        return [self._compute(tuple(prompt["prompt_token_ids"]), neighbours=len(prompts) - 1) for prompt in prompts]

    def reset_prefix_cache(self) -> bool:
        self._blocks.clear()
        return True

    def drop(self, n: int) -> None:
        """Drive out the last blocks."""
        for key in list(self._blocks)[-n:]:
            del self._blocks[key]

    def _compute(self, prompt: tuple[int, ...], *, neighbours: int) -> Any:
        cached = 0
        while cached + BLOCK < len(prompt) and prompt[: cached + BLOCK] in self._blocks:
            cached += BLOCK
        self.n_computed += len(prompt) - cached
        before = tuple(self._blocks[prompt[:end]] for end in range(BLOCK, cached + 1, BLOCK))
        way = (before, prompt[cached:], neighbours)
        for end in range(cached + BLOCK, len(prompt) + 1, BLOCK):
            if len(self._blocks) < self._holds:
                self._blocks[prompt[:end]] = (way, end)
        return SimpleNamespace(num_cached_tokens=cached, way=way)


def alone(llm: FakeLlm) -> LabelsAlone:
    return LabelsAlone(llm, lambda **options: options)


prompts = st.tuples(st.sampled_from(HEADS), st.lists(st.sampled_from([1, 2]), min_size=1, max_size=9).map(tuple))
events = st.one_of(
    prompts.map(lambda prompt: ("ask", prompt)),
    st.lists(prompts, min_size=2, max_size=4).map(lambda together: ("together", together)),
    st.just(("forget", None)),
    st.integers(1, 5).map(lambda n: ("drop", n)),
)


@given(st.lists(events, max_size=25), prompts)
def test_what_came_before_changes_nothing(history: list[tuple[str, Any]], last: Any) -> None:
    llm = FakeLlm()
    labels = alone(llm)
    fresh = alone(FakeLlm())

    def ask(labels: LabelsAlone, prompt: tuple[tuple[int, ...], tuple[int, ...]]) -> Any:
        head, rest = prompt
        return labels.compute(head + rest, head=len(head), sampling=None).way

    for kind, what in history:
        if kind == "ask":
            ask(labels, what)
        elif kind == "together":
            labels.mix()
            llm.generate(
                [{"prompt_token_ids": [*head, *rest]} for head, rest in what], [None] * len(what), use_tqdm=False
            )
        elif kind == "forget":
            labels.forget_prefixes()
        else:
            llm.drop(what)
    assert ask(labels, last) == ask(fresh, last)


def test_a_head_is_computed_once() -> None:
    llm = FakeLlm()
    labels = alone(llm)
    head = tuple(range(8))
    for n in range(10):
        labels.compute((*head, 100 + n), head=8, sampling=None)
    assert llm.n_computed == 8 + 10


def test_a_cache_that_cannot_hold_the_head_is_named() -> None:
    with pytest.raises(EngineError, match=r"4 of a prompt's first 8 tokens.*VLLM_CPU_KVCACHE_SPACE"):
        alone(FakeLlm(holds=1)).compute(tuple(range(12)), head=9, sampling=None)
