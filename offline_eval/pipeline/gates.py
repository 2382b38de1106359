"""A run held against thresholds: a gate passes only on what was measured, never on what is missing.

Failed items count at the end of the range that the gate guards against, so a crash can never open one; where nothing
was scored, or an interval is asked for and there is none, the gate does not pass and says why.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from offline_eval.core.comparison import Difference
from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.gate import COVERAGE, REVIEW_LOAD, Gate, GateReport, GateResult, Why
from offline_eval.core.protocols import Item
from offline_eval.core.results import Interval, Score, Status
from offline_eval.core.yaml_text import read_yaml
from offline_eval.judge.routing import PanelVerdict
from offline_eval.metrics.panel._grade import NOT_JUDGED
from offline_eval.pipeline.compare import refuse_mismatch
from offline_eval.pipeline.metric_plan import load_metric, needs_panel
from offline_eval.pipeline.mismatch import mismatches
from offline_eval.pipeline.scoring import AnyMetric
from offline_eval.pipeline.sides import Side, counted
from offline_eval.pipeline.slices import language_of, query_type_of
from offline_eval.stats.estimate import estimate
from offline_eval.stats.intervals import bootstrap_mean, mean_interval
from offline_eval.stats.undefined import Undefined

Outcome = Literal["passed", "failed", "undetermined"]

_MOST_REASONS = 3
_SLACK = 1e-9  # a limit written in decimals still lets the value through that it was taken from


class Measured(NamedTuple):
    """What a gate holds against its limit.

    Attributes:
        why: Why there is no value.
        no_interval: Why there is no interval, where there is a value.
        unchanged: Not one pair differs: there is no spread to make an interval of, and no change either.
        about: The metric the value is of, where the gate does not say.
    """

    value: float | None
    interval: Interval | None
    n: int
    n_failed: int
    why: Why | None = None
    no_interval: str | None = None
    unchanged: bool = False
    about: str = ""


def read_gates(path: Path) -> list[Gate]:
    """Read a gates file: `gates:` with a list of thresholds.

    Raises:
        DataError: Not readable, not of that form, or an unknown metric; every fault is named with its gate's number.
    """
    document = read_yaml(path).data
    rows = document.get("gates") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not rows:
        raise DataError(
            f"{path}: expected `gates:` with a list, for example\ngates:\n  - {{metric: faithfulness, at_least: 0.8}}"
        )
    gates, faults = [], []
    for number, row in enumerate(rows, 1):
        try:
            gate = Gate.model_validate(row)
            for name in metrics_of([gate]):
                load_metric(name)
            gates.append(gate)
        except ValidationError as error:
            faults += [f"{path}: gate {number}: {_fault(detail)}" for detail in error.errors()]
        except UsageError as error:
            faults.append(f"{path}: gate {number}: {error}")
    if faults:
        raise DataError(faults)
    return gates


def metrics_of(gates: Sequence[Gate]) -> list[str]:
    """The metrics that gates read, each once."""
    names = [gate.of if gate.metric == COVERAGE else gate.metric for gate in gates]
    return list(dict.fromkeys(name for name in names if name is not None and name != REVIEW_LOAD))


def hold(
    gates: Sequence[Gate],
    sides: Sequence[Side],
    *,
    baselines: Sequence[Side] = (),
    allow_mismatch: bool = False,
    seed: int,
) -> GateReport:
    """Hold every system against every gate that concerns it.

    Args:
        sides: The run's systems.
        baselines: Systems of the baseline run; a single one serves all sides, else they are matched by name.
        allow_mismatch: Take differences to a run with another test set, judge or rubric.
        seed: Seed of the intervals' resampling.

    Raises:
        UsageError: A gate names a system the run lacks.
        DataError: The baseline does not fit.
    """
    known = [side.system for side in sides]
    lacking = [gate.system for gate in gates if gate.system is not None and gate.system not in known]
    if lacking:
        raise UsageError(f"no system {lacking[0]!r} in this run; it has {', '.join(known)}")
    compared = metrics_of([gate for gate in gates if gate.difference])
    notes = []
    if compared and baselines:
        found = mismatches(baselines[0].results, sides[0].results, label="this run", metrics=compared)
        if not allow_mismatch:
            refuse_mismatch(found)
        notes = [Difference(what=one.what, detail=one.detail) for one in found]
    results = [
        _result(gate, side, _baseline_of(side, baselines), seed)
        for gate in gates
        for side in sides
        if gate.system in (None, side.system)
    ]
    return GateReport(
        run_id=sides[0].results.run_id,
        baseline=baselines[0].results.run_id if baselines else None,
        passed=bool(results) and all(result.outcome == "passed" for result in results),
        results=tuple(results),
        notes=tuple(notes),
    )


def _result(gate: Gate, side: Side, baseline: Side | None, seed: int) -> GateResult:
    items = in_slice(side.items, gate.slice)
    if not items:
        measured = _nothing(Why(code="empty_slice", values={"slice": gate.slice}))
    elif gate.difference:
        measured = _difference(gate, side, baseline, items=items, seed=seed)
    else:
        measured = _level(gate, side, items, seed)
    outcome, reason = _outcome(gate, measured)
    return GateResult(
        gate=gate.title,
        required=gate.required,
        system=side.system,
        slice=gate.slice,
        outcome=outcome,
        value=measured.value,
        interval=measured.interval,
        n=measured.n,
        n_failed=measured.n_failed,
        reason=reason,
    )


def in_slice(items: Sequence[Item], name: str) -> list[Item]:
    """The items of `all`, `query_type=…`, `language=…` or `tag=…`."""
    kind, _, value = name.partition("=")
    if kind == "query_type":
        return [item for item in items if query_type_of(item) == value]
    if kind == "language":
        return [item for item in items if language_of(item) == value]
    if kind == "tag":
        return [item for item in items if value in item.case.tags]
    return list(items)


def _nothing(why: Why, *, n: int = 0, n_failed: int = 0) -> Measured:
    return Measured(None, None, n, n_failed, why)


def _outcome(gate: Gate, measured: Measured) -> tuple[Outcome, Why | None]:
    if measured.value is None:
        return "undetermined", measured.why
    held: float | None = measured.value
    if gate.use == "bound" and not measured.unchanged:
        held = (
            None
            if measured.interval is None
            else (measured.interval.low if gate.at_least is not None else measured.interval.high)
        )
    if held is None:
        return "undetermined", Why(code="no_interval", values={"why": measured.no_interval or ""})
    passes = held >= gate.limit - _SLACK if gate.at_least is not None else held <= gate.limit + _SLACK
    if passes:
        return "passed", None
    if measured.about:
        return "failed", Why(code="missed_of", values={"held": held, "metric": measured.about})
    return "failed", Why(code="missed", values={"held": held})


def _level(gate: Gate, side: Side, items: Sequence[Item], seed: int) -> Measured:
    if gate.metric == COVERAGE:
        return _coverage(gate, side, items, seed)
    if gate.metric == REVIEW_LOAD:
        return _review_load(gate, side, items, seed)
    metric = side.metric(gate.metric)
    scores = list(side.scores(gate.metric, items).values())
    n, n_failed = _counts(scores)
    if not n:
        return _nothing(_nothing_scored((score.status, score.reason) for score in scores), n_failed=n_failed)
    fears_low = gate.at_least is not None
    if gate.case_at_least is not None or gate.case_at_most is not None:
        applicable = [score for score in scores if score.status is not Status.NOT_APPLICABLE]
        flags = [_case_flag(gate, score) for score in applicable]
        return _share(flags, [score.cluster for score in applicable], n, n_failed=n_failed, seed=seed)
    found = estimate(scores, low=metric.low, high=metric.high, higher_is_better=fears_low, seed=seed)
    return Measured(found.value, found.interval, n, n_failed, no_interval=found.interval_reason)


def _case_flag(gate: Gate, score: Score) -> float:
    """Whether the case counts; a failed one as the gate fears."""
    if score.value is None:
        return _feared(gate)
    if gate.case_at_least is not None:
        return float(score.value >= gate.case_at_least - _SLACK)
    return float(score.value <= (gate.case_at_most or 0.0) + _SLACK)


def _feared(gate: Gate) -> float:
    """Of a share, the end that the gate guards against."""
    return 0.0 if gate.at_least is not None else 1.0


def _coverage(gate: Gate, side: Side, items: Sequence[Item], seed: int) -> Measured:
    """Share scored among what applies; a case without any response counts as not scored."""
    own = side.results.config.metric_names  # not those that other gates asked for
    names = [gate.of] if gate.of is not None else [name for name in side.metric_names if name in own]
    answered = {item.case.id for item in side.items}
    silent = [case.id for case in side.results.cases if case.id not in answered] if gate.slice == "all" else []
    found = []
    for name in names:
        applicable = [s for s in side.scores(name, items).values() if s.status is not Status.NOT_APPLICABLE]
        flags = [float(score.value is not None) for score in applicable] + [0.0] * len(silent)
        if flags:
            clusters = [score.cluster for score in applicable] + silent
            n = int(sum(flags))
            measured = _share(flags, clusters, n, n_failed=len(flags) - n, seed=seed)
            found.append(measured._replace(about=name))
    if not found:
        return _nothing(Why(code="applies_nowhere"))
    return min(found, key=lambda measured: measured.value or 0.0)


def _review_load(gate: Gate, side: Side, items: Sequence[Item], seed: int) -> Measured:
    """Share sent to review among what was judged; what a judge still owes counts as the gate fears."""
    if not needs_panel(side.results.config.metric_names):
        return _nothing(Why(code="no_verdicts"))
    flags, clusters, lacking = [], [], []
    for item in items:
        verdict = side.results.verdicts[item.response.key]
        status, reason = _judged(verdict, side.results.config.panel.examiners)
        if status is not Status.SCORED:
            lacking.append((status, reason))
        if status is not Status.NOT_APPLICABLE:
            flags.append(float(verdict.route == "review") if status is Status.SCORED else _feared(gate))
            clusters.append(item.case.id)
    n, n_failed = len(items) - len(lacking), sum(status is Status.FAILED for status, _ in lacking)
    if not n:
        return _nothing(_nothing_scored(lacking), n_failed=n_failed)
    return _share(flags, clusters, n, n_failed=n_failed, seed=seed)


def _judged(verdict: PanelVerdict, examiners: Sequence[str]) -> tuple[Status, str]:
    """Whether it is known that a response was, or was not, sent to review; and why not."""
    if verdict.route == "review":
        return Status.SCORED, ""
    if any(name not in verdict.grades and name not in verdict.missing for name in examiners):
        return Status.FAILED, NOT_JUDGED
    if verdict.grades:
        return Status.SCORED, ""
    return Status.FAILED if verdict.failed else Status.NOT_APPLICABLE, next(iter(verdict.missing.values()))


def _difference(gate: Gate, side: Side, baseline: Side | None, *, items: Sequence[Item], seed: int) -> Measured:
    """Paired, candidate less baseline; pairs whose baseline failed are left out, so that its crash opens no gate."""
    if baseline is None:
        return _nothing(Why(code="no_baseline"))
    metric: AnyMetric = side.metric(gate.metric)
    before, after = baseline.scores(gate.metric), side.scores(gate.metric, items)
    cells = [cell for cell in after if cell in before and before[cell].value is not None]
    n, n_failed = _counts([after[cell] for cell in cells])
    if not n:
        return _nothing(Why(code="no_pair"), n_failed=n_failed)
    changes, clusters = [], []
    for cell in cells:
        value, base = counted(after[cell], metric, fears_low=gate.at_least is not None), before[cell].value
        if value is None and after[cell].status is Status.FAILED:
            return _nothing(Why(code="no_worst_value"), n=n, n_failed=n_failed)
        if value is not None and base is not None:
            changes.append(value - base)
            clusters.append(after[cell].cluster)
    interval = bootstrap_mean(changes, clusters=clusters, seed=seed)
    mean = sum(changes) / len(changes)
    if isinstance(interval, Undefined):
        return Measured(mean, None, n, n_failed, no_interval=interval.reason, unchanged=not any(changes))
    return Measured(mean, interval, n, n_failed)


def _share(flags: Sequence[float], clusters: Sequence[str], n: int, *, n_failed: int, seed: int) -> Measured:
    interval = mean_interval(flags, low=0, high=1, clusters=clusters, seed=seed)
    value = sum(flags) / len(flags)
    if isinstance(interval, Undefined):
        return Measured(value, None, n, n_failed, no_interval=interval.reason)
    return Measured(value, interval, n, n_failed)


def _baseline_of(side: Side, baselines: Sequence[Side]) -> Side | None:
    if len(baselines) == 1:
        return baselines[0]
    return next((one for one in baselines if one.system == side.system), None)


def _counts(scores: Sequence[Score]) -> tuple[int, int]:
    """Scored and failed."""
    return sum(s.value is not None for s in scores), sum(s.status is Status.FAILED for s in scores)


def _nothing_scored(lacking: Iterable[tuple[Status, str | None]]) -> Why:
    found = sorted({(str(status), str(reason)) for status, reason in lacking})
    return Why(code="nothing_scored", unscored=tuple(found[:_MOST_REASONS]))


def _fault(detail: object) -> str:
    assert isinstance(detail, dict)  # pydantic's own form
    place = ".".join(str(part) for part in detail["loc"])
    return f"{place}: {detail['msg']}" if place else str(detail["msg"]).removeprefix("Value error, ")
