"""Reads the stored matrices of claims × premises as yes and no, for every metric that counts claims."""

from collections.abc import Callable, Sequence
from functools import cached_property

from offline_eval.core.evidence import EntailmentEvidence, Evidence
from offline_eval.core.pieces import read_once
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Score
from offline_eval.metrics._score import NotScored, score_with, the_piece

SUPPORTED = 0.5
"""Probability of entailment from which a claim counts as supported; stored probabilities allow any other."""

Rows = list[list[bool]]
"""Shape (n_claims, n_premises)."""


class Matrix:
    """One stored matrix.

    Attributes:
        supported: Whether each premise supports each claim, (n_claims, n_premises).
        contradicted: Whether some premise contradicts each claim and none supports it, (n_claims,).
        none_because: Why there are no claims.
    """

    def __init__(self, piece: EntailmentEvidence, threshold: float) -> None:
        cells = [[cell.entailment for cell in row] for row in piece.rows]
        failures = [cell.failure for row in piece.rows for cell in row if cell.failure]
        if failures:
            raise NotScored(failures[0], failed=True)
        self.supported: Rows = [[value is not None and value >= threshold for value in row] for row in cells]
        self.contradicted = [
            True not in flags and any((cell.contradiction or 0.0) >= SUPPORTED for cell in row)
            for flags, row in zip(self.supported, piece.rows, strict=True)
        ]
        self.none_because = piece.none_because or "no_claims"

    @cached_property
    def by_any(self) -> list[bool]:
        """Whether at least one premise supports each claim, (n_claims,)."""
        return [any(row) for row in self.supported]


def matrix_of(evidence: Sequence[Evidence], piece: EntailmentEvidence, *, threshold: float = SUPPORTED) -> Matrix:
    """A piece of this evidence as a matrix, shared by the metrics that read it; failed when it has a failed cell."""
    return read_once(evidence, (Matrix, id(piece), threshold), lambda: Matrix(piece, threshold))


def useful_passages(reference_in_passages: Matrix) -> list[bool]:
    """Whether each passage supports a claim of the reference, (n_passages,); not applicable without such claims."""
    if not reference_in_passages.supported:
        raise NotScored(reference_in_passages.none_because)
    return [any(column) for column in zip(*reference_in_passages.supported, strict=True)]


Formula = Callable[..., float]
"""Matrices in the order of a metric's `reads` to its value; raises `NotScored` where there is none."""


class ClaimMetric:
    """A formula over matrices.

    Args:
        name: Registered name.
        card: The metric's card.
        reads: Which matrices the formula takes: claims of, premises.
        formula: The arithmetic.
        higher_is_better: Which end of the range is the good one.
        threshold: Probability of entailment from which a claim counts as supported.
    """

    low = 0.0
    high = 1.0
    needs: tuple[str, ...] = ("claims", "key_points", "entailment")

    def __init__(
        self,
        name: str,
        card: str,
        *,
        reads: tuple[tuple[str, str], ...],
        formula: Formula,
        higher_is_better: bool = True,
        threshold: float = SUPPORTED,
    ) -> None:
        self.name = name
        self.higher_is_better = higher_is_better
        self.__doc__ = card
        self._reads = reads
        self._formula = formula
        self._threshold = threshold

    def score(self, case: Case, response: Response, evidence: Sequence[Evidence]) -> Score:
        """The formula's value over this response's matrices; failed when one is missing or has a failed cell."""
        return score_with(self.name, case, response, lambda: self._compute(evidence))

    def at(self, threshold: float) -> "ClaimMetric":
        """The same metric with another threshold, in (0, 1]."""
        return ClaimMetric(
            self.name,
            self.__doc__ or "",
            reads=self._reads,
            formula=self._formula,
            higher_is_better=self.higher_is_better,
            threshold=threshold,
        )

    def _compute(self, evidence: Sequence[Evidence]) -> float:
        pieces = [
            the_piece(evidence, EntailmentEvidence, hypotheses=claims, premises=premises)
            for claims, premises in self._reads
        ]
        return self._formula(*[matrix_of(evidence, piece, threshold=self._threshold) for piece in pieces])
