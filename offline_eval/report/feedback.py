"""Users' feedback as sections: how satisfied they are, and which metrics move with them."""

from offline_eval.core.user_feedback import FeedbackReport, Following, Satisfaction
from offline_eval.report.numbers import interval_text, three
from offline_eval.report.sections import Section


def feedback_sections(report: FeedbackReport) -> list[Section]:
    """Everything a feedback report says."""
    drifting = [row for row in report.following if row.drifts]
    names = ", ".join(f"{row.metric} ({row.system})" for row in drifting)
    lines = [
        "Spearman's correlation of a response's value with its thumb, 95 % interval; turned so that more is closer to "
        "users. Each interval stands for itself: of twenty unrelated metrics one would seem to follow or oppose them",
        f"do not stand for users here: {names}" if drifting else "every metric follows the users",
    ]
    against = f" (earlier run {report.earlier_run})" if report.earlier_run else ""
    return [
        Section(
            title=f"User satisfaction, run {report.run_id}",
            columns=("system", "thumbs up", "up", "down", "neutral", "responses"),
            rows=tuple(_satisfaction(row) for row in report.satisfaction),
        ),
        Section(
            title=f"Metrics against users{against}",
            columns=("metric", "system", "correlation", "responses", "unscored", "earlier", "change", "reading"),
            rows=tuple(_following(row) for row in report.following),
            lines=tuple(lines),
        ),
    ]


def _satisfaction(row: Satisfaction) -> tuple[str, ...]:
    share = "–" if row.share is None else f"{three(row.share)} {interval_text(row.interval)}"
    return row.system, share, str(row.up), str(row.down), str(row.neutral), str(row.n_responses)


def _following(row: Following) -> tuple[str, ...]:
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
        row.reading + (", fell" if row.fell else "") + (" ⚠" if row.drifts else ""),
    )
