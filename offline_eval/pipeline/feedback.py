"""Users' thumbs against metrics: a metric that no longer moves with them measures something else than their trouble."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from offline_eval.core.errors import DataError
from offline_eval.core.protocols import GroupMetric
from offline_eval.core.results import Interval
from offline_eval.core.user_feedback import FeedbackReport, Following, Satisfaction
from offline_eval.formats.problems import Problems, refuse
from offline_eval.formats.rows import read_rows
from offline_eval.pipeline.sides import Side
from offline_eval.stats.association import correlation_change, spearman
from offline_eval.stats.intervals import mean_interval
from offline_eval.stats.measured import Measured, measure
from offline_eval.stats.undefined import Undefined

Feedback = Mapping[str, int]
"""Response key to 1 (up), -1 (down) or 0 (neither)."""

RESAMPLES = 1000  # as many as two digits of a correlation's interval need
_UP = {"1", "up", "thumbs_up", "thumbs up", "true", "yes", "good", "like", "👍", "赞", "满意", "有用", "好评"}
_DOWN = {
    "-1",
    "down",
    "thumbs_down",
    "thumbs down",
    "false",
    "no",
    "bad",
    "dislike",
    "👎",
    "踩",
    "不满意",
    "无用",
    "差评",
}
_NEITHER = {"0", "none", "neutral", "", "一般"}


def recorded_feedback(sides: Sequence[Side]) -> dict[str, int]:
    """What the responses themselves carry."""
    return {
        item.response.key: item.response.feedback
        for side in sides
        for item in side.items
        if item.response.feedback is not None
    }


def read_feedback(path: Path, sides: Sequence[Side]) -> dict[str, int]:
    """Read `case_id, feedback` and, where needed, `system`, `variant` and `attempt`.

    A row that names no system belongs to every system's response to the case. Several rows for one response (several
    users) count as their majority; a tie is 0.

    Args:
        path: JSON Lines, JSON, CSV or Parquet. Feedback is 1/-1/0, true/false, up/down, 👍/👎, 赞/踩 and the like.

    Raises:
        DataError: All bad rows, with their lines.
    """
    keys = _keys(sides)
    problems = Problems(str(path))
    votes: dict[str, int] = {}
    for row in read_rows(path, problems):
        vote = _vote(row.values.get("feedback"))
        found = keys.get(_place(row.values), [])
        if vote is None:
            problems.add(row.line, f"feedback {row.values.get('feedback')!r}: expected 1, -1, 0, up, down, 👍 or 👎")
        elif not found:
            problems.add(row.line, f"case {row.values.get('case_id')!r}: no such response in the run")
        else:
            votes.update({key: votes.get(key, 0) + vote for key in found})
    refuse([problems])
    return {key: (total > 0) - (total < 0) for key, total in votes.items()}


def follow(
    sides: Sequence[Side],
    feedback: Feedback,
    *,
    earlier: Sequence[Side] = (),
    earlier_feedback: Feedback | None = None,
    seed: int,
) -> FeedbackReport:
    """Hold every metric against the users.

    Args:
        sides: The run's systems.
        feedback: Of their responses.
        earlier: Systems of an earlier run, matched by name; a metric that follows users less than there fell.
        earlier_feedback: Of the earlier responses.
        seed: Seed of the intervals' resampling.

    Raises:
        DataError: No response has feedback.
    """
    if not feedback:
        raise DataError("no response has feedback; give it in the responses' `feedback` (1 or -1) or with --file")
    before = {side.system: side for side in earlier}
    rows = []
    for side in sides:
        for name in side.metric_names:
            if isinstance(side.metric(name), GroupMetric):
                continue  # scores a whole case; a thumb belongs to one response
            then = before.get(side.system)
            has_both = then is not None and name in then.metric_names
            old = _correlation(then, name, earlier_feedback or {}, seed) if then is not None and has_both else None
            rows.append(_following(side, name, _correlation(side, name, feedback, seed), old))
    return FeedbackReport(
        run_id=sides[0].results.run_id,
        earlier_run=earlier[0].results.run_id if earlier else None,
        satisfaction=tuple(_satisfaction(side, feedback, seed) for side in sides),
        following=tuple(rows),
    )


def _correlation(side: Side, name: str, feedback: Feedback, seed: int) -> tuple[Measured, int]:
    """The correlation, and how many responses with feedback have no value."""
    metric, scores = side.metric(name), side.results.scores[name]
    rated = [item for item in side.items if item.response.key in feedback]
    kept = [(item, scores[item.response.key].value) for item in rated]
    values = [(item, value) for item, value in kept if value is not None]
    sign = 1.0 if metric.higher_is_better else -1.0
    columns = [
        sign * np.array([value for _, value in values], dtype=np.float64) + 0.0,  # no minus zero in messages
        np.array([feedback[item.response.key] for item, _ in values], dtype=np.float64),
    ]
    clusters = [item.case.id for item, _ in values]
    return measure(spearman, columns, clusters=clusters, seed=seed, resamples=RESAMPLES), len(kept) - len(values)


def _following(side: Side, name: str, now: tuple[Measured, int], then: tuple[Measured, int] | None) -> Following:
    found, n_unscored = now
    change = correlation_change(then[0], found) if then is not None else None
    fell = isinstance(change, Interval) and change.high < 0
    reading = _reading(found)
    return Following(
        system=side.system,
        metric=name,
        correlation=found.value,
        interval=found.interval,
        reason=found.reason or found.interval_reason,
        n=found.n,
        n_unscored=n_unscored,
        earlier=None if then is None else then[0].value,
        change=change if isinstance(change, Interval) else None,
        reading=reading,
        fell=fell,
        drifts=reading != "follows" or fell,
    )


def _reading(found: Measured) -> Literal["follows", "against", "cannot tell", "undefined"]:
    if found.interval is None:
        return "undefined"
    if found.interval.low > 0:
        return "follows"
    return "against" if found.interval.high < 0 else "cannot tell"


def _satisfaction(side: Side, feedback: Feedback, seed: int) -> Satisfaction:
    rated = [(item.case.id, feedback[item.response.key]) for item in side.items if item.response.key in feedback]
    said = [(id, float(vote > 0)) for id, vote in rated if vote]
    flags = [flag for _, flag in said]
    interval = mean_interval(flags, low=0, high=1, clusters=[id for id, _ in said], seed=seed)
    up = int(sum(flags))
    return Satisfaction(
        system=side.system,
        up=up,
        down=len(flags) - up,
        neutral=len(rated) - len(flags),
        n_responses=len(side.items),
        share=up / len(flags) if flags else None,
        interval=None if isinstance(interval, Undefined) else interval,
        interval_reason=interval.reason if isinstance(interval, Undefined) else None,
    )


_Place = tuple[str, str | None, int | None, int]


def _keys(sides: Sequence[Side]) -> dict[_Place, list[str]]:
    """Where a row can point: a response of a named system, or of every system."""
    found: dict[_Place, list[str]] = {}
    for side in sides:
        for item in side.items:
            response = item.response
            for system in (response.system, None):
                place = (response.case_id, system, response.variant, response.attempt)
                found.setdefault(place, []).append(response.key)
    return found


def _place(values: Mapping[str, Any]) -> _Place:
    system = values.get("system")
    case_id = str(values.get("case_id", values.get("id")))
    return case_id, str(system) if system else None, _number(values.get("variant")), _number(values.get("attempt")) or 1


def _number(value: Any) -> int | None:
    text = str(value).strip()
    return int(text) if text.isdecimal() else None


def _vote(value: Any) -> int | None:
    word = str(value).strip().casefold() if value is not None else ""
    word = word.removesuffix(".0")
    if word in _UP:
        return 1
    if word in _DOWN:
        return -1
    return 0 if word in _NEITHER else None
