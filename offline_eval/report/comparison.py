"""A comparison as sections: one row a metric with its verdict, what did not fit, and the cases that moved most."""

import re
from collections.abc import Sequence

from offline_eval.core.comparison import Comparison, MetricComparison, Moved
from offline_eval.report.numbers import interval_text, three
from offline_eval.report.sections import Section

METRIC_COLUMNS = (
    "metric",
    "verdict",
    "baseline",
    "candidate",
    "difference",
    "wins/ties/losses",
    "p (Holm)",
    "seen from",
    "cases",
)
_MOVED_COLUMNS = ("case", "query", "change", "baseline", "candidate", "baseline's answer", "candidate's answer")
_CUT = 200
_CLUSTERS = re.compile(r" over [\d,]+ clusters")


def comparison_sections(comparison: Comparison, *, cut: int | None = _CUT) -> list[Section]:
    """Everything a comparison says.

    Args:
        cut: Characters of a text that are shown, what is left out being marked; None for all.
    """
    baseline = comparison.sides[0].label
    found = [_overview(comparison), _mismatches(comparison)]
    for side in comparison.sides[1:]:
        rows = [row for row in comparison.metrics if row.candidate == side.label]
        found.append(_metrics(rows, baseline, side.label, comparison))
        moved = [case for case in comparison.moved if case.candidate == side.label]
        found.append(_moved(moved, side.label, cut))
    return [section for section in found if section.rows or section.lines]


def _overview(comparison: Comparison) -> Section:
    rows = tuple(
        (side.label, "baseline" if place == 0 else "candidate", side.run_id, side.system, str(side.n))
        for place, side in enumerate(comparison.sides)
    )
    lines = [f"not compared, because not every side has them: {', '.join(comparison.left_out)}"]
    return Section(
        title="Comparison",
        columns=("side", "role", "run", "system", "responses"),
        rows=rows,
        lines=tuple(lines if comparison.left_out else ()),
    )


def _mismatches(comparison: Comparison) -> Section:
    lines = tuple(f"{one.what} ({one.label}): {one.detail}" for one in comparison.mismatches)
    is_blocked = any(one.blocks for one in comparison.mismatches)
    title = "These runs do not fit each other; the numbers below are no fair comparison" if is_blocked else "Settings"
    return Section(title=title, lines=lines)


def _metrics(rows: Sequence[MetricComparison], baseline: str, candidate: str, comparison: Comparison) -> Section:
    methods = sorted({_CLUSTERS.sub(" over cases", row.interval.method) for row in rows if row.interval is not None})
    tests = sorted({row.p_method for row in rows if row.p is not None})
    lines = [
        f"{comparison.level:.0%} intervals of the paired difference, candidate less baseline; better and worse need an "
        f"interval that leaves out 0 and p ≤ {1 - comparison.level:.2g} after Holm's correction for "
        f"{comparison.n_tests} tests ({'; '.join(tests) or 'no pair differs'})",
        "seen from: the smallest true difference that this many cases show with power .8, before the correction; "
        "failed items count at the bad end",
        *(f"intervals: {method}" for method in methods),
        *(remark for row in rows for remark in _remarks(row)),
    ]
    title = f"{candidate} against {baseline}"
    return Section(title=title, columns=METRIC_COLUMNS, rows=tuple(map(metric_cells, rows)), lines=tuple(lines))


def metric_cells(row: MetricComparison) -> tuple[str, ...]:
    """A metric's row, in the order of `METRIC_COLUMNS`."""
    return (
        row.metric + ("" if row.higher_is_better else " (lower is better)"),
        row.verdict,
        _or_dash(row.baseline_mean),
        _or_dash(row.candidate_mean),
        "–" if row.difference is None else f"{_signed(row.difference)} {interval_text(row.interval)}",
        f"{row.wins}/{row.ties}/{row.losses}",
        _or_dash(row.adjusted_p),
        _or_dash(row.smallest_difference),
        str(row.n),
    )


def _remarks(row: MetricComparison) -> list[str]:
    found = []
    if row.difference is None:
        found.append(f"{row.metric}: no difference: {row.reason}")
    elif row.interval is None:
        found.append(f"{row.metric}: no interval: {row.interval_reason}")
    if row.failed_baseline or row.failed_candidate:
        found.append(
            f"{row.metric}: failed: {row.failed_baseline} of the baseline's, {row.failed_candidate} of the candidate's"
        )
    if row.n_left_out:
        found.append(f"{row.metric}: {row.n_left_out} pairs left out, it does not apply to one of the two")
    if row.unpaired:
        found.append(f"{row.metric}: {row.unpaired} responses have no partner on the other side and are left out")
    return found


def _moved(cases: Sequence[Moved], candidate: str, cut: int | None) -> Section:
    rows = tuple(
        (
            case.cell,
            _short(case.query, cut),
            f"{_signed(case.change)} ({'better' if case.gain else 'worse'})",
            _short(case.baseline_text, cut),
            _short(case.candidate_text, cut),
            _short(case.baseline_answer, cut),
            _short(case.candidate_answer, cut),
        )
        for case in cases
    )
    title = f"Moved most by {cases[0].metric}: {candidate}" if cases else "Moved most"
    return Section(title=title, columns=_MOVED_COLUMNS, rows=rows)


def _or_dash(value: float | None) -> str:
    return "–" if value is None else three(value)


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{three(value)}"


def _short(text: str, cut: int | None) -> str:
    flat = " ".join(text.split())
    return flat if cut is None or len(flat) <= cut else f"{flat[: cut - 1]}…"
