"""Compares the query with each passage by embedding: retrieval that is off topic shows before anything is generated."""

from collections.abc import Mapping, Sequence

from offline_eval.checks._provenance import provenance
from offline_eval.checks._support import unspoken
from offline_eval.core.evidence import Evidence, SimilarityEvidence
from offline_eval.core.protocols import Embedder, EngineKind, Failure, Item
from offline_eval.core.records import query_of
from offline_eval.core.results import Status

_DIGITS = 6  # as for probabilities


class AlignmentCheck:
    """The check."""

    name = "alignment"
    version = "1"
    needs: tuple[str, ...] = ()
    engine: EngineKind | None = "embedder"

    def run(
        self,
        items: Sequence[Item],
        *,
        evidence: Mapping[str, Sequence[Evidence]],
        engine: Embedder | None = None,
    ) -> list[Evidence]:
        """One piece for every response that has an answer; passages without text are left out."""
        kept = [item for item in items if item.response.error is None]
        passages = [[p for p in item.response.passages if any(map(str.isalnum, p.text))] for item in kept]
        queries = [query_of(item.case, item.response) for item in kept]
        groups = [[query, *(p.text for p in shown)] for query, shown in zip(queries, passages, strict=True)]
        outcomes = similarities(groups, engine)
        return [
            SimilarityEvidence(
                response_key=item.response.key,
                to="passages",
                status=status,
                status_reason=reason,
                ids=tuple(p.id for p in shown) if status is Status.SCORED else (),
                similarities=values,
                none_because=None if shown else "no_passages",
                provenance=provenance(self.name, self.version, engine=engine),
            )
            for item, shown, (status, reason, values) in zip(kept, passages, outcomes, strict=True)
        ]


Outcome = tuple[Status, str | None, tuple[float, ...]]
"""Status, its reason, and a cosine for every text but the first."""


def similarities(groups: Sequence[Sequence[str]], engine: Embedder | None) -> list[Outcome]:
    """Cosine of each group's first text with its others; all texts are embedded in one go.

    Returns:
        One outcome a group: a language that the model was not made for makes it not applicable, no model failed.
    """
    reasons = [_reason(group, engine) for group in groups]
    asked = [group for group, reason in zip(groups, reasons, strict=True) if reason is None and len(group) > 1]
    texts = sorted({text for group in asked for text in group})
    vectors = dict(zip(texts, engine.embed(texts), strict=True)) if texts and engine is not None else {}
    outcomes: list[Outcome] = []
    for group, reason in zip(groups, reasons, strict=True):
        if isinstance(reason, Failure):
            outcomes.append((Status.FAILED, f"{reason.reason}: {reason.detail}", ()))
        elif reason is not None:
            outcomes.append((Status.NOT_APPLICABLE, f"language: {reason}", ()))
        else:
            cosines = [float(vectors[group[0]] @ vectors[text]) for text in group[1:]]
            outcomes.append((Status.SCORED, None, tuple(round(min(1.0, max(-1.0, c)), _DIGITS) for c in cosines)))
    return outcomes


def _reason(group: Sequence[str], engine: Embedder | None) -> str | Failure | None:
    if len(group) < 2:
        return None
    if engine is None:
        return Failure(reason="no_engine", detail="no embedder was loaded")
    return unspoken(group, engine)


CHECK = AlignmentCheck()
