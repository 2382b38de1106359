"""Labels, disagreements, judges and reliability → the values a report's templates show."""

from collections.abc import Mapping
from typing import Any

from offline_eval.core.diagnosis import TagCount
from offline_eval.core.response_detail import Reliability, ReportFrame
from offline_eval.core.summary import JudgeCount, ResponseView, RunSummary
from offline_eval.report.charts import stacked_bar, whisker
from offline_eval.report.charts_curve import reliability_curve
from offline_eval.report.html_case import QUERY_SHOWN, short
from offline_eval.report.html_texts import Words
from offline_eval.report.numbers import interval_text, percent, three

REVIEW_SHOWN = 25
_GRADED = ("1", "2", "3")  # labels with a colour of their own; all others share one

Shown = dict[str, Any]


def labels(summary: RunSummary, t: Words) -> Shown:
    """Label counts of every system and dimension, drawn as parts of a bar."""
    seen = sorted({label for dims in summary.labels.values() for counts in dims.values() for label in counts})
    rows = []
    for system, dimensions in summary.labels.items():
        for dimension, counts in dimensions.items():
            told = ", ".join(f"{_level(label, summary, t)} {n}" for label, n in counts.items())
            names = {"system": short(system), "dimension": t.named("dimensions", dimension)}
            plot = stacked_bar(_parts(counts), title=t.labels_title.format(counts=told, **names))
            rows.append({**names, "plot": plot, "counts": [counts.get(label, 0) for label in seen]})
    return {
        "labels": rows,
        "label_columns": [_level(label, summary, t) for label in seen],
        "label_legend": [
            *((label, _level(label, summary, t)) for label in seen if label in _GRADED),
            *([("other", t.other_label)] if set(seen) - set(_GRADED) else []),
        ],
    }


def _parts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    others = sum(n for label, n in counts.items() if label not in _GRADED)
    return [*((label, counts.get(label, 0)) for label in _GRADED), ("other", others)]


def _level(label: str, summary: RunSummary, t: Words) -> str:
    """`1 fail`, by the rubric's own name for the level in the report's language where it has one."""
    name = summary.level_names.get(label, "")
    if not name:
        return t.named("statuses", label)
    names = name.split(" / ")
    fitting = [n for n in names if n.isascii() == (t.language == "en")]
    return f"{label} {(fitting or names)[0]}"


def disagreements(summary: RunSummary, t: Words) -> Shown:
    """What a person should look at, by rule and one by one."""
    rules = [(t.named("rules", rule), percent(share)) for rule, share in summary.review_shares.items()]
    return {
        "review_rules": rules,
        "review": [_review(view, t) for view in summary.review[:REVIEW_SHOWN]],
        "review_more": max(0, len(summary.review) - REVIEW_SHOWN),
    }


def _review(view: ResponseView, t: Words) -> Shown:
    grades = [f"{t.named('dimensions', name)} {three(grade)}" for name, grade in view.grades.items()]
    return {
        "key": short(view.response_key),
        "query": short(view.query, QUERY_SHOWN),
        "grades": " · ".join(grades),
        "reasons": [short(t.reason(reason), QUERY_SHOWN) for reason in view.review_reasons],
    }


def correlations(summary: RunSummary, t: Words) -> list[Shown]:
    """How the dimensions move together, on the range from -1 to 1."""
    rows = []
    for one in summary.correlations:
        first, second = (t.named("dimensions", name) for name in (one.first, one.second))
        value = "–" if one.value is None else three(one.value)
        said, count = interval_text(one.interval), f"n = {one.n}"
        name = f"{first} – {second}"
        title = t.whisker_title.format(name=name, value=value, interval=said, count=one.n, low=-1, high=1)
        bounds = None if one.interval is None else (one.interval.low, one.interval.high)
        note = one.reason or t.readings[one.reading]
        plot = whisker(one.value, bounds, axis=(-1, 1), shape=0, title=title)
        rows.append({"name": name, "plot": plot, "value": value, "interval": said, "count": count, "note": note})
    return rows


def judges(summary: RunSummary) -> list[tuple[str, ...]]:
    """What each judge did."""
    return [_judge(count) for count in summary.judge_counts]


def _judge(count: JudgeCount) -> tuple[str, ...]:
    return (
        short(count.judge),
        count.guarantee,
        str(count.verdicts),
        str(count.failed),
        " ".join(f"{label}:{n}" for label, n in count.by_label.items()),
        "–" if count.off_label_mass is None else three(count.off_label_mass),
        f"{count.quotes_verbatim}/{count.quotes}",
        f"{count.reasons - count.reasons_failed}/{count.reasons}",
        f"{count.prompt_tokens:,}/{count.output_tokens:,}",
    )


def refusals(summary: RunSummary) -> list[tuple[object, ...]]:
    """Answerable × answered, a row a system."""
    return [
        (
            short(table.system),
            table.answerable_answered,
            table.answerable_refused,
            table.unanswerable_answered,
            table.unanswerable_refused,
            table.unknown,
            table.failed,
        )
        for table in summary.refusals
    ]


def screen(summary: RunSummary, t: Words) -> str:
    """What the staged evaluation saved, and what it cost in agreement."""
    found = summary.screen
    if found is None:
        return ""
    return str(
        t.screen.format(
            dimension=t.named("dimensions", found.dimension),
            settled=found.settled,
            asked=found.asked,
            saved=found.calls_saved,
            control=found.control,
            agreed=found.agreed,
            interval=interval_text(found.interval),
        )
    )


def reliability(frame: ReportFrame, t: Words) -> list[Shown]:
    """A curve for each judge and dimension with labels."""
    return [_curve(one, t) for one in frame.reliability]


def _curve(one: Reliability, t: Words) -> Shown:
    title = t.reliability_title.format(judge=short(one.judge), dimension=t.named("dimensions", one.dimension), n=one.n)
    error = "–" if one.error is None else three(one.error)
    rows = [(three(p.said), three(p.found), interval_text(p.interval), p.n) for p in one.points]
    return {
        "title": title,
        "plot": reliability_curve(one.points, title=title, x_name=t.judge_says, y_name=t.people_passed),
        "error": t.reliability_error.format(error=error, n=one.n),
        "table": rows,
    }


def tag_share(tag: TagCount, t: Words) -> str:
    """How often one thing went wrong, of how many, with the interval."""
    share = "–" if tag.share is None else three(tag.share)
    return str(t.tag_share.format(n=tag.n, examined=tag.examined, share=share, interval=interval_text(tag.interval)))
