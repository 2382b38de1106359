"""Builds scores: a value, or a status with its reason, and nothing in between."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar, cast

from offline_eval.core.evidence import Evidence
from offline_eval.core.pieces import pieces_of, read_once
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score, Status

P = TypeVar("P")

NOT_CHECKED = "not_checked"
RESPONSE_ERROR = "response_error"


class NotScored(Exception):
    """Ends a metric's arithmetic early: there is nothing to compute, and this is why.

    Args:
        reason: A short code, such as `no_reference`.
        failed: Whether something went wrong; otherwise the metric does not apply.
    """

    def __init__(self, reason: str, *, failed: bool = False) -> None:
        self.reason = reason
        self.status = Status.FAILED if failed else Status.NOT_APPLICABLE
        super().__init__(reason)


def score_with(metric: str, case: Case, response: Response, compute: Callable[[], float]) -> Score:
    """The score of a response: what `compute` returns, or the reason it gives for returning nothing.

    A response without an answer, because the system failed, fails on every metric.
    """
    status, value, reason = Status.SCORED, None, None
    try:
        if response.error is not None:
            raise NotScored(RESPONSE_ERROR, failed=True)
        value = compute()
    except NotScored as outcome:
        status, reason = outcome.status, outcome.reason
    return Score(
        metric=metric,
        response_key=response.key,
        cluster=case.id,
        system=response.system,
        status=status,
        value=value,
        reason=reason,
    )


def the_piece(evidence: Sequence[Evidence], kind: type[P], **fields: str) -> P:
    """The newest piece of evidence of a kind with these field values; failed when the check was not run."""
    found = read_once(evidence, (kind, *fields.items()), lambda: _newest(evidence, kind, fields))
    if found.status is not Status.SCORED:
        raise NotScored(found.reason, failed=found.status is Status.FAILED)
    return cast(P, found.piece)


class _Newest(NamedTuple):
    piece: object
    status: Status
    reason: str = ""


def _newest(evidence: Sequence[Evidence], kind: type[P], fields: Mapping[str, str]) -> _Newest:
    found = [p for p in pieces_of(evidence, kind) if all(getattr(p, name) == value for name, value in fields.items())]
    if not found:
        return _Newest(None, Status.FAILED, NOT_CHECKED)
    status = getattr(found[-1], "status", Status.SCORED)
    return _Newest(found[-1], status, str(getattr(found[-1], "status_reason", None) or status))


def share(flags: Iterable[bool], *, otherwise: str) -> float:
    """Share of true flags in [0, 1]; not applicable, for the reason in `otherwise`, without any."""
    counted = list(flags)
    if not counted:
        raise NotScored(otherwise)
    return sum(counted) / len(counted)
