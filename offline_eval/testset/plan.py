"""How many questions of which type are wanted, and which place of the plan tries what, decided before a model is asked.

Why: with everything drawn from the seed beforehand, stopping and continuing cannot change what is written.
"""

import math
import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.testset.draft import QUESTION_TYPES, QuestionType

DEFAULT_MIX = "simple=.3,multi_hop=.25,conditional=.1,counterfactual=.1,unanswerable=.15,adversarial=.1"

T = TypeVar("T")

ANGLES = 6
"""What one passage, or one pair of passages, is asked about: each once, until all were."""


class Slot(NamedTuple):
    """One place of the plan.

    Attributes:
        number: From 0, over all types.
        rank: From 0, among those of its type.
    """

    number: int
    type: QuestionType
    rank: int


def parse_mix(text: str) -> dict[QuestionType, float]:
    """Read `type=share,…`.

    Returns:
        Type to its share; shares add up to 1.

    Raises:
        UsageError: No shares, a bad one, an unknown type, or a sum that is not 1.
    """
    shares: dict[QuestionType, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, value = part.partition("=")
        kind = next((known for known in QUESTION_TYPES if known == name.strip().replace("-", "_")), None)
        if kind is None:
            raise UnknownNameError("question type", name.strip(), QUESTION_TYPES)
        if kind in shares:
            raise UsageError(f"--mix names {kind} twice")
        try:
            shares[kind] = float(value)
        except ValueError:
            raise UsageError(f"--mix: {part!r} has no share; write for example simple=.3") from None
        if not 0 <= shares[kind] <= 1:
            raise UsageError(f"--mix: {part!r} is no share from 0 to 1")
    total = math.fsum(shares.values())
    if abs(total - 1) > 1e-6:
        raise UsageError(f"--mix: the shares add up to {total:.6g}, they must add up to 1")
    return shares


def wanted_counts(mix: Mapping[QuestionType, float], size: int) -> dict[QuestionType, int]:
    """Whole numbers nearest to the shares: largest remainders first, the earlier type on a tie.

    Args:
        mix: Shares that add up to 1.
        size: Questions in all, 1 or more.
    """
    exact = {kind: share * size for kind, share in mix.items()}
    counts = {kind: math.floor(value + 1e-9) for kind, value in exact.items()}
    by_remainder = sorted(exact, key=lambda kind: (-round(exact[kind] - counts[kind], 9), QUESTION_TYPES.index(kind)))
    for kind in by_remainder[: size - sum(counts.values())]:
        counts[kind] += 1
    return {kind: counts[kind] for kind in QUESTION_TYPES if counts.get(kind)}


def slots_of(counts: Mapping[QuestionType, int]) -> list[Slot]:
    """The plan's places, types in a fixed order."""
    kinds = [(kind, rank) for kind, count in counts.items() for rank in range(count)]
    return [Slot(number, kind, rank) for number, (kind, rank) in enumerate(kinds)]


def drawn(options: Sequence[T], slot: Slot, attempt: int, *, wanted: int, seed: int) -> T | None:
    """What a slot works on at an attempt: the next of a shuffled row that all slots of its type share.

    Nothing is tried twice by one type while something is left untried; `angle_of` says what it is asked about then.

    Args:
        attempt: From 1.
        wanted: Slots of this type.

    Returns:
        None when there are no options.
    """
    if not options:
        return None
    order = shuffled(len(options), f"{seed}/{slot.type}")
    return options[order[_turn(slot, attempt, wanted) % len(options)]]


def angle_of(slot: Slot, attempt: int, *, wanted: int, n_options: int) -> int:
    """What `drawn` is to be asked about, in [0, ANGLES): no option has the same twice before it had all.

    Args:
        n_options: How many `drawn` has, 1 or more.
    """
    again, place = divmod(_turn(slot, attempt, wanted), n_options)
    return (place + again) % ANGLES


def fillable_counts(counts: Mapping[QuestionType, int], *, n_singles: int, n_links: int) -> dict[QuestionType, int]:
    """The counts without what nothing is left to ask about: `ANGLES` questions of a type a passage, or a pair of them.

    Why a pair's limit is no error: how many passages belong together can be seen only when they were read.

    Args:
        counts: Wanted.
        n_singles: Passages.
        n_links: Pairs of passages.

    Raises:
        UsageError: More questions about single passages than there can be different ones.
    """
    most = ANGLES * n_singles
    kind = max((kind for kind in counts if kind != "multi_hop"), key=counts.__getitem__, default=None)
    if kind is not None and counts[kind] > most:
        raise UsageError(
            f"--size {sum(counts.values()):,}: {counts[kind]:,} questions of type {kind} are wanted, and {n_singles:,} "
            f"passages give at most {most:,} different ones ({ANGLES} each); choose a smaller size or more documents"
        )
    return {kind: min(count, ANGLES * n_links) if kind == "multi_hop" else count for kind, count in counts.items()}


@lru_cache(maxsize=16)
def shuffled(size: int, key: str) -> tuple[int, ...]:
    """The numbers below `size` in an order that depends on the key alone, on every machine."""
    order = list(range(size))
    random.Random(key).shuffle(order)
    return tuple(order)


def _turn(slot: Slot, attempt: int, wanted: int) -> int:
    """Place in the row of all tries of a type, from 0."""
    return slot.rank + (attempt - 1) * wanted
