"""The summary as sections of tables and lines, so that the terminal and Markdown show the same things in one order."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from offline_eval.core.results import Estimate
from offline_eval.core.summary import ResponseView, RunSummary
from offline_eval.report.numbers import estimate_text, interval_text, percent, three
from offline_eval.report.reproducibility import manifest, repeatability
from offline_eval.report.section import Section

_SHOWN_REVIEW = 20
_MOST_COLUMNS = 6  # metrics beside each other; more are listed below each other
_SHOWN_REASONS = 3
_GRADES = "; grades from 1 (fail) to 3 (excellent)"
_CUT = 160
_CLUSTERS = re.compile(r" over [\d,]+ clusters")
_WORST_COLUMNS = ("response", "total", "grades", "query", "answer", "reasons")


def sections(summary: RunSummary) -> list[Section]:
    """All sections of a report, in order; empty ones are left out."""
    found = [
        _overview(summary),
        _estimates(summary),
        _slices(summary),
        _labels(summary),
        _correlations(summary),
        _refusals(summary),
        _screen(summary),
        _pass_rates(summary),
        _judges(summary),
        repeatability(summary),
        _review(summary),
        _worst(summary),
        Section(title="Size of the test set", lines=summary.advice),
        manifest(summary),
        Section(title="Warnings", lines=summary.warnings),
    ]
    return [section for section in found if section.rows or section.lines]


def _overview(summary: RunSummary) -> Section:
    judges = "; ".join(f"{dimension}: {', '.join(names)}" for dimension, names in summary.judges.items())
    weights = ", ".join(f"{name} {weight:g}" for name, weight in summary.weights.items())
    by_type = f"; other weights for {', '.join(summary.weights_by_query_type)}" if summary.weights_by_query_type else ""
    has_judges = any(summary.judges.values())
    judged_by = f"; panel {summary.panel}; engine {summary.engine}" if has_judges else ""
    systems = ", ".join(summary.systems) or "no system"
    lines = [f"{summary.n_cases} cases, {summary.n_responses} responses of {systems}{judged_by}"]
    if has_judges:
        lines += [
            f"judges: {judges}",
            f"weights: {weights}{by_type}",
            f"{summary.n_verdicts} verdicts: {summary.by_rule} by rule, {summary.n_not_applicable} not applicable, "
            f"{summary.n_failed} failed ({percent(summary.failed_share)} of those that apply)",
        ]
    if summary.engines:
        asked = ", ".join(f"{name} ({kind})" for kind, name in summary.engines.items())
        lines.append(f"checks ask: {asked}" + (f"; in {summary.encoders_run_in}" if summary.encoders_run_in else ""))
    return Section(
        title=f"Run {summary.run_id}",
        lines=(
            *lines,
            f"test set {summary.cases_hash[:12]}, responses {summary.responses_hash[:12]}, "
            f"seed {summary.seed}, log head {summary.head[:16]}",
        ),
    )


def _metric_names(summary: RunSummary) -> list[str]:
    return list(dict.fromkeys(estimate.metric for estimate in summary.estimates))


def _estimates(summary: RunSummary) -> Section:
    names = _metric_names(summary)
    overall = {(e.system, e.metric): e for e in summary.estimates if e.group == "all"}
    columns, rows = _grid(overall, names, summary.systems)
    shown = list(overall.values())
    lines = [
        f"value [95 % interval] scored/all{_GRADES if any(name.endswith('_grade') for name in names) else ''}",
        *_methods(shown),
        *_by_metrics([(e, _unscored(e)) for e in shown if e.n_scored < e.n]),
        *_by_metrics([(e, f"no interval: {e.interval_reason}") for e in shown if e.interval is None]),
    ]
    return Section(title="Scores", columns=columns, rows=rows, lines=tuple(lines if rows else ()))


def _grid(
    overall: Mapping[tuple[str, str], Estimate], names: Sequence[str], systems: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Systems × metrics while the metrics fit beside each other, else metrics × systems."""
    if len(names) <= _MOST_COLUMNS:
        rows = [(system, *(estimate_text(overall[system, name]) for name in names)) for system in systems]
        return ("system", *names), tuple(rows)
    rows = [(name, *(estimate_text(overall[system, name]) for system in systems)) for name in names]
    return ("metric", *systems), tuple(rows)


def _methods(estimates: Sequence[Estimate]) -> list[str]:
    """How the intervals were made, each way once; the number of clusters differs by system and is left out."""
    methods = {_CLUSTERS.sub(" over cases", e.interval.method) for e in estimates if e.interval is not None}
    return [f"intervals: {'; '.join(sorted(methods))}"] if methods else []


def _by_metrics(remarks: Sequence[tuple[Estimate, str]]) -> list[str]:
    """One line for all metrics of a system of which the same has to be said."""
    metrics: dict[tuple[str, str], list[str]] = defaultdict(list)
    for estimate, text in remarks:
        metrics[estimate.system, text].append(estimate.metric)
    return [f"{system}, {', '.join(names)}: {text}" for (system, text), names in metrics.items()]


def _unscored(estimate: Estimate) -> str:
    """What is missing from a mean, why, and how far it could move the mean."""
    counts = [f"{n} × {_short(reason, _CUT // 2)}" for reason, n in list(estimate.reasons.items())[:_SHOWN_REASONS]]
    if len(estimate.reasons) > _SHOWN_REASONS:
        counts.append(f"{len(estimate.reasons) - _SHOWN_REASONS} other reasons")
    text = f"{estimate.n_not_applicable} not applicable, {estimate.n_failed} failed ({', '.join(counts)})"
    if not estimate.n_failed or estimate.mean_scored is None:
        return text
    return f"{text}; the failed ones count as the worst value, without them the mean is {three(estimate.mean_scored)}"


def _slices(summary: RunSummary) -> Section:
    names, more = _metric_names(summary)[:_MOST_COLUMNS], _metric_names(summary)[_MOST_COLUMNS:]
    cells = {(e.group, e.system, e.metric): e for e in summary.estimates if e.group != "all"}
    groups = list(dict.fromkeys((e.group, e.system) for e in cells.values()))
    rows = tuple(
        (group, system, *(estimate_text(cells[group, system, name]) for name in names)) for group, system in groups
    )
    lines = (f"{len(more)} more metrics by slice in `offline-eval report {summary.run_id} --format json`",)
    columns = ("slice", "system", *names)
    shown = lines if more and rows else ()
    return Section(title="By query type, language and tag", columns=columns, rows=rows, lines=shown)


def _labels(summary: RunSummary) -> Section:
    seen = sorted({label for dims in summary.labels.values() for counts in dims.values() for label in counts})
    rows = tuple(
        (system, dimension, *(str(counts.get(label, 0)) for label in seen), _bar(counts))
        for system, dimensions in summary.labels.items()
        for dimension, counts in dimensions.items()
    )
    legend = " · ".join(f"{label} {name}" for label, name in summary.level_names.items())
    columns = ("system", "dimension", *seen, "1 → 3")
    return Section(title="Labels by dimension", columns=columns, rows=rows, lines=(legend,) if rows else ())


def _bar(counts: dict[str, int]) -> str:
    """The grades' shares as bars of eight steps."""
    total = sum(counts.get(label, 0) for label in "123")
    if not total:
        return ""
    return "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * counts.get(label, 0) / total))] for label in "123")


def _correlations(summary: RunSummary) -> Section:
    rows = tuple(
        (
            f"{c.first} – {c.second}",
            "–" if c.value is None else three(c.value),
            interval_text(c.interval),
            str(c.n),
            c.reading if c.reason is None else c.reason,
        )
        for c in summary.correlations
    )
    lines = ("above about .8 the second dimension buys nothing; .3 to .5 is healthy",) if rows else ()
    return Section(
        title="Correlation of dimensions (Spearman)",
        columns=("pair", "rho", "95 %", "n", "reading"),
        rows=rows,
        lines=lines,
    )


def _screen(summary: RunSummary) -> Section:
    """What the staged evaluation saved, and what it cost in agreement."""
    screen = summary.screen
    if screen is None:
        return Section(title="Staged evaluation")
    share = percent(screen.calls_saved / screen.asked) if screen.asked else "none"
    lines = [
        f"{screen.dimension}: the encoder settled {screen.settled} of {screen.asked} answers; {screen.calls_saved} of "
        f"them ({share}) were not judged"
    ]
    if screen.control:
        lines.append(
            f"of {screen.control} verdicts on settled answers that were judged all the same, {screen.agreed} "
            f"({percent(screen.agreed / screen.control)}, 95 % {interval_text(screen.interval)}) agree with the encoder"
        )
    else:
        lines.append("no settled answer was judged all the same, so the loss in agreement is not known")
    return Section(title="Staged evaluation", lines=tuple(lines))


def _pass_rates(summary: RunSummary) -> Section:
    """What a judge with a passport passed, raw and put right with the error rates measured there."""
    rows = tuple(
        (
            found.system,
            found.judge,
            found.rubric,
            f"{three(found.raw)} {interval_text(found.raw_interval)}",
            "–" if found.value is None else f"{three(found.value)} {interval_text(found.interval)}",
            f"{found.n - found.n_failed}/{found.n}",
            f"{found.labels}, {found.n_labels} labels" + (f"; {found.reason}" if found.reason else ""),
        )
        for found in summary.pass_rates
    )
    note = (
        "corrected (Rogan-Gladen) with the judge's error rates on the labels named, which must be like this run's "
        "answers; failed verdicts count as not passed"
    )
    columns = ("system", "judge", "rubric", "raw [95 %]", "corrected [95 %]", "scored/asked", "passport")
    return Section(title="Pass rates, raw and corrected", columns=columns, rows=rows, lines=(note,) if rows else ())


def _refusals(summary: RunSummary) -> Section:
    rows = tuple(
        (
            table.system,
            str(table.answerable_answered),
            str(table.answerable_refused),
            str(table.unanswerable_answered),
            str(table.unanswerable_refused),
            str(table.unknown),
            str(table.failed),
        )
        for table in summary.refusals
    )
    columns = (
        "system",
        "answerable answered",
        "answerable refused",
        "unanswerable answered",
        "unanswerable refused",
        "unknown",
        "failed",
    )
    return Section(title="Answerable × answered", columns=columns, rows=rows)


def _judges(summary: RunSummary) -> Section:
    rows = tuple(
        (
            count.judge,
            count.guarantee,
            str(count.verdicts),
            str(count.failed),
            " ".join(f"{label}:{n}" for label, n in count.by_label.items()),
            "–" if count.off_label_mass is None else three(count.off_label_mass),
            f"{count.quotes_verbatim}/{count.quotes}",
            f"{count.reasons - count.reasons_failed}/{count.reasons}",
            f"{count.prompt_tokens:,}/{count.output_tokens:,}",
        )
        for count in summary.judge_counts
    )
    columns = (
        "judge",
        "guarantee",
        "verdicts",
        "failed",
        "labels",
        "off-label mass",
        "quotes verbatim",
        "reasons",
        "tokens in/out",
    )
    return Section(title="Judges", columns=columns, rows=rows)


def _review(summary: RunSummary) -> Section:
    shares = ", ".join(f"{rule} {percent(share)}" for rule, share in summary.review_shares.items())
    head = (
        f"{len(summary.review)} of {summary.n_responses} responses ({percent(summary.review_share)}) "
        f"should be looked at: {shares}"
    )
    rows = tuple(
        (view.response_key, _grades(view), "; ".join(view.review_reasons)) for view in summary.review[:_SHOWN_REVIEW]
    )
    more = len(summary.review) - _SHOWN_REVIEW
    lines = [head] + ([f"{more} more in `offline-eval report {summary.run_id} --format json`"] if more > 0 else [])
    return Section(
        title="For review", columns=("response", "grades", "why"), rows=rows, lines=tuple(lines if rows else ())
    )


def _worst(summary: RunSummary) -> Section:
    rows = tuple(
        (
            view.response_key,
            three(view.total or 0.0),
            _grades(view),
            _short(view.query),
            _short(view.answer),
            _short(" | ".join(view.notes), 3 * _CUT),
        )
        for view in summary.worst
    )
    return Section(title="Lowest totals", columns=_WORST_COLUMNS, rows=rows)


def _grades(view: ResponseView) -> str:
    """Every dimension's grade, and the missing ones by name with their reason."""
    grades = [f"{name} {three(grade)}" for name, grade in view.grades.items()]
    return "; ".join([*grades, *(f"{name} – ({_short(reason, _CUT // 2)})" for name, reason in view.missing.items())])


def _short(text: str, limit: int = _CUT) -> str:
    """One line of at most `limit` characters; what is left out is marked."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


__all__ = ["Section", "sections"]
