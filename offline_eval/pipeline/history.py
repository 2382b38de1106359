"""A folder of run files → one trend a metric; a file that cannot be read is a row that says so, never the end of it."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path

from offline_eval.core.errors import OfflineEvalError
from offline_eval.core.history import History, RunPoint, Series
from offline_eval.core.protocols import ProgressCallback
from offline_eval.core.results import Estimate
from offline_eval.pipeline.aggregate import Results
from offline_eval.pipeline.metric_plan import load_metric
from offline_eval.pipeline.mismatch import changes_between
from offline_eval.pipeline.sides import Side, systems_of
from offline_eval.stats.estimate import estimate

OpenResults = Callable[[Path], Results]


def read_history(
    paths: Sequence[Path],
    open_results: OpenResults,
    *,
    folder: str,
    metrics: Sequence[str] = (),
    systems: Sequence[str] = (),
    progress: ProgressCallback = lambda done, total: None,
) -> History:
    """Read every run once.

    Args:
        paths: Run files, the oldest first.
        open_results: Reads one run; its errors become the run's `problem`.
        folder: What the history is called.
        metrics: Metrics that are shown; all when empty.
        systems: Systems that are shown; all when empty.
        progress: Called after every file.
    """
    runs: list[RunPoint] = []
    before: Results | None = None
    for done, path in enumerate(paths, 1):
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
        try:
            results = open_results(path)
            runs.append(_point(path, changed, results, before=before, metrics=metrics, systems=systems))
            before = results
        except OfflineEvalError as error:
            runs.append(RunPoint(file=path.name, changed=changed, problem=str(error)))
        progress(done, len(paths))
    return History(folder=folder, runs=tuple(runs), series=tuple(_series(runs)))


def _point(
    path: Path,
    changed: str,
    results: Results,
    *,
    before: Results | None,
    metrics: Sequence[str],
    systems: Sequence[str],
) -> RunPoint:
    found = []
    for system in systems_of(results):
        if systems and system not in systems:
            continue
        side = Side(system, results, system)
        found += [_estimate(side, name) for name in side.metric_names if not metrics or name in metrics]
    return RunPoint(
        file=path.name,
        changed=changed,
        run_id=results.run_id,
        systems=tuple(systems_of(results)),
        n_cases=len(results.cases),
        estimates=tuple(found),
        changes=() if before is None else tuple(changes_between(before, results)),
    )


def _estimate(side: Side, name: str) -> Estimate:
    metric = side.metric(name)
    return estimate(
        list(side.scores(name).values()),
        low=metric.low,
        high=metric.high,
        higher_is_better=metric.higher_is_better,
        seed=side.results.config.seed,
    )


def _series(runs: Sequence[RunPoint]) -> list[Series]:
    points: dict[tuple[str, str], list[tuple[int, Estimate]]] = {}
    for place, run in enumerate(runs):
        for found in run.estimates:
            points.setdefault((found.system, found.metric), []).append((place, found))
    breaks = tuple(place for place, run in enumerate(runs) if run.changes)
    return [
        Series(system=system, metric=metric, points=tuple(found), breaks=breaks, low=low, high=high)
        for (system, metric), found in points.items()
        for low, high in [_range(metric, [one for _, one in found])]
    ]


def _range(name: str, found: Sequence[Estimate]) -> tuple[float, float]:
    """The metric's own range, so that a trend is not larger than it looks; what was measured where it has no end."""
    metric = load_metric(name)
    low, high = metric.low, metric.high
    if isfinite(low) and isfinite(high):
        return low, high
    seen = [one.value for one in found if one.value is not None]
    seen += [bound for one in found if one.interval for bound in (one.interval.low, one.interval.high)]
    return (min(seen), max(seen)) if seen else (0.0, 1.0)
