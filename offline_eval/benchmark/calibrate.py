"""Whether a judge's label probabilities mean what they say, and maps, thresholds and weights that put them right.

Everything that is fitted is fitted on one part of the labels and reported on the other; a row never counts on both.
"""

from collections.abc import Sequence
from typing import get_args

import numpy as np
from pydantic import Field

from offline_eval.benchmark.decisions import PASS_FROM
from offline_eval.benchmark.judges import rubric_of
from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.core.records import Record
from offline_eval.core.results import Interval
from offline_eval.stats.arrays import Floats
from offline_eval.stats.calibration import (
    BINS,
    Binning,
    BrierParts,
    ReliabilityBin,
    brier,
    calibration_error,
    debiased_calibration_error,
    reliability_bins,
)
from offline_eval.stats.intervals import bootstrap
from offline_eval.stats.measured import Measured, measured
from offline_eval.stats.recalibration import CalibrationMap, Method, fit_calibration
from offline_eval.stats.splits import Labelled, split
from offline_eval.stats.thresholds import Cut, Target, choose_threshold
from offline_eval.stats.undefined import Undefined

LEAST = 20  # items in each part; below, a map fits noise and its report says nothing
RESAMPLES = 500  # enough for two digits of an interval; each builds every bin again


class MapReport(Record):
    """One map, fitted on the fit part, with what it does to the report part.

    Attributes:
        map: None when it could not be fitted; then `reason` says why.
        error: Expected calibration error after the map.
    """

    method: Method
    map: CalibrationMap | None = None
    reason: str | None = None
    error: Measured | None = None
    brier: BrierParts | None = None


class ThresholdReport(Record):
    """A threshold for a stated target, chosen on the fit part.

    Attributes:
        value: None when no threshold reaches the target; then `reason` says why.
        on_report: What it does to the report part.
    """

    target: Target
    value: float | None = None
    reason: str | None = None
    on_report: Cut | None = None


class CalibrationResult(Record):
    """A judge's calibration on the report part of a label set.

    Attributes:
        positive: What the probability is of, in words.
        n_fit: Rows the maps were fitted on.
        n_report: Rows everything here is about.
        left_out: Rows without a verdict, probabilities or a settled label, by reason.
        bins: Reliability curve before any map.
        error: Expected calibration error before any map, binning as stated.
        debiased_error: Root mean square, chance taken out, equal-mass bins.
        reason: Why there is nothing to report.
    """

    judge: str
    positive: str
    n_fit: int = Field(ge=0)
    n_report: int = Field(ge=0)
    left_out: dict[str, int] = Field(default_factory=dict)
    n_bins: int = BINS
    binning: Binning = "equal_width"
    bins: tuple[ReliabilityBin, ...] = ()
    error: Measured | None = None
    debiased_error: float | None = None
    debiased_reason: str | None = None
    brier: BrierParts | None = None
    maps: tuple[MapReport, ...] = ()
    thresholds: tuple[ThresholdReport, ...] = ()
    seed: int
    reason: str | None = None


def calibrate(
    rows: Sequence[LabelRow],
    answers: Sequence[JudgedRow],
    *,
    judge: str,
    targets: Sequence[Target] = (),
    pass_from: float = PASS_FROM,
    binning: Binning = "equal_width",
    n_bins: int = BINS,
    seed: int,
) -> CalibrationResult:
    """Fit on half of the labels, report on the other half; rows of one cluster stay on one side.

    Args:
        rows: Of one label set.
        answers: The judge's answer to each, in their order.
        targets: What thresholds are wanted for.
        pass_from: Lowest grade that counts as yes; on an ordinal scale people's yes begins at the same place.
        seed: Of the split and the resampling.
    """
    data, left_out = probabilities(rows, answers, pass_from=pass_from)
    fit, report = split(data, seed=seed)
    common = {
        "judge": judge,
        "positive": _positive(rows, pass_from),
        "n_fit": len(fit.ids),
        "n_report": len(report.ids),
        "left_out": left_out,
        "n_bins": n_bins,
        "binning": binning,
        "seed": seed,
    }
    if min(len(fit.ids), len(report.ids)) < LEAST:
        reason = f"needs {LEAST} rows in each part, here {len(fit.ids)} to fit on and {len(report.ids)} to report on"
        return CalibrationResult(reason=reason, **common)
    p, y = report.arrays()
    debiased = debiased_calibration_error(p, y, bins=n_bins)
    parts = brier(p, y, bins=n_bins, binning=binning)
    return CalibrationResult(
        bins=tuple(reliability_bins(p, y, bins=n_bins, binning=binning)),
        error=_error(p, report, n_bins, binning, seed),
        debiased_error=None if isinstance(debiased, Undefined) else debiased,
        debiased_reason=debiased.reason if isinstance(debiased, Undefined) else None,
        brier=None if isinstance(parts, Undefined) else parts,
        maps=tuple(_map(method, fit, report, n_bins, binning, seed) for method in get_args(Method)),
        thresholds=tuple(_threshold(target, fit, report) for target in targets),
        **common,
    )


def probabilities(
    rows: Sequence[LabelRow], answers: Sequence[JudgedRow], *, pass_from: float = PASS_FROM
) -> tuple[Labelled, dict[str, int]]:
    """The judge's probability of a yes beside what people said.

    Args:
        rows: Binary: yes is 1. Ordinal: yes is the scale's level at the place of `pass_from`, or above. Pairwise: yes
            is the first answer; ties are left out.
        answers: One a row, in their order.
        pass_from: Lowest grade of the rubric that counts as yes.

    Returns:
        Items by cluster, and how many rows were left out for which reason.
    """
    ids: list[str] = []
    found: list[float] = []
    outcomes: list[int] = []
    left_out: dict[str, int] = {}
    for row, answer in zip(rows, answers, strict=True):
        probability, outcome = _probability(row, answer, pass_from), _outcome(row, pass_from)
        problem = probability if isinstance(probability, str) else outcome if isinstance(outcome, str) else None
        if problem is not None:
            left_out[problem] = left_out.get(problem, 0) + 1
            continue
        ids.append(row.cluster_name)
        found.append(float(probability))
        outcomes.append(int(outcome))
    return Labelled(ids=tuple(ids), probabilities=tuple(found), outcomes=tuple(outcomes)), left_out


def _probability(row: LabelRow, answer: JudgedRow, pass_from: float) -> float | str:
    """Probability of a yes over the labels that count, or why there is none."""
    verdict = answer.verdict
    if answer.decision is None:
        return "no verdict"
    if verdict is None:
        return answer.score if row.kind == "binary" and answer.score is not None else "no probabilities"
    if not verdict.probabilities:
        return "decided by rule" if verdict.decided_by == "rule" else "no probabilities"
    if row.kind == "pairwise":
        yes, no = verdict.probabilities["A"], verdict.probabilities["B"]
    else:
        levels = rubric_of(row).levels
        yes = sum(verdict.probabilities[level.label] for level in levels if (level.grade or 0.0) >= pass_from)
        no = sum(verdict.probabilities[level.label] for level in levels if (level.grade or 0.0) < pass_from)
    return yes / (yes + no) if yes + no > 0 else "no mass on the labels"


def _outcome(row: LabelRow, pass_from: float) -> int | str:
    human = row.human
    if human is None:
        return "people disagree"
    if row.kind == "pairwise":
        return "people call it a tie" if human == 0 else int(human > 0)
    if row.kind == "binary":
        return int(human)
    return int(human >= human_threshold(row, pass_from))


def human_threshold(row: LabelRow, pass_from: float) -> float:
    """Where people's yes begins on an ordinal scale: at the place that `pass_from` has on the rubric's grades."""
    grades = [level.grade for level in rubric_of(row).levels if level.grade is not None]
    place = (pass_from - min(grades)) / (max(grades) - min(grades))
    return row.scale[0] + place * (row.scale[-1] - row.scale[0])


def _positive(rows: Sequence[LabelRow], pass_from: float) -> str:
    kind = rows[0].kind if rows else "binary"
    if kind == "pairwise":
        return "the first answer is better (ties left out)"
    people = "people say 1" if kind == "binary" else "people's level is at the same place or above"
    return f"grade {pass_from:g} or above; {people}"


def _error(p: Floats, report: Labelled, n_bins: int, binning: Binning, seed: int) -> Measured:
    _, y = report.arrays()

    def error(probability: Floats, outcome: Floats) -> float | Undefined:
        return calibration_error(probability, outcome, bins=n_bins, binning=binning)

    interval: Interval | Undefined = bootstrap(error, [p, y], clusters=report.ids, seed=seed, resamples=RESAMPLES)
    return measured(error(p, y), interval, n=p.size)


def _map(method: Method, fit: Labelled, report: Labelled, n_bins: int, binning: Binning, seed: int) -> MapReport:
    fitted = fit_calibration(fit, method=method)
    if isinstance(fitted, Undefined):
        return MapReport(method=method, reason=fitted.reason)
    done = fitted.report(report, bins=n_bins, binning=binning)
    if isinstance(done, Undefined):
        return MapReport(method=method, reason=done.reason)
    after = fitted.map.apply(np.asarray(report.probabilities))
    return MapReport(
        method=method,
        map=fitted.map,
        error=_error(after, report, n_bins, binning, seed),
        brier=done.brier_after,
    )


def _threshold(target: Target, fit: Labelled, report: Labelled) -> ThresholdReport:
    chosen = choose_threshold(fit, target=target)
    if isinstance(chosen, Undefined):
        return ThresholdReport(target=target, reason=chosen.reason)
    return ThresholdReport(target=target, value=chosen.value, on_report=chosen.report(report))
