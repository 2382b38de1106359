"""One response's detail → what its template shows: texts in pieces, claims with their signs, verdicts in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from offline_eval.core.diagnosis import CaseDiagnosis, Cause
from offline_eval.core.response_detail import (
    ClaimDetail,
    ClaimState,
    Judgement,
    Mark,
    PassageDetail,
    ResponseDetail,
)
from offline_eval.core.results import Status
from offline_eval.report.html_marks import Piece, cut, pieces
from offline_eval.report.html_texts import Words
from offline_eval.report.numbers import percent, three

MOST_ITEMS = 100
"""Claims, passages and the like that one response shows; the rest is counted."""

QUERY_SHOWN = 160
_SIGNS: Mapping[ClaimState, str] = {"supported": "✓", "unsupported": "✗", "contradicted": "≠", "not_checked": "?"}


class PieceView(NamedTuple):
    """A stretch of a text; `kind` names its marks, `labels` those that end with it."""

    text: str
    kind: str = ""
    labels: Sequence[str] = ()


class TextView(NamedTuple):
    """A long text in pieces, and how many characters of it were left out."""

    pieces: Sequence[PieceView]
    left_out: int


class ClaimView(NamedTuple):
    """A claim with its state as class, sign and words, and what it rests on."""

    state: str
    sign: str
    said: str
    text: str
    where: str


class JudgementView(NamedTuple):
    """One judge's verdict in words."""

    dimension: str
    label: str
    judge: str
    probabilities: str
    reason: str | None
    quote: str | None
    verbatim: bool | None


class PassageView(NamedTuple):
    """One passage; `notes` say what is known about it."""

    title: str
    id: str
    notes: Sequence[str]
    text: TextView


class CauseView(NamedTuple):
    """What went wrong, in which part, how that was seen, and what to try."""

    name: str
    part: str
    reason: str
    advice: str


class CaseView(NamedTuple):
    """Everything the template `case.html` shows of one response."""

    key: str
    value: str
    query_short: str
    fault: str
    facts: Sequence[str]
    query: TextView
    answer: TextView
    error: str | None
    reference: TextView | None
    review: Sequence[str]
    claims: Sequence[ClaimView]
    claims_more: int
    key_points: Sequence[ClaimView]
    judgements: Sequence[JudgementView]
    n_passages: int
    passages: Sequence[PassageView]
    passages_more: int
    conflicts: Sequence[str]
    scores: Sequence[tuple[str, str]]
    diagnosis: str
    causes: Sequence[CauseView]


def case_view(detail: ResponseDetail, t: Words) -> CaseView:
    """One response in the words of a report's language."""
    view, found = detail.view, detail.diagnosis
    query, left = cut(view.query, QUERY_SHOWN)
    return CaseView(
        key=short(view.response_key),
        value=value_text(view.total),
        query_short=query + "…" * bool(left),
        fault=fault_text(detail, t),
        facts=[short(fact) for fact in _facts(detail, t)],
        query=_text(view.query, (), t),
        answer=_text(view.answer, detail.answer_marks, t),
        error=detail.error,
        reference=None if detail.reference is None else _text(detail.reference, (), t),
        review=[t.reason(reason) for reason in view.review_reasons],
        claims=[_claim(claim, t) for claim in detail.claims[:MOST_ITEMS]],
        claims_more=max(0, len(detail.claims) - MOST_ITEMS),
        key_points=[_claim(claim, t) for claim in detail.key_points[:MOST_ITEMS]],
        judgements=[_judgement(judgement, t) for judgement in detail.judgements[:MOST_ITEMS]],
        n_passages=len(detail.passages),
        passages=[_passage(passage, t) for passage in detail.passages[:MOST_ITEMS]],
        passages_more=max(0, len(detail.passages) - MOST_ITEMS),
        conflicts=[
            f"[{c.first_id}] {c.first} ≠ [{c.second_id}] {c.second} ({c.by})" for c in detail.conflicts[:MOST_ITEMS]
        ],
        scores=list(_scores(detail, t)),
        diagnosis="" if found is None else _diagnosis(found, t),
        causes=[] if found is None else [_cause(cause, t) for cause in found.causes],
    )


def value_text(value: float | None) -> str:
    """A score, or a dash."""
    return "–" if value is None else three(value)


def short(text: str, limit: int = 90) -> str:
    """A name of at most `limit` characters; what is left out is marked."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def fault_text(detail: ResponseDetail, t: Words) -> str:
    """The part at fault, in words; empty where there is none."""
    found = detail.diagnosis
    if found is None or found.fault in (None, "none_found"):
        return ""
    return str(t.faults[found.fault])


def _facts(detail: ResponseDetail, t: Words) -> Iterable[str]:
    view = detail.view
    yield from (view.system, view.case_id, view.query_type, view.language)
    yield from detail.tags[:MOST_ITEMS]
    if detail.answerable is not None:
        yield str(t.answerable if detail.answerable else t.unanswerable)
    if detail.refused:
        yield str(t.refused)
    if view.fault:
        yield str(t.fault_built_in.format(fault=view.fault))


def _text(text: str, marks: Sequence[Mark], t: Words) -> TextView:
    shown, left_out = cut(text)
    return TextView([_piece(piece, t) for piece in pieces(shown, marks)], left_out)


def _piece(piece: Piece, t: Words) -> PieceView:
    if not piece.marks:
        return PieceView(piece.text)
    kinds = sorted({mark.kind for mark in piece.marks} | {mark.state for mark in piece.marks if mark.state})
    return PieceView(piece.text, " ".join(kinds), [_mark_label(mark, t) for mark in piece.ending])


def _mark_label(mark: Mark, t: Words) -> str:
    if mark.kind == "quote":
        return str(t.quote.format(dimension=t.named("dimensions", mark.label)))
    return f"{mark.label}{_SIGNS[mark.state]}" if mark.state else mark.label


def _passage(passage: PassageDetail, t: Words) -> PassageView:
    notes = [] if passage.grade is None else [str(t.relevant.format(n=passage.grade))]
    if passage.cited:
        notes.append(str(t.cited))
    return PassageView(short(passage.title or ""), short(passage.id), notes, _text(passage.text, passage.marks, t))


def _claim(claim: ClaimDetail, t: Words) -> ClaimView:
    where = t.reason(claim.reason) if claim.reason else ""
    if claim.support is not None:
        where = three(claim.support)
        if claim.passage is not None:
            where = str(t.best_in.format(n=claim.passage, support=where))
    return ClaimView(claim.state, _SIGNS[claim.state], t.states[claim.state], claim.text, where)


def _judgement(found: Judgement, t: Words) -> JudgementView:
    by = found.judge if found.decided_by == "judge" else str(t.by[found.decided_by])
    return JudgementView(
        dimension=t.named("dimensions", found.dimension),
        label=found.label if found.label is not None else t.reason(found.status_reason or ""),
        judge=short(f"{by} ({t.arbiter})" if found.role == "arbiter" else by),
        probabilities=", ".join(f"{label} {percent(p)}" for label, p in sorted(found.probabilities.items())),
        reason=found.reason,
        quote=found.quote,
        verbatim=found.quote_verbatim,
    )


def _scores(detail: ResponseDetail, t: Words) -> Iterable[tuple[str, str]]:
    yield from ((name, three(value)) for name, value in detail.scores.items())
    yield from ((name, f"– ({t.reason(reason)})") for name, reason in detail.unscored.items())


def _diagnosis(found: CaseDiagnosis, t: Words) -> str:
    if found.status is Status.FAILED:
        return str(t.no_answer)
    return str(t.not_examined if found.fault is None else t.faults[found.fault])


def _cause(cause: Cause, t: Words) -> CauseView:
    return CauseView(t.said(cause.name), t.faults[cause.part], t.said(cause.reason), t.said(cause.advice))
