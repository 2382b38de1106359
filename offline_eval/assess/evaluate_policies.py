"""Three ways to decide what becomes of an answer: the assessment, giving every answer, and a retrieval threshold.

The retrieval threshold has to be tuned, so it is: on one half of the cases, for use on the other, and the other way
round. No baseline is judged on what it was tuned on, and none is left untuned.
"""

from collections.abc import Sequence
from enum import StrEnum
from math import inf

import numpy as np

from offline_eval.assess.evaluate_records import EvaluatedItem
from offline_eval.confidence.profile import Tier
from offline_eval.core.records import Record
from offline_eval.stats.arrays import Floats
from offline_eval.stats.splits import Labelled, split
from offline_eval.stats.thresholds import Target, choose_threshold
from offline_eval.stats.undefined import Undefined

ASSESSED, ALWAYS, RETRIEVAL = "assessed", "always answer", "retrieval score"


class Action(StrEnum):
    """What becomes of an answer."""

    SURE = "sure"
    DOUBT = "doubt"
    WITHHELD = "withheld"


_OF_TIER = {Tier.ANSWER: Action.SURE, Tier.DOUBT: Action.DOUBT, Tier.ABSTAIN: Action.WITHHELD}


class Decisions(Record):
    """One way of deciding, over the same items.

    Attributes:
        policy: Its name.
        actions: One an item; a response that asserts nothing is withheld under every policy.
        confidences: One an item, in [0, 1]; only their order counts unless `is_probability`.
    """

    policy: str
    actions: tuple[Action, ...]
    confidences: tuple[float, ...]
    is_probability: bool


def decisions(items: Sequence[EvaluatedItem], *, seed: int) -> tuple[Decisions, ...]:
    """What the assessment and the two baselines decide about every item.

    Args:
        seed: Which halves the retrieval threshold is tuned on.
    """
    return assessed(items), _always(items), _by_retrieval(items, seed)


def assessed(items: Sequence[EvaluatedItem]) -> Decisions:
    """The assessment's tiers; an item without a number ranks last."""
    return Decisions(
        policy=ASSESSED,
        actions=tuple(_OF_TIER[item.tier] if item.truth.asserts else Action.WITHHELD for item in items),
        confidences=tuple(item.confidence or 0.0 for item in items),
        is_probability=True,
    )


def _always(items: Sequence[EvaluatedItem]) -> Decisions:
    return Decisions(
        policy=ALWAYS,
        actions=tuple(Action.SURE if item.truth.asserts else Action.WITHHELD for item in items),
        confidences=(1.0,) * len(items),
        is_probability=True,
    )


def _by_retrieval(items: Sequence[EvaluatedItem], seed: int) -> Decisions:
    ranks = _ranks([item.retrieval_score for item in items])
    known = [i for i, item in enumerate(items) if item.truth.asserts and item.truth.right is not None]
    data = Labelled(
        ids=tuple(items[i].case_id for i in known),
        probabilities=tuple(float(ranks[i]) for i in known),
        outcomes=tuple(int(bool(items[i].truth.right)) for i in known),
    )
    first, second = split(data, seed=seed)
    in_first = set(first.ids)
    threshold = {True: _threshold(second), False: _threshold(first)}
    return Decisions(
        policy=RETRIEVAL,
        actions=tuple(
            Action.SURE if item.truth.asserts and rank >= threshold[item.case_id in in_first] else Action.WITHHELD
            for item, rank in zip(items, ranks, strict=True)
        ),
        confidences=tuple(float(rank) for rank in ranks),
        is_probability=False,
    )


def _threshold(data: Labelled) -> float:
    """The cut with the fewest mistakes of both kinds; without labels everything is given."""
    found = choose_threshold(data, target=Target(aim="cost"))
    return -inf if isinstance(found, Undefined) else found.value


def _ranks(scores: Sequence[float | None]) -> Floats:
    """Scores as ranks in [0, 1], in the same order; no score ranks below every score."""
    values = np.array([-inf if score is None else score for score in scores], dtype=np.float64)
    distinct, place = np.unique(values, return_inverse=True)
    return np.asarray((place + 1) / max(1, distinct.size), dtype=np.float64)
