"""Proposed thresholds as a gates file, each with its figures on held-out labels as a comment."""

from collections.abc import Mapping, Sequence

from offline_eval.core.suggestion import Suggestion
from offline_eval.report.html_texts import Language, Words
from offline_eval.report.numbers import interval_text, three


def render(suggestions: Sequence[Suggestion], *, language: Language = "en") -> str:
    """YAML that `gate --gates` reads; metrics without a proposal are comments.

    Args:
        language: Of the comments.
    """
    words = Words(language).gate["suggested"]
    proposed = [one for one in suggestions if one.reason is None]
    lines = [f"# {words['chosen']}", f"# {words['at_least']}", "gates:" if proposed else f"# {words['none']}"]
    for one in suggestions:
        if one.reason is None:
            lines += _proposal(one, words)
        else:
            lines.append(f"  # {one.metric}: {one.reason}{_figures(one, words)}")
    return "\n".join(lines) + "\n"


def _proposal(one: Suggestion, words: Mapping[str, str]) -> list[str]:
    limit = (
        f"case_at_least: {one.case_at_least}" if one.case_at_least is not None else f"case_at_most: {one.case_at_most}"
    )
    told = words["proposal"].format(
        metric=one.metric, precision=_share(one.precision), recall=_share(one.recall), figures=_figures(one, words)
    )
    return [
        f"  # {told}",
        f"  - {{metric: '{one.metric}', {limit}, at_least: {one.at_least}, use: value}}",
    ]


def _figures(one: Suggestion, words: Mapping[str, str]) -> str:
    if one.separation is None:
        return ""
    return words["figures"].format(
        separation=three(one.separation),
        interval=interval_text(one.separation_interval),
        n=one.n_report,
        unscored=words["unscored"].format(n=one.n_unscored) if one.n_unscored else "",
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
