"""Which responses of a run go into the bad-case library, and which cases come out of it as a regression test set."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Literal

from pydantic import Field

from offline_eval.core.bad_case import BadCase, Sighting
from offline_eval.core.diagnosis import CaseDiagnosis, Tag
from offline_eval.core.errors import UsageError
from offline_eval.core.protocols import GroupMetric, Item
from offline_eval.core.records import Case, Record, Response
from offline_eval.core.results import Score, Status
from offline_eval.pipeline.diagnosis import diagnose
from offline_eval.pipeline.scoring import AnyMetric
from offline_eval.pipeline.sides import Side

CAUSE_TAG = "cause:"
Why = Literal["failed", "low", "faulty", "named"]

_ID_DIGITS = 8
_FAILED = inf  # worse than any value


class Wanted(Record):
    """What is added.

    Attributes:
        limits: Metric to the value a response must be worse than; empty for the run's first metric at the middle of its
            range.
        faulty: Also responses with a cause whose score is not low.
        tags: Only responses with one of these causes; all when empty.
        cases: Only these cases, whatever their score; all when empty.
        worst: At most this many, those with the worst value first; None for all.
        note: Kept with each.
    """

    limits: dict[str, float] = Field(default_factory=dict)
    faulty: bool = False
    tags: tuple[Tag, ...] = ()
    cases: tuple[str, ...] = ()
    worst: int | None = None
    note: str | None = None


def select(side: Side, wanted: Wanted) -> list[BadCase]:
    """The responses of one system that are low, failed, faulty or named.

    Raises:
        UsageError: A metric or case the run does not have.
    """
    limits = wanted.limits or _default_limit(side)
    unknown = [name for name in limits if name not in side.metric_names]
    if unknown:
        raise UsageError(f"{unknown[0]}: not a metric of this run; it has {', '.join(side.metric_names)}")
    lacking = set(wanted.cases) - {item.case.id for item in side.items}
    if lacking:
        raise UsageError(f"no response of {side.system} to case {min(lacking)!r} in this run")
    scores = {name: side.results.scores[name] for name in side.metric_names if _is_single(side.metric(name))}
    found = [_sighting(item, side, scores, limits=limits, wanted=wanted) for item in side.items]
    kept = [(badness, bad) for badness, bad in found if bad is not None]
    kept.sort(key=lambda pair: -pair[0])
    return [bad for _, bad in kept[: wanted.worst]]


def regression_set(library: Sequence[BadCase], *, tags: Sequence[Tag] = ()) -> list[tuple[Case, Response]]:
    """Cases with their latest recorded response; ids that occur twice get a piece of the case's hash.

    Args:
        tags: Only cases with one of these causes; all when empty.

    Returns:
        Each case as it was, with its causes added as tags `cause:…`.
    """
    chosen = [bad for bad in library if not tags or set(tags) & set(bad.tags)]
    ids = [bad.case.id for bad in chosen]
    found = []
    for bad in chosen:
        again = ids.count(bad.case.id) > 1
        id = f"{bad.case.id}-{bad.case.content_hash()[:_ID_DIGITS]}" if again else bad.case.id
        causes = tuple(f"{CAUSE_TAG}{tag}" for tag in bad.tags if f"{CAUSE_TAG}{tag}" not in bad.case.tags)
        case = bad.case.model_copy(update={"id": id, "tags": (*bad.case.tags, *causes)})
        found.append((case, bad.sightings[-1].response.model_copy(update={"case_id": id})))
    return found


def _default_limit(side: Side) -> dict[str, float]:
    name = side.metric_names[0]
    metric = side.metric(name)
    return {name: (metric.low + metric.high) / 2}


def _sighting(
    item: Item,
    side: Side,
    scores: Mapping[str, Mapping[str, Score]],
    *,
    limits: Mapping[str, float],
    wanted: Wanted,
) -> tuple[float, BadCase | None]:
    key = item.response.key
    mine = {name: found[key] for name, found in scores.items() if key in found}
    diagnosis = diagnose(item, side.results.evidence.get(key, ()))
    badness = max(
        (_badness(side.metric(name), mine[name], limit) for name, limit in limits.items() if name in mine), default=0.0
    )
    why = _why(item, badness, diagnosis, wanted)
    tags = tuple(cause.tag for cause in diagnosis.causes)
    if why is None or (wanted.tags and not set(wanted.tags) & set(tags)):
        return badness, None
    sighting = Sighting(
        run_id=side.results.run_id,
        system=side.system,
        response=item.response,
        why=why,
        tags=tags,
        fault=diagnosis.fault,
        reasons=tuple(cause.reason.en for cause in diagnosis.causes),
        values={name: score.value for name, score in mine.items() if score.value is not None},
        failures={name: score.reason or "" for name, score in mine.items() if score.status is Status.FAILED},
        note=wanted.note,
    )
    return badness, BadCase(case=item.case, sightings=(sighting,))


def _why(item: Item, badness: float, diagnosis: CaseDiagnosis, wanted: Wanted) -> Why | None:
    if wanted.cases:
        return "named" if item.case.id in wanted.cases else None
    if item.response.error is not None or badness == _FAILED:
        return "failed"
    if badness > 0:
        return "low"
    return "faulty" if wanted.faulty and diagnosis.causes else None


def _badness(metric: AnyMetric, score: Score, limit: float) -> float:
    """How far beyond its limit; 0 when it is not, more than any value for a failed one."""
    if score.status is Status.FAILED:
        return _FAILED
    if score.value is None:
        return 0.0
    beyond = limit - score.value if metric.higher_is_better else score.value - limit
    return max(0.0, beyond)


def _is_single(metric: AnyMetric) -> bool:
    return not isinstance(metric, GroupMetric)
