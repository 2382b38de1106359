"""Systems with given scores, without a run file: for tests of what is computed from scores alone."""

from collections.abc import Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, Literal

from offline_eval.core.protocols import Item
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score, Status
from offline_eval.judge.routing import PanelVerdict
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.metric_plan import load_metric
from offline_eval.pipeline.sides import Side
from tests.support.panel_runs import make_config

FAILED = "failed"
Value = float | str | None
"""A value, FAILED, or None where the metric does not apply."""


def make_side(
    values: Mapping[str, Sequence[Value]],
    *,
    system: str = "ours",
    run_id: str = "run-a",
    cases: Sequence[Case] | None = None,
    owners: Sequence[str] | None = None,
    feedback: Sequence[int | None] | None = None,
    **config: Any,
) -> Side:
    """A system whose i-th response has the i-th value of every metric.

    Args:
        values: Metric to values.
        owners: Case ids, where a case has several attempts; one case a value when None.
    """
    n = len(next(iter(values.values())))
    ids = tuple(owners or (f"c{place:03d}" for place in range(n)))
    known = tuple(cases or _cases(ids))
    items = _items(known, ids, system, tuple(feedback or [None] * n)) if cases or feedback else _plain(ids, system)
    results: Any = SimpleNamespace(
        run_id=run_id,
        items=list(items),
        cases=list(known),
        cases_hash="cases",
        metrics=[load_metric(name) for name in values],
        scores={name: _scores(name, column, items) for name, column in values.items()},
        config=_config(tuple(values)) if not config else make_config(metrics=tuple(values), **config),
        verdicts={item.response.key: judged("accept") for item in items},
        evidence={},
    )
    return Side(system, results, system)


@cache
def judged(route: Literal["accept", "review"], *, unjudged: str | None = None, failed: bool = False) -> PanelVerdict:
    """A panel's verdict on all dimensions.

    Args:
        unjudged: Why no dimension has a grade; None when all have.
        failed: Whether that is a failure; else the dimensions do not apply.
    """
    dimensions = make_config().panel.examiners
    grades = dict.fromkeys(dimensions, 2.0) if unjudged is None else {}
    return PanelVerdict(
        response_key="any",
        grades=grades,
        expected_grades=grades,
        missing={} if unjudged is None else dict.fromkeys(dimensions, unjudged),
        failed=dimensions if failed else (),
        route=route,
    )


NEVER_JUDGED = PanelVerdict(response_key="any", grades={}, expected_grades={}, missing={}, route="accept")


@cache
def _config(metrics: tuple[str, ...]) -> RunConfig:
    return make_config(metrics=metrics)


@cache
def _cases(ids: tuple[str, ...]) -> tuple[Case, ...]:
    return tuple(Case(id=id, query=f"query {id}") for id in dict.fromkeys(ids))


@cache
def _plain(ids: tuple[str, ...], system: str) -> tuple[Item, ...]:
    """Made once for all draws of a simulation."""
    return _items(_cases(ids), ids, system, (None,) * len(ids))


def _items(
    cases: tuple[Case, ...], ids: tuple[str, ...], system: str, feedback: tuple[int | None, ...]
) -> tuple[Item, ...]:
    known, seen, items = {case.id: case for case in cases}, dict.fromkeys(ids, 0), []
    for place, id in enumerate(ids):
        seen[id] += 1
        answer = f"{system} answers {id}"
        response = Response(case_id=id, system=system, attempt=seen[id], answer=answer, feedback=feedback[place])
        items.append(Item(case=known[id], response=response))
    return tuple(items)


def _scores(name: str, values: Sequence[Value], items: Sequence[Item]) -> dict[str, Score]:
    found = {}
    for value, item in zip(values, items, strict=True):
        is_number = isinstance(value, int | float)
        status = Status.SCORED if is_number else (Status.FAILED if value == FAILED else Status.NOT_APPLICABLE)
        # Built without checks: a simulation makes hundreds of thousands.
        found[item.response.key] = Score.model_construct(
            metric=name,
            response_key=item.response.key,
            cluster=item.case.id,
            system=item.response.system,
            status=status,
            value=float(value) if is_number else None,
            reason=None if is_number else ("time_limit" if value == FAILED else "no_reference"),
        )
    return found
