"""Proposed thresholds as a gates file, each with its figures on held-out labels as a comment."""

from collections.abc import Sequence

from offline_eval.core.suggestion import Suggestion
from offline_eval.report.numbers import interval_text, three


def render(suggestions: Sequence[Suggestion]) -> str:
    """YAML that `gate --gates` reads; metrics without a proposal are comments."""
    proposed = [one for one in suggestions if one.reason is None]
    lines = [
        "# Chosen on one half of the labelled cases; the figures are from the other half.",
        "# at_least: lower bound of the share of acceptable cases that pass.",
        "gates:" if proposed else "# gates: none could be proposed",
    ]
    for one in suggestions:
        lines += _proposal(one) if one.reason is None else [f"  # {one.metric}: {one.reason}{_figures(one)}"]
    return "\n".join(lines) + "\n"


def _proposal(one: Suggestion) -> list[str]:
    limit = (
        f"case_at_least: {one.case_at_least}" if one.case_at_least is not None else f"case_at_most: {one.case_at_most}"
    )
    return [
        f"  # {one.metric}: {_share(one.precision)} of the cases that pass are acceptable, {_share(one.recall)} of the "
        f"acceptable ones pass{_figures(one)}",
        f"  - {{metric: '{one.metric}', {limit}, at_least: {one.at_least}, use: value}}",
    ]


def _figures(one: Suggestion) -> str:
    if one.separation is None:
        return ""
    unscored = f", {one.n_unscored} labelled cases without a value" if one.n_unscored else ""
    interval = interval_text(one.separation_interval)
    return f"; separation {three(one.separation)} {interval}, {one.n_report} cases{unscored}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
