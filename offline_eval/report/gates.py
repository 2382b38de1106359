"""Gates as sections: one row a gate and system, first whether all passed."""

from offline_eval.core.gate import GateReport, GateResult
from offline_eval.report.numbers import interval_text, three
from offline_eval.report.sections import Section

_COLUMNS = ("outcome", "gate", "system", "required", "measured", "scored", "failed", "why")


def gate_sections(report: GateReport) -> list[Section]:
    """Everything a gate report says."""
    n = len(report.results)
    passed = sum(result.outcome == "passed" for result in report.results)
    against = f", differences to run {report.baseline}" if report.baseline else ""
    verdict = "passed" if report.passed else "failed"
    found = [
        Section(
            title=f"Gates {verdict}: {passed} of {n} (run {report.run_id}{against})",
            columns=_COLUMNS,
            rows=tuple(_cells(result) for result in report.results),
            lines=("failed items count at the end of the range that the gate guards against",),
        ),
        Section(title="Different from the baseline's run", lines=report.notes),
    ]
    return [section for section in found if section.rows or section.lines]


def _cells(result: GateResult) -> tuple[str, ...]:
    measured = "–" if result.value is None else f"{three(result.value)} {interval_text(result.interval)}"
    return (
        result.outcome,
        result.gate,
        result.system,
        result.required,
        measured,
        str(result.n),
        str(result.n_failed),
        result.reason or "",
    )
