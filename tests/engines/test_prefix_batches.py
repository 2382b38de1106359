"""Batches hold every prompt once, do not depend on the order of the prompts, and compute few tokens twice."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.engines.prefix_batches import PASS_COST, common_prefix, cut_batches

Prompts = list[list[int]]
some_prompts = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12), max_size=12)


def tokens(prompts: Prompts, batch: list[int]) -> int:
    """What a batch computes: its common beginning once, and the longest rest for everyone."""
    chosen = [prompts[index] for index in batch]
    shared = common_prefix(min(chosen), max(chosen))
    return shared + len(chosen) * (max(map(len, chosen)) - shared)


def rubric_prompts(*, n: int, seed: int = 0) -> Prompts:
    """Prompts of three rubrics in turn: 500 tokens of rubric behind 50 of frame, then 100 to 400 of their own."""
    source = random.Random(seed)
    own = [[source.randrange(9, 99) for _ in range(source.randint(100, 400))] for _ in range(n)]
    return [[1] * 50 + [2 + number % 3] * 500 + rest for number, rest in enumerate(own)]


@given(some_prompts, st.integers(1, 5), st.integers(1, 3))
def test_every_prompt_is_in_exactly_one_batch_of_at_most_the_size(prompts: Prompts, size: int, passes: int) -> None:
    batches = cut_batches(prompts, size=size, passes=passes)
    assert sorted(index for batch in batches for index in batch) == list(range(len(prompts)))
    assert all(1 <= len(batch) <= size for batch in batches)


@given(some_prompts, st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_order_of_the_prompts_changes_no_batch(prompts: Prompts, size: int, source: random.Random) -> None:
    shuffled = source.sample(prompts, len(prompts))
    batches, again = (
        [[rows[index] for index in batch] for batch in cut_batches(rows, size=size)] for rows in (prompts, shuffled)
    )
    assert batches == again


def test_no_batch_mixes_rubrics_that_would_be_computed_for_every_prompt() -> None:
    prompts = rubric_prompts(n=63)
    batches = cut_batches(prompts, size=16)
    assert all(len({index % 3 for index in batch}) == 1 for batch in batches)
    by_tokens = sorted(range(63), key=lambda index: prompts[index])
    plain = [by_tokens[start : start + 16] for start in range(0, 63, 16)]
    assert sum(tokens(prompts, batch) for batch in batches) < 0.6 * sum(tokens(prompts, batch) for batch in plain)


def test_many_passes_are_worth_full_batches() -> None:
    # 63 prompts need 4 batches of 16; a fifth would cost 500 × 100 tokens, more than it could save.
    assert len(cut_batches(rubric_prompts(n=63), size=16, passes=500)) == 4


def test_the_cut_is_the_cheapest_of_all_cuts_of_one_family() -> None:
    lengths = [3, 3, 4, 120, 121, 300, 301, 302]
    prompts = [[7] * 1000 + [10 + number] * length for number, length in enumerate(lengths)]
    batches = cut_batches(prompts, size=4)

    def cost(batch: list[int]) -> int:
        return PASS_COST + 1000 + len(batch) * max(lengths[index] for index in batch)

    cuts = [
        [list(range(start, end)) for start, end in zip((0, *inner), (*inner, 8), strict=True)]
        for n in range(8)
        for inner in combinations(range(1, 8), n)
    ]
    allowed = [cut for cut in cuts if all(len(batch) <= 4 for batch in cut)]
    assert sum(map(cost, batches)) == min(sum(map(cost, cut)) for cut in allowed)


def test_nothing_to_cut_is_no_batch() -> None:
    assert cut_batches([], size=4) == []


@pytest.mark.parametrize(("first", "second", "n"), [([1, 2], [1, 2], 2), ([1, 2], [1], 1), ([2], [1], 0), ([], [1], 0)])
def test_the_common_prefix_is_counted_in_tokens(first: list[int], second: list[int], n: int) -> None:
    assert common_prefix(first, second) == n
