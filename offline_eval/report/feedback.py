"""Users' feedback as sections: how satisfied they are, and which metrics move with them."""

from collections.abc import Mapping
from typing import Any

from offline_eval.core.user_feedback import FeedbackReport, Following, Satisfaction
from offline_eval.report.html_texts import Language, Words
from offline_eval.report.numbers import interval_text, three
from offline_eval.report.sections import Section


def feedback_sections(report: FeedbackReport, *, language: Language = "en") -> list[Section]:
    """Everything a feedback report says.

    Args:
        language: Of the words around the figures.
    """
    words = Words(language).feedback
    drifting = [row for row in report.following if row.drifts]
    names = ", ".join(f"{row.metric} ({row.system})" for row in drifting)
    lines = (words["rule"], words["drifting"].format(metrics=names) if drifting else words["all_follow"])
    against = words["earlier"].format(run=report.earlier_run) if report.earlier_run else ""
    return [
        Section(
            title=words["title"].format(run=report.run_id),
            columns=tuple(words["columns"]),
            rows=tuple(_satisfaction(row) for row in report.satisfaction),
        ),
        Section(
            title=words["following"].format(against=against),
            columns=tuple(words["following_columns"]),
            rows=tuple(_following(row, words) for row in report.following),
            lines=lines,
        ),
    ]


def _satisfaction(row: Satisfaction) -> tuple[str, ...]:
    share = "–" if row.share is None else f"{three(row.share)} {interval_text(row.interval)}"
    return row.system, share, str(row.up), str(row.down), str(row.neutral), str(row.n_responses)


def _following(row: Following, words: Mapping[str, Any]) -> tuple[str, ...]:
    value = (
        f"– ({row.reason})" if row.correlation is None else f"{three(row.correlation)} {interval_text(row.interval)}"
    )
    return (
        row.metric,
        row.system,
        value,
        str(row.n),
        str(row.n_unscored),
        "–" if row.earlier is None else three(row.earlier),
        interval_text(row.change),
        words["readings"][row.reading] + (words["fell"] if row.fell else "") + (" ⚠" if row.drifts else ""),
    )
