"""Which prompts are computed together: those that begin alike, of like lengths, so that few tokens are computed twice.

A batch computes its common beginning once and pads the rests to the longest of them; a rubric stands first in every
prompt of one kind, so a batch of mixed rubrics would compute nearly everything.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

PASS_COST = 100  # tokens whose computing takes about as long as one more pass over the weights

_Prompts = Sequence[list[int]]


def cut_batches(prompts: _Prompts, *, size: int, passes: int = 1) -> list[list[int]]:
    """Divide prompts into batches with the least cost.

    The cost of a batch is `passes` × PASS_COST, its common beginning once, and the longest rest once for every prompt,
    all in tokens. Prompts are ordered by what they begin with and then by length, and the order is cut at the places
    of least cost (dynamic programming), so the order of the arguments does not matter.

    Args:
        prompts: Token ids.
        size: Prompts in a batch, at most; ≥ 1.
        passes: Passes over the weights that a batch needs: 1 to prefill, one more for every token decoded.

    Returns:
        Indices into `prompts`, every one exactly once.
    """
    families = _families(prompts)
    order = [index for family in families for index in sorted(family, key=lambda i: (len(prompts[i]), prompts[i]))]
    owner = [number for number, family in enumerate(families) for _ in family]
    firsts = [min(prompts[index] for index in family) for family in families]
    lasts = [max(prompts[index] for index in family) for family in families]
    inside = [common_prefix(first, last) for first, last in zip(firsts, lasts, strict=True)]
    between = [common_prefix(last, first) for last, first in zip(lasts, firsts[1:], strict=False)]

    best, start_of = [0], [0]  # of the first n prompts in order
    for end in range(1, len(order) + 1):
        longest, shared = 0, len(prompts[order[end - 1]])
        found: tuple[int, int] | None = None
        for start in range(end - 1, max(-1, end - 1 - size), -1):
            longest = max(longest, len(prompts[order[start]]))
            shared = min(shared, inside[owner[start]])
            if start + 1 < end and owner[start] != owner[start + 1]:
                shared = min(shared, *between[owner[start] : owner[start + 1]])
            cost = best[start] + passes * PASS_COST + shared + (end - start) * (longest - shared)
            found = min(found, (cost, start)) if found else (cost, start)
        assert found is not None  # size ≥ 1
        best.append(found[0])
        start_of.append(found[1])

    batches, end = [], len(order)
    while end:
        batches.append(order[start_of[end] : end])
        end = start_of[end]
    return batches[::-1]


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens both begin with."""
    limit = min(len(first), len(second))
    return next((n for n in range(limit) if first[n] != second[n]), limit)


def _families(prompts: _Prompts) -> list[list[int]]:
    """Indices in the order of the tokens, divided where neighbours share less than half of what they usually share."""
    order = sorted(range(len(prompts)), key=lambda index: prompts[index])
    if not order:
        return []
    shared = [common_prefix(prompts[one], prompts[other]) for one, other in pairwise(order)]
    usual = median(shared) if shared else 0
    families = [[order[0]]]
    for index, count in zip(order[1:], shared, strict=True):
        if count < usual / 2:
            families.append([])
        families[-1].append(index)
    return families
