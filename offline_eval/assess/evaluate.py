"""From assessed responses to measures: what was caught, what that cost, and whether the confidence can be trusted.

Pure arithmetic over items that were assessed before; nothing here asks a model.
"""

from collections.abc import Callable, Sequence

import numpy as np

from offline_eval.assess.evaluate_ablation import ablations
from offline_eval.assess.evaluate_items import Evaluated
from offline_eval.assess.evaluate_policies import ASSESSED, Action, Decisions, decisions
from offline_eval.assess.evaluate_records import (
    AreaDifference,
    CalibrationFit,
    EvaluatedItem,
    EvaluationReport,
    GroupReport,
    Latency,
    PolicyMeasures,
    ReviewLoad,
)
from offline_eval.assess.evaluate_shares import Base, measure_area, share_of
from offline_eval.assess.evaluate_truth import TruthRule
from offline_eval.confidence.profile import Profile
from offline_eval.core.response_detail import CurvePoint
from offline_eval.stats.calibration import calibration_error, reliability_bins
from offline_eval.stats.intervals import RESAMPLES, wilson
from offline_eval.stats.measured import Measured, measure
from offline_eval.stats.paired import verdict
from offline_eval.stats.recalibration import fit_calibration
from offline_eval.stats.selective import aurc, largest_coverage, least_aurc, risk_coverage
from offline_eval.stats.splits import Labelled, split
from offline_eval.stats.undefined import Undefined

EVERYTHING = "all"
_TOTAL = "total"


def evaluate(
    found: Evaluated,
    *,
    profile: Profile,
    rule: TruthRule,
    target: float = 0.9,
    seed: int = 0,
    resamples: int = RESAMPLES,
    progress: Callable[[str, int, int], None] | None = None,
) -> EvaluationReport:
    """Compute every measure: for all responses, for each system, and for each language, where there are several.

    Args:
        found: From `evaluate_items`.
        profile: The one that was used, for the ablations.
        rule: The one that was used, to state it.
        target: Accuracy the review load is for, in (0, 1].
        seed: Of every split and resampling.
        resamples: Of every interval, 100 or more.
        progress: Told how far it is.
    """
    slices = _slices(found.items)
    groups = []
    for number, (name, items) in enumerate(slices.items()):
        ablate = number == 0
        groups.append(
            _group(name, items, profile=profile, target=target, seed=seed, resamples=resamples, ablate=ablate)
        )
        if progress:
            progress("intervals", number + 1, len(slices))
    return EvaluationReport(
        truth=rule.statement,
        profile=profile.name,
        versions=found.versions,
        seed=seed,
        groups=tuple(groups),
        latency=latency(found.items),
        notes=found.notes,
        items=found.items,
    )


def _slices(items: Sequence[EvaluatedItem]) -> dict[str, list[EvaluatedItem]]:
    """All items, then each system, then each language; a slice that would repeat the whole is left out."""
    found = {EVERYTHING: list(items)}
    systems = list(dict.fromkeys(item.system for item in items))
    if len(systems) == 1:
        found = {systems[0]: list(items)}
    else:
        found |= {name: [item for item in items if item.system == name] for name in systems}
    languages = sorted({item.language for item in items})
    if len(languages) > 1:
        found |= {f"language {name}": [item for item in items if item.language == name] for name in languages}
    return found


def _group(
    name: str,
    items: Sequence[EvaluatedItem],
    *,
    profile: Profile,
    target: float,
    seed: int,
    resamples: int,
    ablate: bool,
) -> GroupReport:
    ways = decisions(items, seed=seed)
    base = Base(items)
    ours = next(way for way in ways if way.policy == ASSESSED)
    data = base.labelled(ours)
    least = least_aurc(base.right)
    return GroupReport(
        group=name,
        n=len(items),
        n_answerable=sum(item.answerable is True for item in items),
        n_unanswerable=sum(item.answerable is False for item in items),
        n_asserted=len(base.places),
        n_wrong=int(len(base.places) - base.right.sum()),
        n_without_number=sum(items[i].confidence is None for i in base.places),
        n_unknown=sum(item.truth.asserts and item.truth.right is None for item in items),
        policies=tuple(_measures(items, way, base, seed=seed, resamples=resamples) for way in ways),
        least_area=None if isinstance(least, Undefined) else least,
        differences=tuple(
            _difference(base, ours, way, seed=seed, resamples=resamples) for way in ways if way is not ours
        ),
        reliability=_curve_points(data),
        review=_review_load(data, target, seed=seed),
        calibration=_calibration(data, seed=seed),
        ablations=ablations(items, base, profile, seed=seed, resamples=resamples) if ablate else (),
    )


def _measures(
    items: Sequence[EvaluatedItem], way: Decisions, base: Base, *, seed: int, resamples: int
) -> PolicyMeasures:
    asserted = [(items[i], way.actions[i]) for i in base.places]
    wrong = [(item, action) for item, action in asserted if not item.truth.right]
    right = [(item, action) for item, action in asserted if item.truth.right]
    everything = list(zip(items, way.actions, strict=True))
    known = base.labelled(way)
    return PolicyMeasures(
        policy=way.policy,
        caught=share_of(wrong, lambda a: a is not Action.SURE, seed=seed),
        withheld_wrong=share_of(wrong, lambda a: a is Action.WITHHELD, seed=seed),
        effective_refusal=share_of(
            [pair for pair in everything if _must_be_refused(pair[0])], lambda a: a is Action.WITHHELD, seed=seed
        ),
        wrong_refusal=share_of(
            [pair for pair in everything if pair[0].answerable is True], lambda a: a is Action.WITHHELD, seed=seed
        ),
        right_withheld=share_of(right, lambda a: a is Action.WITHHELD, seed=seed),
        right_given=_right_among(asserted, (Action.SURE, Action.DOUBT), seed),
        right_sure=_right_among(asserted, (Action.SURE,), seed),
        calibration_error=_calibration_error(way, base, seed=seed, resamples=resamples),
        aurc=measure_area(base, way.confidences, seed=seed, resamples=resamples),
        curve=tuple(risk_coverage(known.probabilities, known.outcomes)),
    )


def _must_be_refused(item: EvaluatedItem) -> bool:
    """Whether nothing should be asserted; an answer that rightly corrects the question may be given."""
    return item.answerable is False and not (item.truth.asserts and item.truth.right)


def _right_among(asserted: Sequence[tuple[EvaluatedItem, Action]], given: Sequence[Action], seed: int) -> Measured:
    kept = [(item, item.truth.right) for item, action in asserted if action in given]
    return share_of(kept, bool, seed=seed)


def _calibration_error(way: Decisions, base: Base, *, seed: int, resamples: int) -> Measured:
    if not way.is_probability:
        return Measured(value=None, reason="a retrieval score is no probability", n=len(base.places))
    return measure(
        calibration_error,
        [base.confidences(way.confidences), base.right],
        clusters=base.clusters,
        seed=seed,
        resamples=resamples,
    )


def _difference(base: Base, ours: Decisions, other: Decisions, *, seed: int, resamples: int) -> AreaDifference:
    def less(first: np.ndarray, second: np.ndarray, right: np.ndarray) -> float | Undefined:
        a, b = aurc(first, right), aurc(second, right)
        if isinstance(a, Undefined) or isinstance(b, Undefined):
            return Undefined(reason="there are no items")
        return a - b

    arrays = [base.confidences(ours.confidences), base.confidences(other.confidences), base.right]
    found = measure(less, arrays, clusters=base.clusters, seed=seed, resamples=resamples)
    return AreaDifference(
        baseline=other.policy, difference=found, verdict=verdict(found.interval, higher_is_better=False)
    )


def _curve_points(data: Labelled) -> tuple[CurvePoint, ...]:
    points = []
    for group in reliability_bins(data.probabilities, data.outcomes):
        interval = wilson(round(group.share * group.n), group.n)
        points.append(
            CurvePoint(
                said=group.mean_probability,
                found=group.share,
                n=group.n,
                interval=None if isinstance(interval, Undefined) else interval,
            )
        )
    return tuple(points)


def _review_load(data: Labelled, target: float, *, seed: int) -> ReviewLoad:
    fit, rest = split(data, seed=seed)
    chosen = largest_coverage(fit.probabilities, fit.outcomes, accuracy=target)
    if isinstance(chosen, Undefined) or not rest.ids:
        reason = chosen.reason if isinstance(chosen, Undefined) else "no case is left to report on"
        nothing = Measured(value=None, reason=reason, n=len(rest.ids))
        return ReviewLoad(target=target, threshold=None, reason=reason, load=nothing, accuracy=nothing)
    looked_at = [(case, p < chosen.threshold) for case, p in zip(rest.ids, rest.probabilities, strict=True)]
    passed = [
        (case, bool(y))
        for case, p, y in zip(rest.ids, rest.probabilities, rest.outcomes, strict=True)
        if p >= chosen.threshold
    ]
    return ReviewLoad(
        target=target,
        threshold=chosen.threshold,
        load=share_of(looked_at, bool, seed=seed),
        accuracy=share_of(passed, bool, seed=seed),
        load_fit=1 - chosen.coverage,
    )


def _calibration(data: Labelled, *, seed: int) -> CalibrationFit:
    fit, rest = split(data, seed=seed)
    fitted = fit_calibration(fit, method="platt")
    if isinstance(fitted, Undefined):
        return CalibrationFit(reason=fitted.reason)
    report = fitted.report(rest)
    if isinstance(report, Undefined):
        return CalibrationFit(map=fitted.map, reason=report.reason)
    return CalibrationFit(map=fitted.map, report=report)


def latency(items: Sequence[EvaluatedItem]) -> tuple[Latency, ...]:
    """Percentiles of every stage's milliseconds, the total last; cached results are left out."""
    names = list(dict.fromkeys(name for item in items for name in item.ms if name != _TOTAL))
    rows = []
    for name in [*names, _TOTAL]:
        values = [item.ms[name] for item in items if name in item.ms]
        if values:
            p50, p95, p99 = np.quantile(values, [0.5, 0.95, 0.99])
            rows.append(
                Latency(
                    stage=name, n=len(values), p50=float(p50), p95=float(p95), p99=float(p99), most=float(max(values))
                )
            )
    return tuple(rows)
