"""How many questions of which type are wanted, and which place of the plan tries what, decided before a model is asked.

Why: with everything drawn from the seed beforehand, stopping and continuing cannot change what is written.
"""

import math
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.testset.draft import QUESTION_TYPES, QuestionType

DEFAULT_MIX = "simple=.3,multi_hop=.25,conditional=.1,counterfactual=.1,unanswerable=.15,adversarial=.1"

T = TypeVar("T")


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

    Nothing is tried twice by one type while something is left untried.

    Args:
        attempt: From 1.
        wanted: Slots of this type.

    Returns:
        None when there are no options.
    """
    if not options:
        return None
    order = shuffled(len(options), f"{seed}/{slot.type}")
    return options[order[(slot.rank + (attempt - 1) * wanted) % len(options)]]


def shuffled(size: int, key: str) -> list[int]:
    """The numbers below `size` in an order that depends on the key alone, on every machine."""
    order = list(range(size))
    random.Random(key).shuffle(order)
    return order
