"""Gates as sections and as a document: one row a gate and system, first whether all passed."""

from offline_eval.core.gate import GateReport, GateResult, Requirement
from offline_eval.report.html_texts import Language, Words
from offline_eval.report.json_document import render_data
from offline_eval.report.numbers import interval_text, three
from offline_eval.report.sections import Section


def gate_sections(report: GateReport, *, language: Language = "en") -> list[Section]:
    """Everything a gate report says.

    Args:
        language: Of the words around the figures; gates keep the names their file gives them.
    """
    t = Words(language)
    words = t.gate
    passed = sum(result.outcome == "passed" for result in report.results)
    title = words["passed" if report.passed else "failed"].format(
        passed=passed,
        n=len(report.results),
        run=report.run_id,
        against=words["against"].format(baseline=report.baseline) if report.baseline else "",
    )
    found = [
        Section(
            title=title,
            columns=tuple(words["columns"]),
            rows=tuple(_cells(result, t) for result in report.results),
            lines=(words["rule"],),
        ),
        Section(title=words["notes"], lines=tuple(t.difference(note) for note in report.notes)),
    ]
    return [section for section in found if section.rows or section.lines]


def gate_document(report: GateReport) -> str:
    """The report as JSON, for programs; conditions, reasons and notes are English sentences there."""
    t = Words("en")
    data = report.model_dump(mode="json")
    for row, result in zip(data["results"], report.results, strict=True):
        row["required"] = required_text(result, t)
        row["reason"] = why_text(result, t)
    data["notes"] = [t.difference(note) for note in report.notes]
    return render_data(data)


def required_text(result: GateResult, t: Words) -> str:
    """A gate's condition, such as `lower bound ≥ 0.8`."""
    return _required(result.required, t)


def why_text(result: GateResult, t: Words) -> str | None:
    """Why a gate did not pass; None when it did."""
    why = result.reason
    if why is None:
        return None
    values = {name: value if isinstance(value, str) else f"{value:.4g}" for name, value in why.values.items()}
    what = t.gate["bounds"]["value" if result.required.bound == "value" else "bound"]
    unscored = "; ".join(f"{t.gate['statuses'][status]}: {_reason(reason, t)}" for status, reason in why.unscored)
    return str(
        t.gate["why"][why.code].format(what=what, required=_required(result.required, t), unscored=unscored, **values)
    )


def _cells(result: GateResult, t: Words) -> tuple[str, ...]:
    measured = "–" if result.value is None else f"{three(result.value)} {interval_text(result.interval)}"
    return (
        t.gate["outcomes"][result.outcome],
        result.gate,
        result.system,
        required_text(result, t),
        measured,
        str(result.n),
        str(result.n_failed),
        why_text(result, t) or "",
    )


def _required(required: Requirement, t: Words) -> str:
    return f"{t.gate['bounds'][required.bound]} {required.sign} {required.limit:g}"


def _reason(reason: str, t: Words) -> str:
    """A score's reason; English keeps its code, by which scripts find it."""
    return reason if t.language == "en" else t.reason(reason)
