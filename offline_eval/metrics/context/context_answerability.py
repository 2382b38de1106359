"""Do the retrieved passages hold an answer to the query?

Definition: the larger of the encoder's probability for all passages as one text and for the best single passage.
Range: 0 to 1, a probability. Higher is better for answerable cases; for unanswerable ones it should be low.
Needs: check `answerability`.
Undefined: a language the encoder was not made for. Without passages, or with empty ones, it is 0.
Differs: ragas, DeepEval and RAGChecker have none; it needs no reference.
Source: ours; answerability as in SQuAD 2.0 (Rajpurkar et al. 2018).
"""

from collections.abc import Sequence

from offline_eval.core.evidence import AnswerabilityEvidence, Evidence
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score
from offline_eval.metrics._score import NotScored, score_with, the_piece


class ContextAnswerability:
    """The metric; the module's docstring is its card."""

    name = "context_answerability"
    low = 0.0
    high = 1.0
    higher_is_better = True
    needs: tuple[str, ...] = ("answerability",)

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """The probability that this response's passages answer the query."""
        return score_with(self.name, case, response, lambda: _value(evidence))


def _value(evidence: Sequence[Evidence]) -> float:
    piece = the_piece(evidence, AnswerabilityEvidence)
    cells = [*piece.passages, *([piece.together] if piece.together else [])]
    failed = next((cell.failure for cell in cells if cell.failure), None)
    if failed is not None:
        raise NotScored(failed, failed=True)
    return max(cell.entailment or 0.0 for cell in cells)


METRIC = ContextAnswerability()
