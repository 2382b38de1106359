"""Stored evidence → what a report shows of one response: claims with their support, quotes where they stand, verdicts.

Why apart from `aggregate`: a summary counts, this looks at single cases, one at a time, so that memory does not grow
with them.
"""

from collections.abc import Iterator, Sequence

from offline_eval.core.diagnosis import CaseDiagnosis
from offline_eval.core.evidence import (
    Claim,
    ClaimsEvidence,
    ContradictionEvidence,
    EntailmentEvidence,
    Evidence,
    ReasonEvidence,
    RefusalEvidence,
    Support,
    VerdictEvidence,
)
from offline_eval.core.pieces import pieces_of
from offline_eval.core.protocols import Item
from offline_eval.core.response_detail import (
    ClaimDetail,
    ClaimState,
    Judgement,
    Mark,
    PassageDetail,
    ReportFrame,
    ResponseDetail,
)
from offline_eval.core.results import Status
from offline_eval.metrics.claims._matrix import SUPPORTED
from offline_eval.pipeline.aggregate import Results
from offline_eval.text.sentences import split_sentences

_LONG = 20_000  # characters; in a longer text no nearest sentence is looked for


def response_details(results: Results, frame: ReportFrame) -> Iterator[ResponseDetail]:
    """Every response's detail in the frame's order, one at a time."""
    items = {item.response.key: item for item in results.items}
    return (response_detail(results, items[key], diagnosis=frame.diagnoses.get(key)) for key in frame.order)


def response_detail(results: Results, item: Item, *, diagnosis: CaseDiagnosis | None) -> ResponseDetail:
    """Everything about one response."""
    key = item.response.key
    evidence = results.evidence[key]
    claims = claim_details(evidence, "answer", "passages")
    scores = {name: found[key] for name, found in results.scores.items() if key in found}
    refusal = next(iter(pieces_of(evidence, RefusalEvidence)), None)
    conflicts = next((piece.conflicts for piece in pieces_of(evidence, ContradictionEvidence)), ())
    return ResponseDetail(
        view=results.views[key],
        tags=item.case.tags,
        answerable=item.case.answerable,
        refused=None if refusal is None else refusal.refused,
        error=item.response.error,
        reference=item.case.reference,
        answer_marks=tuple(_answer_marks(evidence, claims)),
        passages=tuple(_passages(item, evidence, claims)),
        claims=claims,
        key_points=claim_details(evidence, "key_points", "answer"),
        judgements=tuple(_judgements(evidence)),
        conflicts=conflicts,
        scores={name: score.value for name, score in scores.items() if score.value is not None},
        unscored={name: score.reason or "" for name, score in scores.items() if score.value is None},
        diagnosis=diagnosis,
    )


def claim_details(evidence: Sequence[Evidence], source: str, premises: str) -> tuple[ClaimDetail, ...]:
    """The claims of a text, each with the best support among the premises."""
    claims = _claims(evidence, source)
    matrix = _matrix(evidence, source, premises)
    found = []
    for number, claim in enumerate(claims):
        row = matrix.rows[number] if matrix is not None and number < len(matrix.rows) else ()
        reason = matrix.status_reason if matrix is not None else "not_checked"
        found.append(_claim(claim.text, row, reason=reason, numbered=premises == "passages"))
    return tuple(found)


def _matrix(evidence: Sequence[Evidence], source: str, premises: str) -> EntailmentEvidence | None:
    pieces = pieces_of(evidence, EntailmentEvidence)
    return next((p for p in pieces if p.hypotheses == source and p.premises == premises), None)


def _claims(evidence: Sequence[Evidence], source: str) -> Sequence[Claim]:
    return next((piece.claims for piece in pieces_of(evidence, ClaimsEvidence) if piece.source == source), ())


def _claim(text: str, row: Sequence[Support], *, reason: str | None, numbered: bool) -> ClaimDetail:
    read = [(cell.entailment, -place) for place, cell in enumerate(row) if cell.entailment is not None]
    if not read:
        why = next((cell.failure for cell in row if cell.failure), reason)
        return ClaimDetail(text=text, state="not_checked", reason=why or "no_premises")
    support, place = max(read)
    return ClaimDetail(text=text, state=_state(row, support), support=support, passage=1 - place if numbered else None)


def _state(row: Sequence[Support], support: float) -> ClaimState:
    """As the claim metrics count: support in one premise is enough, a contradiction counts only without any."""
    if support >= SUPPORTED:
        return "supported"
    return "contradicted" if any((cell.contradiction or 0.0) >= SUPPORTED for cell in row) else "unsupported"


def _answer_marks(evidence: Sequence[Evidence], details: Sequence[ClaimDetail]) -> Iterator[Mark]:
    for number, (claim, detail) in enumerate(zip(_claims(evidence, "answer"), details, strict=True), 1):
        if claim.start is not None and claim.end is not None:
            yield Mark(start=claim.start, end=claim.end, kind="claim", label=str(number), state=detail.state)


def _passages(item: Item, evidence: Sequence[Evidence], claims: Sequence[ClaimDetail]) -> Iterator[PassageDetail]:
    quotes = [p for p in pieces_of(evidence, ReasonEvidence) if p.quote and p.quote_verbatim]
    matrix = _matrix(evidence, "answer", "passages")
    judged = item.case.relevant_passages
    for number, passage in enumerate(item.response.passages, 1):
        marks = [
            Mark(start=at, end=at + len(piece.quote or ""), kind="quote", label=piece.dimension)
            for piece in quotes
            if (at := passage.text.find(piece.quote or "")) >= 0
        ]
        marks += _support_marks(passage.text, number, claims, matrix)
        yield PassageDetail(
            id=passage.id,
            title=passage.title,
            text=passage.text,
            grade=judged.get(passage.id, 0) if judged else None,
            cited=passage.id in item.response.citations,
            marks=tuple(marks),
        )


def _support_marks(
    text: str, number: int, claims: Sequence[ClaimDetail], matrix: EntailmentEvidence | None
) -> Iterator[Mark]:
    """For each claim that this passage supports best, the sentence nearest to it within the chunk that was read."""
    supported = [(i, c) for i, c in enumerate(claims) if c.state == "supported" and c.passage == number]
    if matrix is None or not supported or len(text) > _LONG:
        return
    sentences = [(s.start, s.end, _pairs(s.text)) for s in split_sentences(text)]
    for index, claim in supported:
        chunk = matrix.rows[index][number - 1].chunk or (0, len(text))
        wanted = _pairs(claim.text)
        inside = [s for s in sentences if s[0] < chunk[1] and s[1] > chunk[0]] or sentences
        if not inside:
            continue
        start, end, _ = max(inside, key=lambda s: (_overlap(wanted, s[2]), -s[0]))
        yield Mark(start=start, end=end, kind="support", label=str(index + 1))


def _pairs(text: str) -> set[str]:
    """Pairs of neighbouring characters: alike in Chinese and European languages, and cheap."""
    plain = text.lower()
    return {plain[i : i + 2] for i in range(len(plain) - 1)}


def _overlap(wanted: set[str], found: set[str]) -> float:
    """Share of the claim's pairs that the sentence has, less a little for a long sentence, in (-.1, 1]."""
    if not wanted or not found:
        return 0.0
    shared = len(wanted & found)
    return shared / len(wanted) + 0.1 * (shared / len(found) - 1)


def _judgements(evidence: Sequence[Evidence]) -> Iterator[Judgement]:
    reasons = {(p.dimension, p.judge, p.role): p for p in pieces_of(evidence, ReasonEvidence)}
    for piece in pieces_of(evidence, VerdictEvidence):
        verdict = piece.verdict
        why = reasons.get((piece.dimension, piece.judge, "examiner" if piece.role == "screen" else piece.role))
        is_told = why is not None and why.status is Status.SCORED
        yield Judgement(
            dimension=piece.dimension,
            judge=piece.judge,
            role=piece.role,
            decided_by=verdict.decided_by,
            label=verdict.label,
            grade=verdict.grade,
            probabilities=verdict.probabilities,
            margin=verdict.margin,
            status_reason=verdict.status_reason,
            reason=why.reason if why is not None and is_told else verdict.note,
            quote=(why.quote or None) if why is not None else None,
            quote_verbatim=why.quote_verbatim if why is not None else None,
        )
