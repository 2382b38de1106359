"""A comparison as sections: one row a metric with its verdict, what did not fit, and the cases that moved most.

Chinese or English frame the figures; names of metrics and systems stay as they are typed into the next command.
"""

import re
from collections.abc import Sequence

from offline_eval.core.comparison import Comparison, MetricComparison, Moved
from offline_eval.report.html_texts import Language, Words
from offline_eval.report.numbers import interval_text, three
from offline_eval.report.sections import Section

_CUT = 200
_CLUSTERS = re.compile(r" over [\d,]+ clusters")


def comparison_sections(comparison: Comparison, *, cut: int | None = _CUT, language: Language = "en") -> list[Section]:
    """Everything a comparison says.

    Args:
        cut: Characters of a text that are shown, what is left out being marked; None for all.
        language: Of the words around the figures.
    """
    t = Words(language)
    baseline = comparison.sides[0].label
    found = [_overview(comparison, t), _mismatches(comparison, t)]
    for side in comparison.sides[1:]:
        rows = [row for row in comparison.metrics if row.candidate == side.label]
        found.append(_metrics(rows, baseline, side.label, comparison, t))
        moved = [case for case in comparison.moved if case.candidate == side.label]
        found.append(_moved(moved, side.label, cut, t))
    return [section for section in found if section.rows or section.lines]


def _overview(comparison: Comparison, t: Words) -> Section:
    rows = tuple(
        (side.label, t.compare["candidate" if place else "baseline"], side.run_id, side.system, str(side.n))
        for place, side in enumerate(comparison.sides)
    )
    lines = [t.compare["left_out"].format(metrics=", ".join(comparison.left_out))]
    return Section(
        title=t.compare["title"],
        columns=tuple(t.compare["columns"]),
        rows=rows,
        lines=tuple(lines if comparison.left_out else ()),
    )


def _mismatches(comparison: Comparison, t: Words) -> Section:
    lines = tuple(
        t.compare["mismatch"].format(what=t.named("differing", one.what), label=one.label, detail=one.detail)
        for one in comparison.mismatches
    )
    is_blocked = any(one.blocks for one in comparison.mismatches)
    return Section(title=t.compare["unfit" if is_blocked else "settings"], lines=lines)


def _metrics(
    rows: Sequence[MetricComparison], baseline: str, candidate: str, comparison: Comparison, t: Words
) -> Section:
    words = t.compare
    methods = sorted({_CLUSTERS.sub(" over cases", row.interval.method) for row in rows if row.interval is not None})
    tests = sorted({row.p_method for row in rows if row.p is not None})
    lines = [
        words["rule"].format(
            level=f"{comparison.level:.0%}",
            alpha=f"{1 - comparison.level:.2g}",
            n=comparison.n_tests,
            tests="; ".join(tests) or words["no_pair_differs"],
        ),
        words["seen_from"],
        *(words["method"].format(method=method) for method in methods),
        *(remark for row in rows for remark in _remarks(row, t)),
    ]
    return Section(
        title=words["against"].format(candidate=candidate, baseline=baseline),
        columns=tuple(words["metric_columns"]),
        rows=tuple(_metric_cells(row, t) for row in rows),
        lines=tuple(lines),
    )


def _metric_cells(row: MetricComparison, t: Words) -> tuple[str, ...]:
    return (
        row.metric if row.higher_is_better else t.compare["lower_is_better"].format(metric=row.metric),
        t.compare["verdicts"][row.verdict],
        _or_dash(row.baseline_mean),
        _or_dash(row.candidate_mean),
        "–" if row.difference is None else f"{_signed(row.difference)} {interval_text(row.interval)}",
        f"{row.wins}/{row.ties}/{row.losses}",
        _or_dash(row.adjusted_p),
        _or_dash(row.smallest_difference),
        str(row.n),
    )


def _remarks(row: MetricComparison, t: Words) -> list[str]:
    found: list[tuple[str, dict[str, object]]] = []
    if row.difference is None:
        found.append(("no_difference", {"reason": row.reason}))
    elif row.interval is None:
        found.append(("no_interval", {"reason": row.interval_reason}))
    if row.failed_baseline or row.failed_candidate:
        found.append(("failed", {"baseline": row.failed_baseline, "candidate": row.failed_candidate}))
    if row.n_left_out:
        found.append(("not_applicable", {"n": row.n_left_out}))
    if row.unpaired:
        found.append(("unpaired", {"n": row.unpaired}))
    return [t.compare[name].format(metric=row.metric, **figures) for name, figures in found]


def _moved(cases: Sequence[Moved], candidate: str, cut: int | None, t: Words) -> Section:
    verdicts = t.compare["verdicts"]
    rows = tuple(
        (
            case.cell,
            _short(case.query, cut),
            t.compare["change"].format(
                change=_signed(case.change), verdict=verdicts["better" if case.gain else "worse"]
            ),
            _short(case.baseline_text, cut),
            _short(case.candidate_text, cut),
            _short(case.baseline_answer, cut),
            _short(case.candidate_answer, cut),
        )
        for case in cases
    )
    title = t.compare["moved"].format(metric=cases[0].metric if cases else "–", candidate=candidate)
    return Section(title=title, columns=tuple(t.compare["moved_columns"]), rows=rows)


def _or_dash(value: float | None) -> str:
    return "–" if value is None else three(value)


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{three(value)}"


def _short(text: str, cut: int | None) -> str:
    flat = " ".join(text.split())
    return flat if cut is None or len(flat) <= cut else f"{flat[: cut - 1]}…"
