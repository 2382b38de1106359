"""A system's true pass rate from a judged run and a few human labels of its answers, with honest intervals.

Why two ways: Rogan-Gladen needs only the judge's error rates, prediction-powered inference uses the labels themselves
and cannot be misled by a poor judge; where they disagree, trust the second.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import ceil

import numpy as np
from pydantic import Field, JsonValue

from offline_eval.benchmark.calibrate import human_threshold
from offline_eval.benchmark.decisions import PASS_FROM
from offline_eval.benchmark.labels import LabelRow
from offline_eval.core.errors import DataError
from offline_eval.core.protocols import Item
from offline_eval.core.records import Record
from offline_eval.judge.routing import PanelVerdict
from offline_eval.judge.rubric import load_rubric
from offline_eval.stats.arrays import Floats
from offline_eval.stats.corrected import CorrectedRate, JudgedCounts, labels_factor_to_halve, rogan_gladen
from offline_eval.stats.intervals import mean_interval
from offline_eval.stats.measured import Measured, measured
from offline_eval.stats.prediction_powered import PredictionPowered, labels_to_halve, prediction_powered_mean
from offline_eval.stats.undefined import Undefined


class RateEstimates(Record):
    """One rate, estimated four ways.

    Attributes:
        raw: What the judge says about all items.
        labels_alone: What people say about the labelled ones.
        rogan_gladen: The judge on the items without labels, put right with its error rates on the labelled ones.
        prediction_powered: PPI++: labels and judge together.
        weight: How much PPI++ listens to the judge, in [0, 1]; 0 is the labels alone.
        labels_to_halve: Labels in all that would halve the PPI++ interval; None, with the reason, when nobody can say.
        rogan_gladen_labels_to_halve: The same for Rogan-Gladen.
    """

    n_labelled: int = Field(ge=0)
    n_unlabelled: int = Field(ge=0)
    raw: Measured
    labels_alone: Measured
    rogan_gladen: Measured
    sensitivity: float | None = None
    specificity: float | None = None
    prediction_powered: Measured
    weight: float | None = None
    labels_to_halve: int | None = None
    labels_to_halve_reason: str | None = None
    rogan_gladen_labels_to_halve: int | None = None
    rogan_gladen_labels_to_halve_reason: str | None = None


class SystemEstimate(Record):
    """A system's pass rate on one dimension.

    Attributes:
        n_failed: Items whose verdict could not be had; they count as not passed by the judge.
        score: What PPI++ reads from the judge: `expected grade`, or `label` where some answer has no probabilities.
    """

    system: str
    dimension: str
    estimates: RateEstimates
    n_failed: int = Field(ge=0)
    score: str


class _Judged(Record):
    """One answer: the judge's pass and score in [0, 1], and the people's pass where there is a label."""

    case: str
    passed: float
    score: float | None
    label: float | None
    failed: bool = False


def rate_estimates(
    labels: Floats,
    passed: Floats,
    passed_unlabelled: Floats,
    *,
    scores: Floats | None = None,
    scores_unlabelled: Floats | None = None,
    seed: int = 0,
) -> RateEstimates:
    """Estimate a rate from labelled and unlabelled judged items; the labelled ones are a random part of all.

    Args:
        labels: Shape (n,), 0 or 1, what people said.
        passed: Shape (n,), 0 or 1, the judge on the same items.
        passed_unlabelled: Shape (N,), the judge on the others.
        scores: Shape (n,), a finer answer of the judge for PPI++, in [0, 1]; `passed` when None.
        scores_unlabelled: Shape (N,), the same on the others.
        seed: Of resampling.

    Returns:
        All estimates; each has a reason where it is missing.

    Source:
        `stats.corrected`, `stats.prediction_powered`.
    """
    everything = np.concatenate([passed, passed_unlabelled])
    fine = passed if scores is None else scores
    fine_more = passed_unlabelled if scores_unlabelled is None else scores_unlabelled
    counts = _judged_counts(labels, passed, passed_unlabelled)
    corrected = rogan_gladen(counts)
    powered = prediction_powered_mean(labels, fine, fine_more)
    factor = labels_factor_to_halve(counts)
    wanted = labels_to_halve(labels, fine, fine_more)
    return RateEstimates(
        n_labelled=labels.size,
        n_unlabelled=passed_unlabelled.size,
        raw=_share(everything, seed),
        labels_alone=_share(labels, seed),
        rogan_gladen=_measured(corrected, everything.size),
        sensitivity=corrected.sensitivity if isinstance(corrected, CorrectedRate) else None,
        specificity=corrected.specificity if isinstance(corrected, CorrectedRate) else None,
        prediction_powered=_measured(powered, everything.size),
        weight=powered.weight if isinstance(powered, PredictionPowered) else None,
        labels_to_halve=wanted if isinstance(wanted, int) else None,
        labels_to_halve_reason=wanted.reason if isinstance(wanted, Undefined) else None,
        rogan_gladen_labels_to_halve=ceil(factor * labels.size) if isinstance(factor, float) else None,
        rogan_gladen_labels_to_halve_reason=factor.reason if isinstance(factor, Undefined) else None,
    )


def _judged_counts(labels: Floats, passed: Floats, passed_unlabelled: Floats) -> JudgedCounts:
    """What Rogan-Gladen needs: the judge's passes without labels, and where labels say that it was right."""
    return JudgedCounts(
        positive=int(passed_unlabelled.sum()),
        n=passed_unlabelled.size,
        true_positive=int(passed[labels == 1].sum()),
        n_positive=int((labels == 1).sum()),
        true_negative=int((1 - passed[labels == 0]).sum()),
        n_negative=int((labels == 0).sum()),
    )


def system_estimates(
    items: Sequence[Item],
    verdicts: Mapping[str, PanelVerdict],
    rows: Sequence[LabelRow],
    *,
    run_id: str,
    pass_from: float = PASS_FROM,
    seed: int = 0,
) -> list[SystemEstimate]:
    """Every system's pass rate on every labelled dimension of a run.

    Args:
        items: The run's responses with their cases.
        verdicts: Response key to what the panel says.
        rows: Human labels with `response_key`; of binary rows 1 is a pass, of ordinal ones the level at the place of
            `pass_from`, or above. Of several answers to one case one counts, a labelled one if there is any, since
            they are no independent evidence.
        run_id: Rows that name another run are left out.
        pass_from: Lowest grade that is a pass.
        seed: Of resampling.

    Raises:
        DataError: No label belongs to a response of the run.
    """
    labels = _labels(items, rows, run_id, pass_from)
    found = []
    for dimension in sorted({name for _, name in labels}):
        by_system: dict[str, list[_Judged]] = defaultdict(list)
        for item in items:
            judged = _judged(item, verdicts[item.response.key], dimension, labels, pass_from)
            if judged is not None:
                by_system[item.response.system].append(judged)
        found += [_system(system, dimension, judged, seed) for system, judged in by_system.items()]
    return found


def flat_estimates(found: Sequence[SystemEstimate]) -> list[dict[str, JsonValue]]:
    """One line a system, dimension and way of estimating, for tables."""
    rows: list[dict[str, JsonValue]] = []
    for line in found:
        rates = line.estimates
        ways = {
            "judge, raw": (rates.raw, None, None),
            "labels alone": (rates.labels_alone, None, None),
            "Rogan-Gladen": (
                rates.rogan_gladen,
                rates.rogan_gladen_labels_to_halve,
                rates.rogan_gladen_labels_to_halve_reason,
            ),
            "PPI++": (rates.prediction_powered, rates.labels_to_halve, rates.labels_to_halve_reason),
        }
        for way, (rate, wanted, why_not) in ways.items():
            rows.append(
                {
                    "system": line.system,
                    "dimension": line.dimension,
                    "estimate": way,
                    "pass_rate": rate.value,
                    "low": rate.interval.low if rate.interval else None,
                    "high": rate.interval.high if rate.interval else None,
                    "labelled": rates.n_labelled,
                    "items": rates.n_labelled + rates.n_unlabelled,
                    "failed": line.n_failed,
                    "labels_to_halve": wanted,
                    "note": "; ".join(filter(None, (rate.reason or rate.interval_reason, why_not))),
                }
            )
    return rows


def _labels(
    items: Sequence[Item], rows: Sequence[LabelRow], run_id: str, pass_from: float
) -> dict[tuple[str, str], float]:
    """(response key, dimension) to what people said; pairs of answers and unsettled rows are left out."""
    known = {item.response.key for item in items}
    usable = [row for row in rows if row.kind != "pairwise" and row.human is not None and row.response_key is not None]
    found: dict[tuple[str, str], float] = {}
    for row in usable:
        if row.response_key not in known or row.run_id not in (None, run_id):
            continue
        threshold = 1.0 if row.kind == "binary" else human_threshold(row, pass_from)
        found[row.response_key, row.dimension] = float((row.human or 0.0) >= threshold)
    if not found:
        raise DataError(
            f"none of {len(rows)} labels belongs to a response of run {run_id}; a label names it as `response_key`, "
            f"for example {next(iter(sorted(known)), 'system/case')!r}"
        )
    return found


def _judged(
    item: Item, verdict: PanelVerdict, dimension: str, labels: Mapping[tuple[str, str], float], pass_from: float
) -> _Judged | None:
    """What judge and people say; None where the dimension does not apply to the answer."""
    label = labels.get((item.response.key, dimension))
    if dimension in verdict.failed:
        return _Judged(case=item.case.id, passed=0.0, score=0.0, label=label, failed=True)
    if dimension not in verdict.grades:
        return None
    grades = [level.grade for level in load_rubric(dimension, "en").levels if level.grade is not None]
    expected = verdict.expected_grades.get(dimension)
    score = None if expected is None else (expected - min(grades)) / (max(grades) - min(grades))
    return _Judged(case=item.case.id, passed=float(verdict.grades[dimension] >= pass_from), score=score, label=label)


def _system(system: str, dimension: str, judged: Sequence[_Judged], seed: int) -> SystemEstimate:
    has_scores = all(found.score is not None for found in judged)
    one_each = [_merged(group) for group in _by_case(judged)]
    labelled = [found for found in one_each if found.label is not None]
    others = [found for found in one_each if found.label is None]
    return SystemEstimate(
        system=system,
        dimension=dimension,
        estimates=rate_estimates(
            _column(found.label for found in labelled),
            _column(found.passed for found in labelled),
            _column(found.passed for found in others),
            scores=_column(found.score for found in labelled) if has_scores else None,
            scores_unlabelled=_column(found.score for found in others) if has_scores else None,
            seed=seed,
        ),
        n_failed=sum(found.failed for found in judged),
        score="expected grade" if has_scores else "label",
    )


def _by_case(judged: Sequence[_Judged]) -> list[list[_Judged]]:
    groups: dict[str, list[_Judged]] = defaultdict(list)
    for found in judged:
        groups[found.case].append(found)
    return list(groups.values())


def _merged(group: Sequence[_Judged]) -> _Judged:
    """One item a case: its first labelled answer, or its first."""
    return next((found for found in group if found.label is not None), group[0])


def _column(values: Iterable[float | None]) -> Floats:
    return np.array([0.0 if value is None else value for value in values], dtype=np.float64)


def _measured(found: CorrectedRate | PredictionPowered | Undefined, n: int) -> Measured:
    if isinstance(found, Undefined):
        return measured(found, found, n=n)
    return Measured(value=found.value, interval=found.interval, interval_reason=found.interval_reason, n=n)


def _share(values: Floats, seed: int) -> Measured:
    if not values.size:
        missing = Undefined(reason="there are no items")
        return measured(missing, missing, n=0)
    return measured(float(values.mean()), mean_interval(values, low=0.0, high=1.0, seed=seed), n=values.size)
