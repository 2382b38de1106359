"""A passport as Markdown, for people; every text in it stays text."""

from collections.abc import Iterator, Mapping, Sequence

from offline_eval.benchmark.calibrate import CalibrationResult
from offline_eval.benchmark.passport import Passport
from offline_eval.benchmark.probes import MEANING, ProbeReport
from offline_eval.report.numbers import interval_text, three
from offline_eval.report.sections import Section
from offline_eval.stats.measured import Measured

_BOUND = "–"


def passport_markdown(passport: Passport) -> str:
    """The whole passport."""
    from offline_eval.report.markdown import render_sections

    return render_sections(passport_sections(passport))


def passport_sections(passport: Passport) -> list[Section]:
    """The passport as sections; empty ones are left out."""
    found = [
        _identity(passport),
        _agreement(passport),
        _self_test(passport),
        *(calibration_sections(passport.calibration) if passport.calibration else ()),
        *(probe_sections(passport.probes) if passport.probes else ()),
        _determinism(passport.determinism),
        Section(title="Warnings", lines=passport.warnings),
    ]
    return [section for section in found if section.rows or section.lines]


def cell(found: Measured | None) -> str:
    """Value, interval and count in one cell, or why there is no value."""
    if found is None:
        return _BOUND
    if found.value is None:
        return f"{_BOUND} ({found.reason})"
    interval = interval_text(found.interval) if found.interval else f"no interval: {found.interval_reason}"
    return f"{three(found.value)} {interval} n={found.n}"


def _identity(passport: Passport) -> Section:
    rows = f"{passport.n_rows} rows, {passport.raters} raters, {passport.n_settled} settled, {passport.n_failed} failed"
    kind = f"{passport.kind}, {passport.dimension}, {passport.language}"
    lines = (
        f"rubric {passport.rubric}, content {passport.rubric_hash[:12]}; a pass begins at grade {passport.pass_from:g}",
        f"weights {passport.weights_hash[:12]} ({passport.family}), engine {passport.engine}, dtype {passport.dtype}",
        f"labels {passport.labels} ({kind}), {passport.labels_hash[:12]}: {rows}",
        f"made {passport.date}, seed {passport.seed}",
    )
    return Section(title=f"Passport of {passport.judge}", lines=lines)


def _agreement(passport: Passport) -> Section:
    names = dict.fromkeys([*passport.measures, "sensitivity", "specificity"])
    rows = tuple(
        (name, cell(passport.measure(name)), cell(passport.ceiling.get(name)))
        for name in names
        if passport.measure(name) is not None
    )
    decided = ", ".join(f"{level}: {n}" for level, n in passport.decisions.items())
    lines = [f"decisions: {decided or 'none'}"]
    if passport.ceiling_reason:
        lines.append(f"no human ceiling: {passport.ceiling_reason}")
    return Section(
        title="Agreement with people",
        columns=("measure", "judge [95 %]", "people among themselves"),
        rows=rows,
        lines=tuple(lines),
    )


def _self_test(passport: Passport) -> Section:
    test = passport.self_test
    if test is None:
        return Section(title="Self-test", lines=("not made",))
    rows = tuple((finding.name, finding.outcome, finding.text) for finding in test.findings)
    title = f"Self-test: {test.outcome}"
    return Section(title=title, columns=("what", "outcome", "measured"), rows=rows)


def calibration_sections(found: CalibrationResult) -> Iterator[Section]:
    """Reliability curve, errors, maps and thresholds."""
    left_out = ", ".join(f"{n} × {reason}" for reason, n in found.left_out.items())
    sizes = f"fitted on {found.n_fit} rows, reported on {found.n_report} others" + (
        f"; left out: {left_out}" if left_out else ""
    )
    if found.reason is not None:
        yield Section(title="Calibration", lines=(f"none: {found.reason}", sizes))
        return
    bins = tuple(
        (f"{three(b.low)}–{three(b.high)}", three(b.mean_probability), three(b.share), str(b.n)) for b in found.bins
    )
    debiased = found.debiased_reason if found.debiased_error is None else three(found.debiased_error)
    lines = [
        f"probability of: {found.positive}",
        sizes,
        f"expected calibration error ({found.n_bins} bins, {found.binning.replace('_', ' ')}): {cell(found.error)}",
        f"debiased (root mean square, equal mass): {debiased}",
    ]
    if found.brier is not None:
        parts = found.brier
        lines.append(
            f"Brier {three(parts.score)} = reliability {three(parts.reliability)} - resolution "
            f"{three(parts.resolution)} + uncertainty {three(parts.uncertainty)} + within {three(parts.within_bins)}"
        )
    columns = ("probability", "judge says", "people say", "n")
    yield Section(title="Calibration before any map", columns=columns, rows=bins, lines=tuple(lines))
    yield Section(
        title="Calibration maps",
        columns=("map", "parameters", "error after [95 %]", "Brier after"),
        rows=tuple(_map_row(found, index) for index in range(len(found.maps))),
    )
    thresholds = tuple(_threshold_row(found, index) for index in range(len(found.thresholds)))
    yield Section(
        title="Thresholds",
        columns=("for", "from", "precision", "recall", "cost", "n"),
        rows=thresholds,
        lines=("chosen on the fit part, measured on the other",) if thresholds else (),
    )


def _map_row(found: CalibrationResult, index: int) -> tuple[str, ...]:
    report = found.maps[index]
    if report.map is None:
        return (report.method, f"none: {report.reason}", _BOUND, _BOUND)
    values = report.map.model_dump(exclude={"kind"})
    numbers = ", ".join(
        f"{name} {three(value)}" if isinstance(value, float) else f"{len(value)} points"
        for name, value in values.items()
    )
    return (report.method, numbers, cell(report.error), _BOUND if report.brier is None else three(report.brier.score))


def _threshold_row(found: CalibrationResult, index: int) -> tuple[str, ...]:
    report = found.thresholds[index]
    target = report.target
    aim = target.aim if target.at_least is None else f"{target.aim} ≥ {target.at_least:g}"
    if report.on_report is None:
        return (aim, f"none: {report.reason}", _BOUND, _BOUND, _BOUND, _BOUND)
    cut = report.on_report
    shares = [_BOUND if share is None else three(share) for share in (cut.precision, cut.recall)]
    return (aim, _BOUND if report.value is None else three(report.value), *shares, three(cut.cost), str(cut.n))


def probe_sections(report: ProbeReport) -> Iterator[Section]:
    """Effects with and without mitigations, and what they cost in agreement and calls."""
    rows = tuple(
        (
            found.probe,
            found.group,
            found.mitigation or "none",
            f"{cell(found.effect)} ({found.unit})",
            three(found.neutral),
            found.reading,
            cell(found.flips),
            cell(found.upward),
            str(found.n_failed),
            str(found.not_applicable),
        )
        for found in report.results
    )
    used = dict.fromkeys(found.probe for found in report.results)
    columns = ("probe", "rows", "mitigation", "effect [95 %]", "fair", "reading", "flips", "rises", "failed", "n/a")
    yield Section(
        title=f"Bias probes of {report.judge}",
        columns=columns,
        rows=rows,
        lines=tuple(f"{name}: {MEANING[name]}" for name in used),
    )
    agreement = tuple((found.mitigation or "none", str(found.calls), cell(found.share)) for found in report.agreement)
    yield Section(
        title="Agreement with people, by mitigation",
        columns=("mitigation", "times the calls", "agreement [95 %]"),
        rows=agreement,
    )


def _determinism(found: Mapping[str, object] | None) -> Section:
    if found is None:
        return Section(title="Determinism", lines=("not tested",))
    return Section(title="Determinism", columns=("what", "value"), rows=tuple((k, str(v)) for k, v in found.items()))


__all__: Sequence[str] = ["calibration_sections", "cell", "passport_markdown", "passport_sections", "probe_sections"]
