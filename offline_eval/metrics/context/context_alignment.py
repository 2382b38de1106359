"""Are the retrieved passages about what was asked?

Definition: the largest cosine between the query's embedding and a passage's.
Range: -1 to 1; texts on one subject usually lie above 0.3, and the scale differs from embedder to embedder.
Needs: check `alignment`.
Undefined: no passage with text (`no_passages`), or a language the embedder was not made for.
Differs: ragas, DeepEval and RAGChecker have none.
Source: ours; cosine of sentence embeddings.
"""

from collections.abc import Sequence

from offline_eval.core.evidence import Evidence, SimilarityEvidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score
from offline_eval.metrics._score import NotScored, score_with, the_piece


class ContextAlignment:
    """The metric; the module's docstring is its card."""

    name = "context_alignment"
    low = -1.0
    high = 1.0
    higher_is_better = True
    needs: tuple[str, ...] = ("alignment",)

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """The best passage's cosine with the query."""
        return score_with(self.name, case, response, lambda: _value(evidence))


def _value(evidence: Sequence[Evidence]) -> float:
    piece = the_piece(evidence, SimilarityEvidence, to="passages")
    if not piece.similarities:
        raise NotScored(piece.none_because or "no_passages")
    return max(piece.similarities)


METRIC = ContextAlignment()
