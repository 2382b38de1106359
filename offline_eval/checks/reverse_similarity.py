"""Compares the query with the questions a judge made from the answer alone, by embedding."""

from collections.abc import Mapping, Sequence

from offline_eval.checks._provenance import provenance
from offline_eval.checks.alignment import similarities
from offline_eval.core.evidence import Evidence, QuestionsEvidence, SimilarityEvidence
from offline_eval.core.protocols import Embedder, EngineKind, Item
from offline_eval.core.records import query_of
from offline_eval.core.results import Status


class ReverseSimilarityCheck:
    """The check."""

    name = "reverse_similarity"
    version = "1"
    needs: tuple[str, ...] = ("reverse_questions",)
    engine: EngineKind | None = "embedder"

    def run(
        self,
        items: Sequence[Item],
        *,
        evidence: Mapping[str, Sequence[Evidence]],
        engine: Embedder | None = None,
    ) -> list[Evidence]:
        """One piece for every response with `QuestionsEvidence`, whose status it takes over."""
        asked = [
            (item, piece)
            for item in items
            for piece in evidence.get(item.response.key, ())
            if isinstance(piece, QuestionsEvidence)
        ]
        outcomes = similarities([[query_of(i.case, i.response), *piece.questions] for i, piece in asked], engine)
        found: list[Evidence] = []
        for (item, piece), (status, reason, values) in zip(asked, outcomes, strict=True):
            if piece.status is not Status.SCORED:
                status, reason, values = piece.status, piece.status_reason, ()
            found.append(
                SimilarityEvidence(
                    response_key=item.response.key,
                    to="questions",
                    status=status,
                    status_reason=reason,
                    ids=tuple(str(number) for number, _ in enumerate(values, 1)),
                    similarities=values,
                    none_because=piece.none_because,
                    provenance=provenance(self.name, self.version, engine=engine),
                )
            )
        return found


CHECK = ReverseSimilarityCheck()
