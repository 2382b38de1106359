"""Labelled cases → proposed gates: chosen on one part of the labels and reported on the other, never the same.

A proposal has two numbers: the value from which a case passes, and the share of cases that has to pass. The share is
the lower bound of what acceptable cases reach, so that a run of acceptable cases passes.
"""

from collections.abc import Mapping, Sequence
from math import ceil, floor
from pathlib import Path

import numpy as np

from offline_eval.core.errors import DataError
from offline_eval.core.results import Interval
from offline_eval.core.suggestion import Suggestion
from offline_eval.formats.problems import Problems, refuse
from offline_eval.formats.rows import read_rows
from offline_eval.pipeline.scoring import AnyMetric
from offline_eval.pipeline.sides import Side
from offline_eval.stats.intervals import mean_interval, wilson
from offline_eval.stats.measured import measure
from offline_eval.stats.separation import auroc
from offline_eval.stats.splits import Labelled, split
from offline_eval.stats.thresholds import Target, Threshold, choose_threshold
from offline_eval.stats.undefined import Undefined

LEAST_OF_EACH = 5  # acceptable and unacceptable cases in each part; fewer show nothing
_CHANCE = 0.5
_STEPS = 1_000_000
_YES = {"true", "1", "yes", "acceptable", "ok", "是", "合格", "可接受"}
_NO = {"false", "0", "no", "unacceptable", "bad", "否", "不合格", "不可接受"}


def read_labels(path: Path, *, cases: Sequence[str]) -> dict[tuple[str, str | None], bool]:
    """Read `case_id, acceptable` and, where a label belongs to one system alone, `system`.

    Args:
        cases: Ids of the run's cases.

    Returns:
        Case id and system (None for all) to whether it is acceptable.

    Raises:
        DataError: All bad rows, with their lines.
    """
    problems = Problems(str(path))
    known, found = set(cases), {}
    for row in read_rows(path, problems):
        case_id, label = row.values.get("case_id", row.values.get("id")), row.values.get("acceptable")
        word = str(label).strip().casefold()
        if not isinstance(case_id, str) or case_id not in known:
            problems.add(row.line, f"case_id {case_id!r}: no such case in the run, expected one of its ids")
        elif word not in _YES | _NO:
            problems.add(row.line, f"acceptable {label!r}: expected true or false")
        else:
            system = row.values.get("system")
            found[case_id, str(system) if system else None] = word in _YES
    refuse([problems])
    return found


def suggest(
    sides: Sequence[Side], labels: Mapping[tuple[str, str | None], bool], *, metrics: Sequence[str], seed: int
) -> list[Suggestion]:
    """Propose a gate for each metric, or say why there is none.

    Args:
        sides: The systems whose responses the labels are about.
        labels: Case id and system (None for all) to whether the response is acceptable.
        metrics: Which metrics.
        seed: Of the split and of the intervals.

    Raises:
        DataError: No label belongs to a response of these systems.
    """
    if not any(_label(labels, item.case.id, side.system) is not None for side in sides for item in side.items):
        raise DataError("no label belongs to a response of this run; check case_id and system")
    return [_suggest(name, sides, labels, seed) for name in metrics]


def _suggest(name: str, sides: Sequence[Side], labels: Mapping[tuple[str, str | None], bool], seed: int) -> Suggestion:
    metric = sides[0].metric(name)
    rows: list[tuple[str, float, int]] = []
    unscored = 0
    for side in sides:
        for score in side.scores(name).values():
            label = _label(labels, score.cluster, side.system)
            if label is not None and score.value is not None:
                rows.append((score.cluster, _goodness(metric, score.value), int(label)))
            unscored += label is not None and score.value is None
    if not np.isfinite([metric.low, metric.high]).all():
        return _none(name, rows, unscored, "the metric's range has no end")
    data = Labelled(
        ids=tuple(r[0] for r in rows), probabilities=tuple(r[1] for r in rows), outcomes=tuple(r[2] for r in rows)
    )
    fit, report = split(data, seed=seed)
    for part, what in ((fit, "fit"), (report, "report")):
        good = sum(part.outcomes)
        if min(good, len(part.outcomes) - good) < LEAST_OF_EACH:
            have = f"{good} acceptable and {len(part.outcomes) - good} unacceptable"
            return _none(name, rows, unscored, f"the {what} part has {have}; {LEAST_OF_EACH} of each are needed")
    chosen = choose_threshold(fit, target=Target(aim="cost"))
    if isinstance(chosen, Undefined) or chosen.value > 1:
        return _none(name, rows, unscored, "no threshold is better than accepting nothing")
    return _reported(metric, chosen, report, n_fit=len(fit.ids), unscored=unscored, seed=seed)


def _reported(
    metric: AnyMetric, chosen: Threshold, report: Labelled, *, n_fit: int, unscored: int, seed: int
) -> Suggestion:
    cut = chosen.report(report)
    p, y = report.arrays()
    separation = measure(auroc, [p, y], clusters=report.ids, seed=seed)
    apart = separation.interval or _perfect(separation.value, report)
    kept = [(float(value >= chosen.value), id) for value, label, id in zip(p, y, report.ids, strict=True) if label]
    share = mean_interval([flag for flag, _ in kept], low=0, high=1, clusters=[id for _, id in kept], seed=seed)
    figures = {
        "precision": cut.precision,
        "recall": cut.recall,
        "separation": separation.value,
        "separation_interval": apart,
        "n_fit": n_fit,
        "n_report": len(report.ids),
        "n_unscored": unscored,
    }
    reason = _why_not(apart, share, recall=cut.recall)
    if reason is not None or isinstance(share, Undefined):
        return Suggestion.model_validate({"metric": metric.name, **figures, "reason": reason})
    # Rounded outwards, so that the value it was taken from still passes.
    outwards, side = (floor, "case_at_least") if metric.higher_is_better else (ceil, "case_at_most")
    limit = outwards(_value(metric, chosen.value) * _STEPS) / _STEPS
    return Suggestion.model_validate({"metric": metric.name, **figures, side: limit, "at_least": round(share.low, 3)})


def _perfect(value: float | None, report: Labelled) -> Interval | None:
    """Where every acceptable case lies above every other, resampling shows no spread.

    Then each unacceptable case, set beside an acceptable one of its own, is a success of its own: Wilson over those.
    """
    if value != 1:
        return None
    good, bad = ({id for id, y in zip(report.ids, report.outcomes, strict=True) if y == label} for label in (1, 0))
    pairs = min(len(good), len(bad))
    found = wilson(pairs, pairs)
    return None if isinstance(found, Undefined) else found


def _why_not(separation: Interval | None, share: Interval | Undefined, *, recall: float | None) -> str | None:
    if separation is None:
        return "how well it tells acceptable from unacceptable has no interval; label more cases"
    if separation.low <= _CHANCE:
        return "it does not tell acceptable from unacceptable cases: the interval of its separation reaches chance (.5)"
    if isinstance(share, Undefined):
        return f"the share of acceptable cases that pass has no interval: {share.reason}"
    return None if recall else "no acceptable case passes"


def _none(name: str, rows: Sequence[object], unscored: int, reason: str) -> Suggestion:
    return Suggestion(metric=name, n_fit=0, n_report=0, n_unscored=unscored, reason=f"{reason} ({len(rows)} labelled)")


def _label(labels: Mapping[tuple[str, str | None], bool], case_id: str, system: str) -> bool | None:
    """The system's own label before one for all systems."""
    return labels.get((case_id, system), labels.get((case_id, None)))


def _goodness(metric: AnyMetric, value: float) -> float:
    """The value's place in the metric's range, 1 being the good end."""
    share = (value - metric.low) / (metric.high - metric.low)
    return share if metric.higher_is_better else 1 - share


def _value(metric: AnyMetric, goodness: float) -> float:
    share = goodness if metric.higher_is_better else 1 - goodness
    return metric.low + share * (metric.high - metric.low)
