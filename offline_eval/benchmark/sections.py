"""A benchmark as sections for people and as flat rows for programs; every number with its interval and count."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from offline_eval.benchmark.agreement_table import FALSE_SUPPORT
from offline_eval.benchmark.comparison import best_baseline
from offline_eval.benchmark.table_records import Benchmark, JudgeLine, LabelTable, SliceLine
from offline_eval.report.numbers import interval_text, percent, three
from offline_eval.report.sections import Section
from offline_eval.stats.measured import Measured

_SHOWN_REASONS = 4
_SHOWN_ROWS = 5
_NAMES = {
    "agreement": "agreement",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "kappa": "kappa",
    "weighted_kappa": "weighted kappa",
    "alpha": "alpha",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "auroc": "AUROC",
    FALSE_SUPPORT: "false support",
}
_SUMMARY = (
    *("set", "labels", "rows", "best of those asked", "agreement", "kappa"),
    *("best baseline", "agreement", "kappa", "people among themselves"),
)
_KINDS = {"binary": "yes or no", "ordinal": "grades", "pairwise": "preferences between two answers"}


def benchmark_sections(benchmark: Benchmark) -> list[Section]:
    """Everything a benchmark says, table by table."""
    found = [_overview(benchmark)]
    for table in benchmark.tables:
        found += [_lines(table), _pairs(table), _slices(table)]
    return [section for section in found if section.rows or section.lines]


def flat_rows(benchmark: Benchmark) -> list[dict[str, JsonValue]]:
    """One row a set, judge and measure; the people's ceiling as a judge named `people`."""
    rows: list[dict[str, JsonValue]] = []
    for table in benchmark.tables:
        named = [(line.judge, line.role, line, line.measures) for line in table.lines]
        entries = [*named, ("people", "ceiling", None, table.ceiling)]
        for judge, role, line, measures in entries:
            for measure, found in measures.items():
                rows.append(
                    {
                        "set": table.name,
                        "kind": table.kind,
                        "dimension": table.dimension,
                        "judge": judge,
                        "role": role,
                        "measure": measure,
                        "value": found.value,
                        "low": found.interval.low if found.interval else None,
                        "high": found.interval.high if found.interval else None,
                        "undefined": found.reason or found.interval_reason,
                        "n": found.n,
                        "share_of_ceiling": line.share_of_ceiling.get(measure) if line else None,
                        "scored": line.n_scored if line else None,
                        "failed": line.n_failed if line else None,
                        "not_applicable": line.n_not_applicable if line else None,
                        "verdicts_per_second": line.cost.verdicts_per_second if line else None,
                        "prompt_tokens": line.cost.prompt_tokens if line else None,
                    }
                )
    return rows


def _overview(benchmark: Benchmark) -> Section:
    lines = (
        f"{len(benchmark.tables)} label sets; seed {benchmark.seed}; intervals of 95 % from {benchmark.resamples} "
        "resamples of whole queries; a dash where there is none, with its reason in the JSON form",
        f"a judge's label decides ({benchmark.rule} on a 1-3 rubric), its expected grade gives the correlations",
        "best first by kappa (of grades with quadratic weights), which is 0 for chance and for a constant answer",
        "a failed row counts as the level farthest from the people's",
    )
    rows = tuple(_summary_row(table) for table in benchmark.tables)
    return Section(title="Judges against human labels", columns=_SUMMARY, rows=rows, lines=lines)


def _summary_row(table: LabelTable) -> tuple[str, ...]:
    asked = next((line for line in table.lines if line.role != "baseline"), None)
    baseline = best_baseline(table.lines)
    people = table.ceiling.get(table.ranked_by)
    cells = [
        cell
        for line in (asked, baseline)
        for cell in (
            ("–", "–", "–")
            if line is None
            else (line.judge, _cell(line.measures.get("agreement")), _cell(line.measures.get(table.ranked_by)))
        )
    ]
    languages = "/".join(table.languages)
    labels = f"{table.dimension}, {_KINDS[table.kind]}, {languages}"
    return (table.name, labels, str(table.n_rows), *cells, _cell(people))


def _lines(table: LabelTable) -> Section:
    measures = _measures(table)
    columns = ("judge", *(_NAMES.get(name, name) for name in measures), "scored", "of ceiling", "verdicts/s", "tokens")
    rows = [_row(line, measures, table.ranked_by) for line in table.lines]
    if table.ceiling:
        cells = [_cell(table.ceiling.get(name)) for name in measures]
        rows.append(("people among themselves", *cells, f"{table.raters} raters", "", "", ""))
    return Section(title=_title(table), columns=columns, rows=tuple(rows), lines=tuple(_notes(table)))


def _title(table: LabelTable) -> str:
    languages = ", ".join(f"{name} {n}" for name, n in table.languages.items())
    return (
        f"{table.name}: {table.dimension}, {_KINDS[table.kind]}; {table.n_rows} rows in {table.n_clusters} clusters "
        f"({languages})"
    )


def _measures(table: LabelTable) -> list[str]:
    known = {name for line in table.lines for name in line.measures}
    return [name for name in _NAMES if name in known]


def _row(line: JudgeLine, measures: Sequence[str], main: str) -> tuple[str, ...]:
    speed = line.cost.verdicts_per_second
    share = line.share_of_ceiling.get(main)
    return (
        line.judge,
        *(_cell(line.measures.get(name)) for name in measures),
        f"{line.n_scored}/{line.n + line.n_not_applicable}",
        "–" if share is None else percent(share),
        "–" if speed is None else three(speed),
        f"{line.cost.prompt_tokens + line.cost.output_tokens:,}" if line.cost.prompt_tokens else "–",
    )


def _cell(found: Measured | None) -> str:
    if found is None or found.value is None:
        return "–"
    return f"{three(found.value)} {interval_text(found.interval)}"


def _notes(table: LabelTable) -> Iterator[str]:
    people = ", ".join(f"{level}: {n}" for level, n in table.human.items())
    yield f"people said {people}" + (f"; on {table.n_unsettled} rows they did not settle" if table.n_unsettled else "")
    if table.ceiling_reason:
        yield f"no human-human ceiling: {table.ceiling_reason}"
    for line in table.lines:
        if line.role != "baseline":
            decided = ", ".join(f"{level}: {n}" for level, n in line.decisions.items())
            yield f"{line.judge} decided {decided or 'nothing'}" + _reasons(line)
        yield from (f"warning: {line.judge} {warning}" for warning in line.warnings)
    yield from table.notes


def _reasons(line: JudgeLine) -> str:
    if not line.reasons:
        return ""
    reasons = list(line.reasons.items())
    shown = ", ".join(f"{reason}: {n}" for reason, n in reasons[:_SHOWN_REASONS])
    more = f", {len(reasons) - _SHOWN_REASONS} more" if len(reasons) > _SHOWN_REASONS else ""
    rows = f"; failed rows {', '.join(line.failed_rows[:_SHOWN_ROWS])}" if line.failed_rows else ""
    rest = f" and {line.n_failed - _SHOWN_ROWS} more" if line.n_failed > _SHOWN_ROWS else ""
    return f"; without a decision {shown}{more}{rows}{rest}"


def _pairs(table: LabelTable) -> Section:
    rows = tuple(
        (
            f"{pair.second} against {pair.first}",
            pair.verdict,
            _cell(pair.difference),
            f"{pair.wins}/{pair.ties}/{pair.losses}",
            "–" if pair.adjusted_p is None else three(pair.adjusted_p),
            str(pair.difference.n),
        )
        for pair in table.pairs
    )
    columns = ("pair", "verdict", "difference a row", "wins/ties/losses", "p (Holm)", "rows")
    return Section(title=f"{table.name}: who is better", columns=columns if rows else (), rows=rows)


def _slices(table: LabelTable) -> Section:
    """Agreement by part, one column a judge; baselines only where they are the best line."""
    shown = [line.judge for line in table.lines if line.role != "baseline"]
    parts: dict[tuple[str, str], dict[str, SliceLine]] = {}
    for line in table.slices:
        parts.setdefault((line.slice, line.value), {})[line.judge] = line
    rows = tuple(
        (f"{name}: {value}", *(_slice_cell(by_judge.get(judge)) for judge in shown))
        for (name, value), by_judge in parts.items()
    )
    if not rows or not shown:
        return Section(title="")
    return Section(title=f"{table.name}: agreement by part", columns=("part", *shown), rows=rows)


def _slice_cell(line: SliceLine | None) -> str:
    return "–" if line is None else f"{_cell(line.agreement)} n={line.agreement.n}"
