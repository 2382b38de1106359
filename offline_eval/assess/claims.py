"""Marks every claim of an answer by what the passages say about it, and writes the marks into the answer."""

from collections.abc import Mapping, Sequence

from offline_eval.assess.records import ClaimMark, Mark
from offline_eval.core.evidence import Claim, ClaimsEvidence, EntailmentEvidence, Evidence, Support
from offline_eval.core.results import Status

CONTRADICTED_FROM = 0.5
"""Probability of a contradiction from which a claim that nothing supports counts as contradicted."""


def mark_claims(evidence: Sequence[Evidence], *, supported_from: float, not_checked: str = "") -> tuple[ClaimMark, ...]:
    """Mark the claims of the answer.

    Args:
        evidence: Its claims and their matrix against the passages.
        supported_from: Probability of entailment from which a claim counts as supported.
        not_checked: Why there is no matrix.

    Returns:
        One mark a claim, in the answer's order; empty for an answer that claims nothing.
    """
    claims = next((p for p in evidence if isinstance(p, ClaimsEvidence) and p.source == "answer"), None)
    matrix = next(
        (
            p
            for p in evidence
            if isinstance(p, EntailmentEvidence) and (p.hypotheses, p.premises) == ("answer", "passages")
        ),
        None,
    )
    if claims is None:
        return ()
    if matrix is None or matrix.status is not Status.SCORED:
        reason = not_checked if matrix is None else matrix.status_reason or not_checked
        return tuple(_mark(claim, Mark.UNCHECKED, reason=reason or "not checked") for claim in claims.claims)
    return tuple(
        _marked(claim, row, matrix.premise_ids, supported_from)
        for claim, row in zip(claims.claims, matrix.rows, strict=True)
    )


def with_marks(answer: str, claims: Sequence[ClaimMark], texts: Mapping[Mark, str]) -> str:
    """The answer with each claim's mark behind it, before the stop that ends it.

    Args:
        texts: Mark to what is written; nothing for an empty one.
    """
    text = answer
    placed = [(claim.end, texts[claim.mark]) for claim in claims if claim.end is not None and texts[claim.mark]]
    for end, mark in sorted(placed, reverse=True):
        at = end
        while at > 0 and text[at - 1] in " \t\n.。!！?？;；":
            at -= 1
        text = text[:at] + mark + text[at:]
    return text


def _marked(claim: Claim, row: Sequence[Support], ids: Sequence[str], supported_from: float) -> ClaimMark:
    values = [cell.entailment for cell in row if cell.entailment is not None]
    best = max(values, default=None)
    if best is not None and best >= supported_from:
        supporting = [
            (cell.entailment, id_)
            for cell, id_ in zip(row, ids, strict=True)
            if cell.entailment is not None and cell.entailment >= supported_from
        ]
        by_support = sorted(supporting, key=lambda entry: -entry[0])
        return _mark(claim, Mark.SUPPORTED, support=best, passage_ids=tuple(id_ for _, id_ in by_support))
    failure = next((cell.failure for cell in row if cell.failure), None)
    if failure is not None:
        return _mark(claim, Mark.UNCHECKED, reason=failure)
    against = tuple(id_ for cell, id_ in zip(row, ids, strict=True) if (cell.contradiction or 0.0) >= CONTRADICTED_FROM)
    mark = Mark.CONTRADICTED if against else Mark.UNSUPPORTED
    return _mark(claim, mark, support=best or 0.0, passage_ids=against)


def _mark(
    claim: Claim,
    mark: Mark,
    *,
    support: float | None = None,
    passage_ids: tuple[str, ...] = (),
    reason: str | None = None,
) -> ClaimMark:
    return ClaimMark(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        mark=mark,
        support=support,
        passage_ids=passage_ids,
        reason=reason,
    )
