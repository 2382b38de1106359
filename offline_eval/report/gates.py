"""Gates as sections: one row a gate and system, first whether all passed."""

import re

from offline_eval.core.gate import GateReport, GateResult
from offline_eval.report.html_texts import Language, Words
from offline_eval.report.numbers import interval_text, three
from offline_eval.report.sections import Section

_MISSED = re.compile(r"(?P<what>value|bound) (?P<held>.+), required (?P<required>.+)")  # as the gate words it
_NOTE = re.compile(r"(?P<what>[a-z ]+): (?P<detail>.*)", re.DOTALL)


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
        Section(title=words["notes"], lines=tuple(_note(note, t) for note in report.notes)),
    ]
    return [section for section in found if section.rows or section.lines]


def _cells(result: GateResult, t: Words) -> tuple[str, ...]:
    measured = "–" if result.value is None else f"{three(result.value)} {interval_text(result.interval)}"
    return (
        t.gate["outcomes"][result.outcome],
        result.gate,
        result.system,
        _required(result.required, t),
        measured,
        str(result.n),
        str(result.n_failed),
        _why(result.reason or "", t),
    )


def _required(text: str, t: Words) -> str:
    """`lower bound ≥ 0.8` with its words in the reader's language."""
    for name, wording in t.gate["bounds"].items():
        if text.startswith(f"{name} "):
            return f"{wording}{text.removeprefix(name)}"
    return text


def _why(reason: str, t: Words) -> str:
    missed = _MISSED.fullmatch(reason)
    if missed is None:
        return reason
    what, required = t.gate["bounds"][missed["what"]], _required(missed["required"], t)
    return str(t.gate["missed"].format(what=what, held=missed["held"], required=required))


def _note(note: str, t: Words) -> str:
    found = _NOTE.fullmatch(note)
    return note if found is None else f"{t.named('differing', found['what'])}: {found['detail']}"
