"""Is the answer about what was asked, judged by the questions it would answer?

Definition: a judge writes three questions from the answer alone; the mean cosine of their embeddings with the
  query's, and 0 where that is negative.
Range: 0 to 1. Higher is better; the scale differs from embedder to embedder, so compare systems under one embedder
  only.
Needs: checks `reverse_questions` (a judge) and `reverse_similarity` (an embedder).
Undefined: a refusal of a case that is unanswerable, or of which nobody said. An answer without content and a refusal
  of an answerable question are 0 by rule.
Differs: ragas' answer relevancy (the same idea, range not stated), which sets answers that a model calls noncommittal
  to 0, right refusals included. The examiner's grade is `relevance_grade`.
Source: Es et al. 2023, ragas.
"""

from collections.abc import Sequence

from offline_eval.core.evidence import Evidence, SimilarityEvidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score
from offline_eval.metrics._score import NotScored, score_with, the_piece


class ReverseQuestionRelevance:
    """The metric; the module's docstring is its card."""

    name = "reverse_question_relevance"
    low = 0.0
    high = 1.0
    higher_is_better = True
    needs: tuple[str, ...] = ("reverse_questions", "reverse_similarity")

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """The mean cosine over this response's questions."""
        return score_with(self.name, case, response, lambda: _value(case, evidence))


def _value(case: Case, evidence: Sequence[Evidence]) -> float:
    piece = the_piece(evidence, SimilarityEvidence, to="questions")
    if piece.none_because == "refusal" and not case.answerable:
        raise NotScored("refusal")
    if not piece.similarities:
        return 0.0
    return min(1.0, max(0.0, sum(piece.similarities) / len(piece.similarities)))


METRIC = ReverseQuestionRelevance()
