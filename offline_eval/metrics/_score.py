"""Builds scores: a value, or a status with its reason, and nothing in between."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from offline_eval.core.evidence import Evidence
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
    found = [p for p in evidence if isinstance(p, kind) and all(getattr(p, k) == v for k, v in fields.items())]
    if not found:
        raise NotScored(NOT_CHECKED, failed=True)
    piece = found[-1]
    status = getattr(piece, "status", Status.SCORED)
    if status is not Status.SCORED:
        raise NotScored(str(getattr(piece, "status_reason", None) or status), failed=status is Status.FAILED)
    return piece


def share(flags: Iterable[bool], *, otherwise: str) -> float:
    """Share of true flags in [0, 1]; not applicable, for the reason in `otherwise`, without any."""
    counted = list(flags)
    if not counted:
        raise NotScored(otherwise)
    return sum(counted) / len(counted)
