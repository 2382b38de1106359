"""Evaluations and single assessments as sections of tables and lines, for terminal, Markdown and page alike."""

from collections.abc import Sequence

from offline_eval.assess.evaluate_records import EvaluationReport, GroupReport, PolicyMeasures
from offline_eval.assess.records import Assessment
from offline_eval.report.numbers import interval_text, percent, three
from offline_eval.report.section import Section
from offline_eval.stats.measured import Measured

_MEASURES = (
    ("caught", "wrong assertions not given as sure (hallucination catch rate)"),
    ("withheld_wrong", "wrong assertions not given at all"),
    ("effective_refusal", "unanswerable: nothing asserted (effective refusal)"),
    ("wrong_refusal", "answerable: nothing asserted (wrong refusal)"),
    ("right_withheld", "right assertions not given"),
    ("right_given", "right among all given"),
    ("right_sure", "right among those given as sure"),
    ("calibration_error", "ECE"),
    ("aurc", "AURC, lower is better"),
)
_CURVE_POINTS = 10


def evaluation_sections(report: EvaluationReport) -> list[Section]:
    """All of an evaluation, in order."""
    found = [_overview(report)]
    for group in report.groups:
        found += [_policies(group), _differences(group), _curve(group), _reliability(group), _review(group)]
    found += [_ablations(group) for group in report.groups[:1]]
    found.append(_latency(report))
    return [section for section in found if section.rows or section.lines]


def _overview(report: EvaluationReport) -> Section:
    rows = tuple(
        (
            group.group,
            str(group.n),
            f"{group.n_answerable}/{group.n_unanswerable}",
            str(group.n_asserted),
            str(group.n_wrong),
            str(group.n_without_number),
            str(group.n_unknown),
        )
        for group in report.groups
    )
    columns = ("system", "responses", "answerable/not", "assertions", "wrong", "without a number", "left out")
    versions = ", ".join(f"{name} {value}" for name, value in sorted(report.versions.items()))
    lines = (
        report.truth,
        f"profile {report.profile}; seed {report.seed}; value [95 % interval] n, cases resampled whole",
        *report.notes,
        *([f"versions: {versions}"] if versions else []),
    )
    return Section(title="Assessment against labels", columns=columns, rows=rows, lines=lines)


def _policies(group: GroupReport) -> Section:
    rows = tuple((words, *(cell(_of(policy, name)) for policy in group.policies)) for name, words in _MEASURES)
    lines = ["the retrieval score's threshold is tuned on one half of the cases and used on the other, both ways round"]
    if group.least_area is not None:
        lines.append(f"the least area any confidence could reach here is {three(group.least_area)}")
    return Section(
        title=f"{group.group}: measures",
        columns=("measure", *(policy.policy for policy in group.policies)),
        rows=rows,
        lines=tuple(lines),
    )


def _of(policy: PolicyMeasures, name: str) -> Measured:
    found: Measured = getattr(policy, name)
    return found


def _differences(group: GroupReport) -> Section:
    rows = tuple((found.baseline, cell(found.difference), found.verdict) for found in group.differences)
    lines = ("assessed less baseline on the same answers (paired bootstrap over cases); below 0 is better",)
    return Section(
        title=f"{group.group}: difference of AURC",
        columns=("against", "difference", "assessed is"),
        rows=rows,
        lines=lines if rows else (),
    )


def _curve(group: GroupReport) -> Section:
    """Some points of the curve, evenly spread; the JSON form holds all of them."""
    curve = group.policies[0].curve
    if not curve:
        return Section(title=f"{group.group}: confidence and accuracy")
    step = max(1, len(curve) / _CURVE_POINTS)
    chosen = sorted({min(len(curve) - 1, round(step * (i + 1)) - 1) for i in range(_CURVE_POINTS)})
    rows = tuple(
        (three(curve[i].threshold), percent(curve[i].coverage), percent(1 - curve[i].risk), f"{curve[i].n}")
        for i in chosen
        if i >= 0
    )
    left = len(curve) - len(rows)
    return Section(
        title=f"{group.group}: confidence and accuracy",
        columns=("confidence from", "coverage", "accuracy", "n"),
        rows=rows,
        lines=(f"{left} more points in the JSON form",) if left else (),
    )


def _reliability(group: GroupReport) -> Section:
    rows = tuple(
        (three(point.said), three(point.found), interval_text(point.interval), str(point.n))
        for point in group.reliability
    )
    report = group.calibration.report
    lines = []
    if report is not None:
        lines.append(
            f"a Platt map fitted on one half of the cases takes the ECE on the other ({report.n} answers) from "
            f"{three(report.error_before)} to {three(report.error_after)}"
        )
    elif group.calibration.reason:
        lines.append(f"no calibration map: {group.calibration.reason}")
    return Section(
        title=f"{group.group}: reliability",
        columns=("confidence", "right", "95 %", "n"),
        rows=rows,
        lines=tuple(lines if rows else ()),
    )


def _review(group: GroupReport) -> Section:
    load = group.review
    if load.threshold is None:
        lines = [f"target accuracy {percent(load.target)}: {load.reason}, so everything would have to be looked at"]
    else:
        lines = [
            f"suggested threshold {three(load.threshold)} for an accuracy of {percent(load.target)}, chosen on "
            f"one half of the cases (load there {percent(load.load_fit or 0.0)})",
            f"on the other half: {cell(load.load)} of the answers are below it and go to a person; of the rest "
            f"{cell(load.accuracy)} are right",
        ]
    return Section(title=f"{group.group}: review load", lines=tuple(lines))


def _ablations(group: GroupReport) -> Section:
    rows = tuple(
        (
            found.signal,
            three(found.weight),
            str(found.n_scored),
            cell(found.aurc),
            cell(found.change),
            cell(found.caught),
            cell(found.wrong_refusal),
        )
        for found in group.ablations
    )
    lines = ("the stored signals combined again without one of them; a change above 0 means the signal helps",)
    return Section(
        title=f"{group.group}: without one signal",
        columns=("without", "weight", "scored", "AURC", "change of AURC", "caught", "wrong refusal"),
        rows=rows,
        lines=lines if rows else (),
    )


def _latency(report: EvaluationReport) -> Section:
    rows = tuple(
        (found.stage, str(found.n), *(three(v) for v in (found.p50, found.p95, found.p99, found.most)))
        for found in report.latency
    )
    return Section(
        title="Milliseconds of an assessment, one at a time",
        columns=("stage", "n", "p50", "p95", "p99", "most"),
        rows=rows,
    )


def cell(found: Measured) -> str:
    """Value, interval and count, or a dash with the reason."""
    if found.value is None:
        return f"– ({found.reason})"
    return f"{three(found.value)} {interval_text(found.interval)} {found.n}"


def assessment_sections(found: Assessment) -> Sequence[Section]:
    """One assessment for a terminal."""
    value = "none" if found.confidence.value is None else three(found.confidence.value)
    head = [f"tier {found.tier}; {found.confidence.kind} {value}; limited by {found.limiting or 'nothing'}"]
    signals = tuple(
        (
            s.name,
            "–" if s.value is None else three(s.value),
            s.status.value,
            "; ".join(filter(None, (s.detail, s.reason))),
        )
        for s in found.signals
    )
    claims = tuple(
        (c.text, c.mark.value, "–" if c.support is None else three(c.support), ", ".join(c.passage_ids))
        for c in found.claims
    )
    return [
        Section(title="Assessment", lines=(*head, *found.text.splitlines())),
        Section(title="Signals", columns=("signal", "value", "status", "what"), rows=signals),
        Section(title="Claims", columns=("claim", "mark", "support", "passages"), rows=claims),
    ]
