"""Metric names and groups → the metrics, the checks whose evidence they read, and the kinds of engine those ask."""

import re
from collections.abc import Sequence

from offline_eval.core.errors import UnknownNameError
from offline_eval.core.protocols import Check, EngineKind, GroupMetric, Metric
from offline_eval.core.registry import Registry
from offline_eval.judge.panel import Panel
from offline_eval.metrics.retrieval import named_metric

METRICS = Registry("metric", "offline_eval.metrics", "METRIC")
CHECKS = Registry("check", "offline_eval.checks", "CHECK")

PANEL = "panel"
_DRIFT = re.compile(r"(?P<name>\w+_score_drift)\(of=(?P<of>[\w@]+)\)")
_JUDGED = "rubric_verdict"  # made by the judges' own stages, not by a check of this registry
_ENGINE_ORDER: tuple[EngineKind | None, ...] = (None, "judge", "nli", "answerability", "embedder")


def metric_groups() -> dict[str, list[str]]:
    """Group (the sub-package's name) to its metrics, sorted."""
    groups: dict[str, list[str]] = {}
    for name in METRICS.names():
        groups.setdefault(METRICS.module(name).split(".")[-2], []).append(name)
    return groups


def resolve_metrics(wanted: Sequence[str], panel: Panel) -> tuple[str, ...]:
    """The metrics that names and groups mean, each once, in the order in which they were wanted.

    Args:
        wanted: Metrics (`faithfulness`, `ndcg@10`, `variant_score_drift(of=total_grade)`),
            groups (`claims`) or `all`; commas separate several.
        panel: Its examiners are the group `panel`.

    Raises:
        UnknownNameError: Neither a metric nor a group; the message offers the nearest name.
        UsageError: A retrieval metric's cutoff cannot be read.
    """
    groups = metric_groups() | {PANEL: panel_metrics(panel)}
    found: list[str] = []
    for name in (part.strip() for text in wanted for part in text.split(",")):
        if name == "all":
            found += [metric for group in (PANEL, *sorted(groups.keys() - {PANEL})) for metric in groups[group]]
        elif name in groups:
            found += groups[name]
        elif "@" in name or "(" in name:
            found.append(load_metric(name).name)
        elif name in METRICS.names():
            found.append(name)
        else:
            raise UnknownNameError("metric or group", name, ["all", *groups, *METRICS.names()])
    return tuple(dict.fromkeys(found))


def panel_metrics(panel: Panel) -> list[str]:
    """The total first, then each examiner's grade."""
    return ["total_grade", *(f"{dimension}_grade" for dimension in panel.examiners)]


def load_metric(name: str) -> Metric | GroupMetric:
    """A metric or group metric by name; `ndcg@10` has a cutoff, `variant_score_drift(of=total_grade)` another base.

    Raises:
        UnknownNameError: No such metric.
        UsageError: The part in brackets or after @ cannot be read.
    """
    drift = _DRIFT.fullmatch(name)
    if drift is not None:
        base = load_metric(drift["of"])
        found: Metric | GroupMetric = METRICS.load(drift["name"]).comparing(base.name, low=base.low, high=base.high)
        return found
    found = named_metric(name) if "@" in name or "(" in name else METRICS.load(name)
    return found


def needs_panel(metrics: Sequence[str]) -> bool:
    """Whether one of these metrics reads the judges' verdicts."""
    return any(_JUDGED in _needs(name) for name in metrics)


def checks_for(metrics: Sequence[str], *, judge_claims: bool = False, screen: bool = False) -> tuple[str, ...]:
    """The checks that metrics need, each after those whose evidence it reads, one kind of engine after the other.

    Args:
        judge_claims: Let a judge reword the claims.
        screen: Let the encoder settle clear cases before the judges.
    """
    found: set[str] = {"refusal"}  # costs nothing, and every report has its table
    pending = [need for name in metrics for need in _needs(name)] + (["screen"] if screen else [])
    while pending:
        name = pending.pop()
        if name == _JUDGED or name in found:
            continue
        found.add(name)
        pending += load_check(name).needs
    if judge_claims and "claims" in found:
        found.add("judge_claims")
    return tuple(sorted(found, key=lambda name: (*_place(name), name)))


def _needs(name: str) -> tuple[str, ...]:
    """The checks a metric reads, with those of the metric whose scores it compares."""
    metric = load_metric(name)
    base = metric.of if isinstance(metric, GroupMetric) else None
    return (*metric.needs, *(_needs(base) if base else ()))


def load_check(name: str) -> Check:
    """A check by name."""
    check: Check = CHECKS.load(name)
    return check


def engine_kinds(checks: Sequence[str]) -> list[EngineKind]:
    """The kinds of engine that checks ask, in the order in which they are loaded."""
    asked = {load_check(name).engine for name in checks}
    return [kind for kind in _ENGINE_ORDER if kind is not None and kind in asked]


def _place(name: str) -> tuple[int, int]:
    """When a check's turn comes: after all engines it depends on, then after the checks it reads."""
    check = load_check(name)
    before = [_place(need) for need in check.needs]
    rank = max([_ENGINE_ORDER.index(check.engine), *(place[0] for place in before)])
    return rank, 1 + max((place[1] for place in before), default=0)
