"""Which items a person sees, and in which order: first where help is needed, then a random part that measures.

Why two parts: what is picked because judges disagree says nothing about the rest, so agreement and corrected estimates
come from the random part alone.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from offline_eval.core.hashing import digest
from offline_eval.core.records import Record

Part = Literal["need", "random"]


class Candidate(Record):
    """An item that could be shown.

    Attributes:
        stratum: The group it belongs to; the random part holds every group in its proportion.
        reasons: Why a person should look, as `rule: what it saw`; empty when nothing stands out.
        need: Larger is more urgent; compared only between candidates.
    """

    key: str
    stratum: str = ""
    reasons: tuple[str, ...] = ()
    need: float = 0.0


class QueueItem(Record):
    """A place in the queue."""

    key: str
    part: Part
    stratum: str
    reasons: tuple[str, ...] = ()


class Queue(Record):
    """What is shown, and how it was drawn.

    Attributes:
        population: Candidates it was drawn from.
        random_size: How many of `items` are the random part.
        strata: Stratum to its candidates, over the whole population.
        items: The needed ones, the most urgent first; then the random ones in random order.
    """

    seed: int
    size: int = Field(ge=1)
    population: int = Field(ge=0)
    random_size: int = Field(ge=0)
    strata: dict[str, int]
    items: tuple[QueueItem, ...]


def draw_queue(candidates: Sequence[Candidate], *, size: int, seed: int) -> Queue:
    """Draw a queue; the same candidates, size and seed give the same one, whatever their order.

    All candidates are put into one random order that keeps the strata in proportion. Its beginning is the random part;
    whoever stops early, or asks for a larger size later, still has a random part. Need plays no role in it. The rest of
    the queue, at most half of it, goes to the most urgent of the others.

    Args:
        candidates: With distinct keys.
        size: Items wanted, 1 or more.
        seed: Of the random order.
    """
    ordered = _random_order(candidates, seed)
    total = min(size, len(ordered))
    needed = min(sum(bool(candidate.reasons) for candidate in ordered), size // 2)
    random_size = min(len(ordered), size - needed)
    drawn, others = ordered[:random_size], ordered[random_size:]
    urgent = sorted(others, key=lambda c: (not c.reasons, -c.need, c.key))[: total - random_size]
    strata: dict[str, int] = defaultdict(int)
    for candidate in ordered:
        strata[candidate.stratum] += 1
    return Queue(
        seed=seed,
        size=size,
        population=len(ordered),
        random_size=random_size,
        strata=dict(sorted(strata.items())),
        items=(*(_place(c, "need") for c in urgent), *(_place(c, "random") for c in drawn)),
    )


def _place(candidate: Candidate, part: Part) -> QueueItem:
    return QueueItem(key=candidate.key, part=part, stratum=candidate.stratum, reasons=candidate.reasons)


def _random_order(candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """Shuffled within each stratum, then interleaved: item r of n stands at (r + offset) / n of the way."""
    strata: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        strata[candidate.stratum].append(candidate)
    placed: list[tuple[float, str, Candidate]] = []
    for name, members in strata.items():
        offset = _uniform("stratum", [seed, name])
        shuffled = sorted(members, key=lambda c: digest("queue", [seed, c.key]))
        placed += [((rank + offset) / len(members), c.key, c) for rank, c in enumerate(shuffled)]
    return [candidate for _, _, candidate in sorted(placed, key=lambda entry: entry[:2])]


def _uniform(tag: str, value: list[int | str]) -> float:
    return int(digest(tag, value)[:13], 16) / 16**13
