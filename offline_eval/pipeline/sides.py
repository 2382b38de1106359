"""One system of one run, addressed as `RUN` or `RUN:system`, with its scores by case: what is compared and gated."""

from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.core.protocols import Item
from offline_eval.core.results import Score, Status
from offline_eval.pipeline.aggregate import Results
from offline_eval.pipeline.scoring import AnyMetric, scored_keys

OpenResults = Callable[[str], Results]


class Side:
    """A system within a run.

    Args:
        label: How people call it.
        results: The run.
        system: One of its systems.
    """

    def __init__(self, label: str, results: Results, system: str) -> None:
        self.label = label
        self.results = results
        self.system = system
        self.items = [item for item in results.items if item.response.system == system]

    def metric(self, name: str) -> AnyMetric:
        """A metric the run was scored on."""
        return next(metric for metric in self.results.metrics if metric.name == name)

    @property
    def metric_names(self) -> list[str]:
        """What the run was scored on."""
        return [metric.name for metric in self.results.metrics]

    def scores(self, name: str, items: Sequence[Item] | None = None) -> dict[str, Score]:
        """Scores by cell: case, variant and attempt, without the system, so that two sides can be paired.

        Args:
            items: Those of a slice; None for all.
        """
        keys = scored_keys(self.metric(name), self.items if items is None else items)
        found = self.results.scores[name]
        return {key.removeprefix(f"{self.system}/"): found[key] for key in keys}


def systems_of(results: Results) -> list[str]:
    """The run's systems in the order of its responses."""
    return list(dict.fromkeys(item.response.system for item in results.items))


def pick_sides(specs: Sequence[str], open_results: OpenResults) -> list[Side]:
    """Read `RUN` and `RUN:system`.

    A single run stands for all of its systems. Beside others a run must have one system or name one.

    Args:
        specs: One or more.
        open_results: Opens a run by what the user wrote before the colon.

    Raises:
        UsageError: Several systems and none named, or a run without responses.
        UnknownNameError: The run has no such system.
    """
    opened: dict[str, Results] = {}
    sides = []
    for spec in specs:
        results, system = _opened(spec, opened, open_results)
        known = systems_of(results)
        if not known:
            raise UsageError(f"{spec}: the run has no responses, so there is nothing to measure")
        if system is not None and system not in known:
            raise UnknownNameError(f"system in run {results.run_id}", system, known)
        if system is None and len(known) > 1 and len(specs) > 1:
            named = ", ".join(f"{spec}:{name}" for name in known)
            raise UsageError(f"{spec}: the run has {len(known)} systems; name one: {named}")
        chosen = known if system is None else [system]
        sides += [Side("", results, name) for name in chosen]
    return _labelled(sides)


def _opened(spec: str, opened: dict[str, Results], open_results: OpenResults) -> tuple[Results, str | None]:
    name, system = _split(spec)
    if name not in opened:
        opened[name] = open_results(name)
    return opened[name], system


def _split(spec: str) -> tuple[str, str | None]:
    """The first colon ends the run, since systems' names may hold colons too; in a path the first that ends a file."""
    colons = [place for place, char in enumerate(spec) if char == ":"]
    for end in [len(spec), *colons]:
        if Path(spec[:end]).is_file():
            return spec[:end], spec[end + 1 :] or None
    run, _, system = spec.partition(":")
    return (run, system or None) if run else (spec, None)


def _labelled(sides: Sequence[Side]) -> list[Side]:
    """Systems' names, with the run's id where two sides would be called alike."""
    names = [side.system for side in sides]
    runs = {side.results.run_id for side in sides}
    found = []
    for place, side in enumerate(sides):
        label = side.system if names.count(side.system) == 1 else f"{side.results.run_id[:8]}:{side.system}"
        if names.count(side.system) > 1 and len(runs) < len(sides):
            label = f"{label} ({place + 1})"
        found.append(Side(label, side.results, side.system))
    return found


def counted(score: Score, metric: AnyMetric, *, fears_low: bool | None = None) -> float | None:
    """A score's value in a difference: a failed item counts at the bad end.

    Args:
        fears_low: Whether the low end is the bad one; None for the metric's own bad end.

    Returns:
        None where the metric does not apply, and for a failed item without a finite bad end.
    """
    if score.status is Status.NOT_APPLICABLE:
        return None
    if score.value is not None:
        return score.value
    is_low = metric.higher_is_better if fears_low is None else fears_low
    bad = metric.low if is_low else metric.high
    return bad if isfinite(bad) else None
