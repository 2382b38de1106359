"""Results → the frame of a report: the summary, the metrics' cards, the cases' order, diagnosis, reliability."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite

from offline_eval.core.evidence import VerdictEvidence
from offline_eval.core.response_detail import CurvePoint, MetricCard, Reliability, ReportFrame
from offline_eval.core.summary import RunSummary
from offline_eval.metrics.panel.total_grade import TotalGrade
from offline_eval.pipeline.aggregate import Results, summarize, warnings_of
from offline_eval.pipeline.diagnosis import diagnose_all, overall
from offline_eval.pipeline.metric_plan import METRICS
from offline_eval.pipeline.scoring import AnyMetric
from offline_eval.pipeline.slices import frequent_tags, language_of
from offline_eval.stats.calibration import calibration_error, reliability_bins
from offline_eval.stats.intervals import wilson
from offline_eval.stats.undefined import Undefined

PASS_GRADE = 2.0
"""Grade from which a person's label counts as a pass."""

HISTOGRAM_BINS = 8
_CUTOFF = re.compile(r"[@(]")  # of `ndcg@10` and `variant_score_drift(of=total_grade)`

_LONGEST_MEANING = 200

Labels = Mapping[tuple[str, str], float]
"""(response key, dimension) to a person's grade, 1 to 3."""


def report_frame(results: Results, *, summary: RunSummary | None = None, labels: Labels | None = None) -> ReportFrame:
    """Everything that a report shows beside the single responses.

    Args:
        summary: Of the results, where it was made already.
        labels: What people said; without them there is no reliability curve.
    """
    ordering = _ordering(results)
    diagnoses = diagnose_all(results.items, results.evidence, scores=results.scores)
    return ReportFrame(
        summary=summary or summarize(results),
        metrics=tuple(_card(metric) for metric in results.metrics),
        order=tuple(_order(results, ordering)),
        ordered_by=None if ordering is None else ordering.name,
        reliability=tuple(reliability(results, labels or {})),
        diagnosis=tuple(overall(diagnoses, seed=results.config.seed)),
        diagnoses={one.response_key: one for one in diagnoses},
        tags_left_out=len({tag for item in results.items for tag in item.case.tags})
        - len(frequent_tags(results.items)),
        histograms={} if ordering is None else _histograms(results, ordering),
        warnings=tuple(warnings_of(results)),
        language="zh" if 2 * sum(language_of(item) == "zh" for item in results.items) > len(results.items) else "en",
    )


def _card(metric: AnyMetric) -> MetricCard:
    return MetricCard(
        name=metric.name,
        group=METRICS.module(_CUTOFF.split(metric.name)[0]).split(".")[-2],
        low=metric.low if isfinite(metric.low) else None,
        high=metric.high if isfinite(metric.high) else None,
        higher_is_better=metric.higher_is_better,
        meaning=(metric.__doc__ or "").strip().split("\n", 1)[0][:_LONGEST_MEANING],
    )


def _ordering(results: Results) -> AnyMetric | None:
    """The total where there is one, else the first metric that scores single responses."""
    keys = [item.response.key for item in results.items]
    named = [metric for metric in results.metrics if metric.name == TotalGrade.name]
    per_response = [metric for metric in results.metrics if keys and keys[0] in results.scores[metric.name]]
    return next(iter([*named, *per_response]), None)


def _order(results: Results, by: AnyMetric | None) -> Sequence[str]:
    """Response keys, the worst first; failed ones before those to which the metric does not apply, both last."""
    keys = [item.response.key for item in results.items]
    if by is None:
        return keys
    sign = 1 if by.higher_is_better else -1
    scores = results.scores[by.name]

    def place(key: str) -> tuple[int, float, str]:
        score = scores[key]
        if score.value is not None:
            return (0, sign * score.value, key)
        return (1 if score.status == "failed" else 2, 0.0, key)

    return sorted(keys, key=place)


def _histograms(results: Results, metric: AnyMetric) -> dict[str, tuple[int, ...]]:
    """The metric's values by system, in bins of equal width; the last bin includes the highest value."""
    width = (metric.high - metric.low) / HISTOGRAM_BINS
    if not isfinite(width):
        return {}
    counts: dict[str, list[int]] = {}
    for score in results.scores[metric.name].values():
        if score.value is not None:
            bins = counts.setdefault(score.system, [0] * HISTOGRAM_BINS)
            bins[min(HISTOGRAM_BINS - 1, int((score.value - metric.low) / width + 1e-9))] += 1
    return {system: tuple(found) for system, found in counts.items()}


def reliability(results: Results, labels: Labels) -> Sequence[Reliability]:
    """Each judge's probability of a pass beside the share that people passed, per dimension.

    Args:
        labels: What people said about responses of this run; others are ignored.
    """
    pairs: dict[tuple[str, str], tuple[list[float], list[int]]] = {}
    for piece in results.of(VerdictEvidence) if labels else ():
        if piece.role != "examiner" or not piece.verdict.probabilities:
            continue
        grade = labels.get((piece.response_key, piece.dimension))
        if grade is None:
            continue
        said, found = pairs.setdefault((piece.judge, piece.dimension), ([], []))
        said.append(_pass_probability(piece.verdict.probabilities))
        found.append(int(grade >= PASS_GRADE))
    return [_curve(judge, dimension, *columns) for (judge, dimension), columns in sorted(pairs.items())]


def _pass_probability(probabilities: Mapping[str, float]) -> float:
    """Probability of grade 2 or more among the labels, in [0, 1]."""
    total = sum(probabilities.values())
    passed = sum(p for label, p in probabilities.items() if label.isdigit() and float(label) >= PASS_GRADE)
    return min(1.0, passed / total) if total else 0.0


def _curve(judge: str, dimension: str, said: Sequence[float], found: Sequence[int]) -> Reliability:
    points = []
    for group in reliability_bins(said, found):
        interval = wilson(round(group.share * group.n), group.n)
        shown = None if isinstance(interval, Undefined) else interval
        points.append(CurvePoint(said=group.mean_probability, found=group.share, n=group.n, interval=shown))
    error = calibration_error(said, found)
    return Reliability(
        judge=judge,
        dimension=dimension,
        n=len(said),
        points=tuple(points),
        error=None if isinstance(error, Undefined) else error,
    )
