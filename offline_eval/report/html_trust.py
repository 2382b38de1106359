"""Can the run be repeated, and did anything leave the machine: what was measured, and what was not, in words."""

from collections.abc import Sequence
from typing import Any

from offline_eval.core.summary import RunSummary
from offline_eval.report import reproducibility
from offline_eval.report.html_case import short
from offline_eval.report.html_texts import Words
from offline_eval.report.section import Section

_DIGITS = 16  # of a hash


def trust(summary: RunSummary, t: Words) -> dict[str, Any]:
    """The statements, the tables they rest on, and the manifest's values."""
    tables: Sequence[Section] = [reproducibility.repeatability(summary), reproducibility.manifest(summary)]
    return {
        "statements": [
            (t.statements["determinism"], _determinism(summary, t)),
            (t.statements["airgap"], _airgap(summary, t)),
            (t.statements["engine"], f"{summary.engine}, {summary.dtype}"),
            (t.statements["seed"], t.seed_text.format(seed=summary.seed)),
            (t.statements["finished"], t.log_text.format(run=summary.run_id, head=summary.head)),
        ],
        "repeatability": tables[0],
        "made_with": tables[1],
        "manifest": _manifest(summary, t),
    }


def _determinism(summary: RunSummary, t: Words) -> str:
    found = summary.certification
    if found is None:
        return str(t.not_measured)
    return f"{t.certified[found.status]}. {found.why}"


def _airgap(summary: RunSummary, t: Words) -> str:
    """Switches and refused attempts, where the run's sessions recorded them."""
    if summary.manifest is None or not summary.manifest.sessions:
        return str(t.not_measured)
    session = summary.manifest.sessions[-1]
    text = str(t.airgap_text.format(switches=len(session.switches), attempts=summary.refused_attempts))
    return "; ".join([text, *session.switch_problems])


def _manifest(summary: RunSummary, t: Words) -> list[tuple[str, str]]:
    names = t.manifest_names
    judges = "; ".join(f"{dimension}: {', '.join(names)}" for dimension, names in summary.judges.items())
    weights = ", ".join(f"{name} {weight:g}" for name, weight in summary.weights.items())
    checks = ", ".join(f"{name} ({kind})" for kind, name in summary.engines.items())
    checks += f"; {summary.encoders_run_in}" if summary.encoders_run_in else ""
    found = [
        (names["run"], summary.run_id),
        (names["cases"], summary.cases_hash[:_DIGITS]),
        (names["responses"], summary.responses_hash[:_DIGITS]),
        (names["head"], summary.head),
        (names["panel"], summary.panel),
        (names["judges"], short(judges, 400)),
        (names["weights"], weights),
        (names["checks"], checks),
        (names["engine"], f"{summary.engine}, {summary.dtype}"),
        (names["seed"], str(summary.seed)),
    ]
    return [(name, text) for name, text in found if text]
