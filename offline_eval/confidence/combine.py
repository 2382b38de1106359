"""Weighs signals into one confidence with its tier, and names the signal that limits it.

The rule: the weighted mean of the signals that have a value; then vetoes and missing signals hold the tier down, never
up. A score that is held down keeps its order inside the lower tier, so that what it ranks stays ranked.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from offline_eval.confidence.profile import Profile, Tier, Veto, lowest_tier
from offline_eval.confidence.signals import Signal, SignalStatus
from offline_eval.core.errors import UsageError
from offline_eval.core.records import Record
from offline_eval.stats.recalibration import CalibrationMap, Platt


class AppliedVeto(Record):
    """A veto that held the tier down, or would have.

    Attributes:
        value: The signal's value; None when it is missing.
        tier: Highest tier it leaves.
    """

    signal: str
    value: float | None
    below: float
    tier: Tier


class Confidence(Record):
    """How far an answer may be relied on.

    Attributes:
        kind: `probability` when a calibration map was applied to the score, else `score`.
        value: In [0, 1]: the calibrated probability, or the score; None when no weighted signal has a value.
        score: After vetoes, before calibration: what a calibration map is fitted on.
        raw: The weighted mean before vetoes.
        limiting: Name of the signal that limits it; None when every weighted signal is 1.
        vetoes: Those that applied.
        missing: Weighted signals without a value.
    """

    tier: Tier
    kind: Literal["score", "probability"] = "score"
    value: float | None = Field(default=None, ge=0, le=1)
    score: float | None = Field(default=None, ge=0, le=1)
    raw: float | None = Field(default=None, ge=0, le=1)
    limiting: str | None = None
    vetoes: tuple[AppliedVeto, ...] = ()
    missing: tuple[str, ...] = ()
    known_weight: float = Field(ge=0, le=1)


def combine(signals: Sequence[Signal], profile: Profile, *, calibration: CalibrationMap | None = None) -> Confidence:
    """Combine signals.

    Args:
        signals: Each name at most once; one that the profile weighs and that is not here counts as skipped.
        profile: Weights, vetoes, bounds.
        calibration: From scores to probabilities, fitted on labels; must not fall.

    Returns:
        The confidence. Without any weighted signal there is no number and the tier is the lowest.

    Raises:
        UsageError: A calibration map that falls, or a signal given twice.
    """
    named = {signal.name: signal for signal in signals}
    if len(named) < len(signals):
        raise UsageError("a signal was given twice; each name counts once")
    weights = {name: weight for name, weight in profile.weights.items() if weight > 0}
    known = {name: value for name in weights if (value := _value(named.get(name))) is not None}
    unknown = tuple(name for name in weights if name not in known)
    known_weight = min(1.0, sum(weights[name] for name in known) / sum(weights.values()))
    if not known:
        applied = _applied(named, profile, Tier.ABSTAIN)
        return Confidence(
            tier=Tier.ABSTAIN,
            limiting=_strictest(applied) or next(iter(unknown)),
            vetoes=applied,
            missing=unknown,
            known_weight=0.0,
        )
    raw = min(1.0, sum(weights[name] * known[name] for name in known) / sum(weights[name] for name in known))
    by_bounds = profile.tier_of(raw)
    applied = _applied(named, profile, by_bounds)
    cap = lowest_tier(_cap_of_missing(named, unknown, known_weight, profile), *(veto.tier for veto in applied))
    score = _squeezed(raw, cap, profile)
    value = score if calibration is None else _calibrated(score, calibration)
    return Confidence(
        tier=lowest_tier(profile.tier_of(value), cap),
        kind="score" if calibration is None else "probability",
        value=value,
        score=score,
        raw=raw,
        limiting=_limiting(known, unknown, weights, applied=applied, cap=cap, by_bounds=by_bounds),
        vetoes=applied,
        missing=unknown,
        known_weight=known_weight,
    )


def _value(signal: Signal | None) -> float | None:
    return None if signal is None else signal.value


def _applied(named: Mapping[str, Signal], profile: Profile, by_bounds: Tier) -> tuple[AppliedVeto, ...]:
    found = (
        (veto, named.get(veto.signal), _veto_tier(veto, named.get(veto.signal), by_bounds)) for veto in profile.vetoes
    )
    return tuple(
        AppliedVeto(signal=veto.signal, value=_value(signal), below=veto.below, tier=tier)
        for veto, signal, tier in found
        if tier is not None
    )


def _veto_tier(veto: Veto, signal: Signal | None, by_bounds: Tier) -> Tier | None:
    """Highest tier a veto leaves; None when it does not apply."""
    if signal is None or signal.value is None:
        is_absent = signal is None or signal.status is SignalStatus.NOT_APPLICABLE
        return None if is_absent else veto.if_missing
    if signal.value >= veto.below:
        return None
    return veto.at_most if veto.at_most is not None else by_bounds.lowered(veto.lower_by)


def _cap_of_missing(named: Mapping[str, Signal], unknown: Sequence[str], known_weight: float, profile: Profile) -> Tier:
    """Highest tier that what is missing leaves."""
    went_wrong = any(name not in named or named[name].status is not SignalStatus.NOT_APPLICABLE for name in unknown)
    too_little = known_weight < profile.least_known - 1e-9
    return profile.missing_at_most if went_wrong or too_little else Tier.ANSWER


def _squeezed(raw: float, cap: Tier, profile: Profile) -> float:
    """The score inside the range its cap leaves: unchanged up to the capped tier's start, then squeezed below its end.

    With cap `doubt` and bounds .5 and .8, [.5, 1] becomes [.5, .8); rising in `raw`, never above it.
    """
    if cap is Tier.ANSWER:
        return raw
    low, high = (profile.doubt_from, profile.answer_from) if cap is Tier.DOUBT else (0.0, profile.doubt_from)
    if raw <= low:
        return raw
    squeezed = low + (raw - low) / (1.0 - low) * (high - low)
    return min(raw, squeezed, float(np.nextafter(high, 0.0)))


def _calibrated(score: float, calibration: CalibrationMap) -> float:
    if isinstance(calibration, Platt) and calibration.slope < 0:
        raise UsageError("the calibration map falls: a higher score would mean less; fit it on more labels")
    return float(min(1.0, max(0.0, calibration.apply(np.array([score]))[0])))


def _limiting(
    known: Mapping[str, float],
    unknown: Sequence[str],
    weights: Mapping[str, float],
    *,
    applied: Sequence[AppliedVeto],
    cap: Tier,
    by_bounds: Tier,
) -> str | None:
    """What held the tier down, else what cost the score most."""
    if cap.rank < by_bounds.rank:
        by_veto = [veto for veto in applied if veto.tier is cap]
        return by_veto[0].signal if by_veto else next(iter(unknown))
    cost = {name: weights[name] * (1 - value) for name, value in known.items()}
    worst = max(cost, key=lambda name: cost[name])
    return worst if cost[worst] > 0 else next(iter(unknown), None)


def _strictest(applied: Sequence[AppliedVeto]) -> str | None:
    return min(applied, key=lambda veto: veto.tier.rank).signal if applied else None
