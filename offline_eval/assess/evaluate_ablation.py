"""What each signal contributes: the stored signals combined again without it; asks no model."""

from collections.abc import Sequence

import numpy as np

from offline_eval.assess.evaluate_policies import Action, assessed
from offline_eval.assess.evaluate_records import Ablation, EvaluatedItem
from offline_eval.assess.evaluate_shares import Base, measure_area, share_of
from offline_eval.confidence.combine import combine
from offline_eval.confidence.profile import Profile
from offline_eval.stats.measured import Measured, measure
from offline_eval.stats.selective import aurc
from offline_eval.stats.undefined import Undefined


def ablations(
    items: Sequence[EvaluatedItem], base: Base, profile: Profile, *, seed: int, resamples: int
) -> tuple[Ablation, ...]:
    """Every signal the profile weighs or vetoes by, left out in turn.

    Args:
        items: Assessed responses.
        base: The assertions among them.
        profile: The one they were assessed with.
        seed: Of the resampling.
        resamples: 100 or more.
    """
    if not base.places:
        return ()
    names = list(dict.fromkeys([*profile.weights, *(veto.signal for veto in profile.vetoes)]))
    full = _again(items, profile)
    return tuple(_without(name, items, full, base, profile, seed=seed, resamples=resamples) for name in names)


def _without(
    name: str,
    items: Sequence[EvaluatedItem],
    full: Sequence[EvaluatedItem],
    base: Base,
    profile: Profile,
    *,
    seed: int,
    resamples: int,
) -> Ablation:
    n_scored = sum(any(s.name == name and s.value is not None for s in items[i].signals) for i in base.places)
    weight = profile.weights.get(name, 0.0)
    try:
        reduced = profile.without(name)
    except ValueError:
        nothing = Measured(value=None, reason="nothing else has a weight", n=len(base.places))
        return Ablation(
            signal=name,
            weight=weight,
            aurc=nothing,
            change=nothing,
            caught=nothing,
            wrong_refusal=nothing,
            n_scored=n_scored,
        )
    left = _again(items, reduced)
    before, after = assessed(full), assessed(left)
    pairs = list(zip(left, after.actions, strict=True))
    wrong = [pairs[i] for i in base.places if not pairs[i][0].truth.right]
    answerable = [pair for pair in pairs if pair[0].answerable is True]
    arrays = [base.confidences(before.confidences), base.confidences(after.confidences), base.right]
    return Ablation(
        signal=name,
        weight=weight,
        aurc=measure_area(base, after.confidences, seed=seed, resamples=resamples),
        change=measure(_change, arrays, clusters=base.clusters, seed=seed, resamples=resamples),
        caught=share_of(wrong, lambda action: action is not Action.SURE, seed=seed),
        wrong_refusal=share_of(answerable, lambda action: action is Action.WITHHELD, seed=seed),
        n_scored=n_scored,
    )


def _again(items: Sequence[EvaluatedItem], profile: Profile) -> list[EvaluatedItem]:
    """The items with their signals combined by a profile; without a calibration map, which a profile does not hold."""
    return [_combined(item, profile) if item.signals else item for item in items]


def _combined(item: EvaluatedItem, profile: Profile) -> EvaluatedItem:
    found = combine(item.signals, profile)
    return item.model_copy(update={"tier": found.tier, "confidence": found.value})


def _change(before: np.ndarray, after: np.ndarray, right: np.ndarray) -> float | Undefined:
    a, b = aurc(after, right), aurc(before, right)
    if isinstance(a, Undefined) or isinstance(b, Undefined):
        return Undefined(reason="there are no items")
    return a - b
