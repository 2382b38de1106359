"""One matrix of claims × premises for every question the claim metrics ask, made once by a local NLI encoder.

Answer claims × passages say what is grounded, reference claims × passages what retrieval brought, answer claims ×
reference what is right, reference claims × answer what was said; key points are read like the reference's claims.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from offline_eval.checks._provenance import provenance
from offline_eval.checks._support import Pair, support_of, unspoken_language
from offline_eval.checks.claims import states_nothing
from offline_eval.core.evidence import ClaimsEvidence, EntailmentEvidence, Evidence, Support
from offline_eval.core.protocols import EngineKind, Item, PairScorer
from offline_eval.core.results import Status

Hypotheses = Literal["answer", "reference", "key_points"]
Premises = Literal["passages", "reference", "answer"]

MATRICES: tuple[tuple[Hypotheses, Premises], ...] = (
    ("answer", "passages"),
    ("reference", "passages"),
    ("answer", "reference"),
    ("reference", "answer"),
    ("key_points", "answer"),
    ("key_points", "passages"),
)


class _Grid(NamedTuple):
    """A matrix before its cells are known."""

    claims: ClaimsEvidence
    premises: Premises
    texts: tuple[tuple[str, str], ...]  # id and text of each premise
    status: Status
    reason: str | None

    @property
    def pairs(self) -> list[Pair]:
        """Premise and hypothesis of each cell, row by row."""
        if self.status is not Status.SCORED:
            return []
        return [(text, claim.text) for claim in self.claims.claims for _, text in self.texts]


class EntailmentCheck:
    """The check."""

    name = "entailment"
    version = "1"
    needs: tuple[str, ...] = ("claims", "key_points")
    engine: EngineKind | None = "nli"

    def run(
        self,
        items: Sequence[Item],
        *,
        evidence: Mapping[str, Sequence[Evidence]],
        engine: PairScorer | None = None,
    ) -> list[Evidence]:
        """Every matrix of every response whose claims are known.

        Empty passages support nothing, the same words support each other, the same statement with another number or
        date is a contradiction, a refusal says nothing: rules decide those.
        What is left and not in a language of the model makes its matrix `not_applicable (language: …)`.
        """
        grids = [grid for item in items for grid in _grids(item, evidence.get(item.response.key, ()))]
        grids = [_spoken(grid, engine) for grid in grids]
        cells = support_of((pair for grid in grids for pair in grid.pairs), engine)
        return [self._evidence(grid, cells, engine) for grid in grids]

    def _evidence(self, grid: _Grid, cells: Mapping[Pair, Support], engine: PairScorer | None) -> EntailmentEvidence:
        is_scored = grid.status is Status.SCORED
        rows = tuple(
            tuple(cells[text, claim.text] for _, text in grid.texts) for claim in grid.claims.claims if is_scored
        )
        by_model = any(cell.decided_by == "model" for row in rows for cell in row)
        return EntailmentEvidence(
            response_key=grid.claims.response_key,
            hypotheses=grid.claims.source,
            premises=grid.premises,
            premise_ids=tuple(id_ for id_, _ in grid.texts),
            status=grid.status,
            status_reason=grid.reason,
            rows=rows,
            none_because=grid.claims.none_because,
            provenance=provenance(self.name, self.version, engine=engine if by_model else None),
        )


def pairs_of(item: Item, evidence: Sequence[Evidence]) -> list[Pair]:
    """Premise and hypothesis of every cell of a response's matrices, also of those that rules will decide.

    Args:
        evidence: The claims of its texts.
    """
    return [pair for grid in _grids(item, evidence) for pair in grid.pairs]


def _grids(item: Item, evidence: Sequence[Evidence]) -> Iterator[_Grid]:
    claims = {piece.source: piece for piece in evidence if isinstance(piece, ClaimsEvidence)}
    reference = claims.get("reference")
    for hypotheses, premises in MATRICES:
        if hypotheses not in claims:
            continue
        known = claims[hypotheses]
        status, reason = known.status, known.status_reason
        if premises == "reference" and reference is not None and status is Status.SCORED:
            status, reason = reference.status, reference.status_reason
        yield _Grid(known, premises, _texts(item, premises), status, reason)


def _texts(item: Item, premises: Premises) -> tuple[tuple[str, str], ...]:
    if premises == "passages":
        return tuple((passage.id, passage.text) for passage in item.response.passages)
    if premises == "reference":
        return (("reference", item.case.reference or ""),)
    answer = item.response.answer
    return (("answer", "" if states_nothing(answer) else answer),)


def _spoken(grid: _Grid, engine: PairScorer | None) -> _Grid:
    language = unspoken_language(grid.pairs, engine)
    if language is None:
        return grid
    return grid._replace(status=Status.NOT_APPLICABLE, reason=f"language: {language}")


CHECK = EntailmentCheck()
