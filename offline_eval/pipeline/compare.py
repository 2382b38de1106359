"""Systems on the same cases: paired differences, one correction over all of them, and what moved most.

Pairing by case takes the spread between easy and hard cases out of the comparison, which is most of it.
"""

from collections.abc import Mapping, Sequence

from offline_eval.core.comparison import Compared, Comparison, MetricComparison, Mismatch, Moved
from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.protocols import Item, ProgressCallback
from offline_eval.core.records import query_of
from offline_eval.core.results import Score, Status
from offline_eval.pipeline.mismatch import mismatches
from offline_eval.pipeline.scoring import AnyMetric
from offline_eval.pipeline.sides import Side, counted
from offline_eval.stats.intervals import LEVEL, RESAMPLES
from offline_eval.stats.paired import compare_paired, holm, verdict

MOVED_SHOWN = 10


def compare(
    sides: Sequence[Side],
    *,
    seed: int,
    by: str | None = None,
    allow_mismatch: bool = False,
    moved: int = MOVED_SHOWN,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    progress: ProgressCallback = lambda done, total: None,
) -> Comparison:
    """Compare the first side with each of the others.

    Args:
        sides: Two or more; the first is the baseline.
        seed: Seed of resampling and sign flips.
        by: Metric that decides which cases moved most; None for the first.
        allow_mismatch: Compare runs on other test sets, judges or rubrics all the same, and say what differs.
        moved: Cases shown for each candidate.
        resamples: Number of resamples, 100 or more.
        level: Coverage of the intervals, in (0, 1).
        progress: Called after every metric of every candidate.

    Raises:
        UsageError: Fewer than two sides, no metric in common, or an unknown `by`.
        DataError: The runs do not fit each other.
    """
    if len(sides) < 2:
        raise UsageError("a comparison needs two systems: name two runs, or a run with several systems")
    metrics, left_out = _shared_metrics(sides)
    chosen = by or metrics[0]
    if chosen not in metrics:
        raise UsageError(f"{chosen}: not a metric of these runs; they have {', '.join(metrics)}")
    found = _mismatches(sides, metrics, allow=allow_mismatch)
    pairs = [(name, side) for side in sides[1:] for name in metrics]
    rows = []
    for name, side in pairs:
        rows.append(compare_metric(name, sides[0], side, seed=seed, resamples=resamples, level=level))
        progress(len(rows), len(pairs))
    rows, n_tests = _corrected(rows, alpha=1 - level)
    return Comparison(
        sides=tuple(_compared(side) for side in sides),
        metrics=tuple(rows),
        mismatches=tuple(found),
        moved=tuple(case for side in sides[1:] for case in _moved(chosen, sides[0], side, moved)),
        left_out=tuple(left_out),
        n_tests=n_tests,
        level=level,
        seed=seed,
    )


def compare_metric(
    name: str, baseline: Side, candidate: Side, *, seed: int, resamples: int = RESAMPLES, level: float = LEVEL
) -> MetricComparison:
    """One metric over the cells both sides have; failed items count at the bad end of its range."""
    metric = baseline.metric(name)
    before, after = baseline.scores(name), candidate.scores(name)
    cells = [cell for cell in before if cell in after]
    nothing = _nothing_scored({baseline.label: [before[c] for c in cells], candidate.label: [after[c] for c in cells]})
    found = compare_paired(
        [None if nothing else counted(before[cell], metric) for cell in cells],
        [None if nothing else counted(after[cell], metric) for cell in cells],
        clusters=[before[cell].cluster for cell in cells],
        higher_is_better=metric.higher_is_better,
        seed=seed,
        resamples=resamples,
        level=level,
    )
    return MetricComparison(
        metric=name,
        higher_is_better=metric.higher_is_better,
        baseline=baseline.label,
        candidate=candidate.label,
        baseline_mean=found.baseline_mean,
        candidate_mean=found.candidate_mean,
        difference=found.difference.value,
        reason=None if found.difference.value is not None else nothing or found.difference.reason,
        interval=found.difference.interval,
        interval_reason=nothing or found.difference.interval_reason,
        n=found.difference.n,
        n_left_out=found.n_left_out,
        unpaired=len(before.keys() ^ after.keys()),
        failed_baseline=_failed(before, cells),
        failed_candidate=_failed(after, cells),
        wins=found.wins,
        ties=found.ties,
        losses=found.losses,
        p=found.p,
        p_method=found.p_method,
        smallest_difference=found.smallest_difference,
        verdict=found.verdict,
    )


def refuse_mismatch(found: Sequence[Mismatch]) -> None:
    """Refuse to compare what cannot be compared.

    Raises:
        DataError: Something that decides the numbers differs; everything that does is named.
    """
    blocking = [f"{one.what} ({one.label}): {one.detail}" for one in found if one.blocks]
    if blocking:
        raise DataError(
            ["the runs do not fit each other; --allow-mismatch compares them all the same. Different are:", *blocking]
        )


def _mismatches(sides: Sequence[Side], metrics: Sequence[str], *, allow: bool) -> list[Mismatch]:
    first = sides[0].results
    found = [m for side in sides[1:] for m in mismatches(first, side.results, label=side.label, metrics=metrics)]
    if not allow:
        refuse_mismatch(found)
    return found


def _shared_metrics(sides: Sequence[Side]) -> tuple[list[str], list[str]]:
    every = list(dict.fromkeys(name for side in sides for name in side.metric_names))
    shared = [name for name in every if all(name in side.metric_names for side in sides)]
    if not shared:
        raise UsageError("these runs have no metric in common; --metrics scores them again from their evidence")
    return shared, [name for name in every if name not in shared]


def _corrected(rows: Sequence[MetricComparison], *, alpha: float) -> tuple[list[MetricComparison], int]:
    """Holm over every test of the comparison; a verdict needs both the interval and the adjusted p."""
    adjusted = holm({str(place): row.p for place, row in enumerate(rows) if row.p is not None})
    found = []
    for place, row in enumerate(rows):
        p = adjusted.get(str(place))
        told = verdict(row.interval, higher_is_better=row.higher_is_better, adjusted_p=p, alpha=alpha)
        found.append(row.model_copy(update={"adjusted_p": p, "verdict": told}))
    return found, len(adjusted)


def _nothing_scored(sides: Mapping[str, Sequence[Score]]) -> str | None:
    """A side of failures alone has no score: it is neither better nor worse, it is missing."""
    empty = [label for label, scores in sides.items() if not any(score.value is not None for score in scores)]
    return f"nothing was scored for {', '.join(empty)}" if empty else None


def _failed(scores: Mapping[str, Score], cells: Sequence[str]) -> int:
    return sum(scores[cell].status is Status.FAILED for cell in cells)


def _compared(side: Side) -> Compared:
    return Compared(label=side.label, run_id=side.results.run_id, system=side.system, n=len(side.items))


def _moved(name: str, baseline: Side, candidate: Side, shown: int) -> list[Moved]:
    """The largest changes, losses before gains of the same size."""
    metric = baseline.metric(name)
    before, after = baseline.scores(name), candidate.scores(name)
    changes = []
    for cell in before:
        a, b = (counted(s[cell], metric) if cell in s else None for s in (before, after))
        if a is not None and b is not None and a != b:
            changes.append((b - a if metric.higher_is_better else a - b, b - a, cell))
    changes.sort(key=lambda change: (-abs(change[0]), change[0], change[2]))
    return [
        _moved_case(metric, baseline, candidate, cell=cell, change=change, gain=good > 0)
        for good, change, cell in changes[:shown]
    ]


def _moved_case(metric: AnyMetric, baseline: Side, candidate: Side, *, cell: str, change: float, gain: bool) -> Moved:
    item = _item(baseline, cell)
    other = _item(candidate, cell)
    return Moved(
        metric=metric.name,
        baseline=baseline.label,
        candidate=candidate.label,
        cell=cell,
        query=query_of(item.case, item.response),
        change=change,
        gain=gain,
        baseline_text=_text(baseline.scores(metric.name)[cell]),
        candidate_text=_text(candidate.scores(metric.name)[cell]),
        baseline_answer=item.response.error or item.response.answer,
        candidate_answer=other.response.error or other.response.answer,
    )


def _item(side: Side, cell: str) -> Item:
    """The response of a cell; for a metric of a whole case, the case's first one."""
    exact = [item for item in side.items if item.response.key == f"{side.system}/{cell}"]
    return (exact or [item for item in side.items if item.case.id == cell])[0]


def _text(score: Score) -> str:
    return f"{score.value:.3g}" if score.value is not None else f"{score.status}: {score.reason}"
