"""Grades faithfulness from the claims' support where that is clear, so that only doubtful answers reach the judges.

An encoder reads a claim in milliseconds, a judge an answer in seconds; most answers need no second opinion.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from offline_eval.checks._provenance import provenance
from offline_eval.core.evidence import EntailmentEvidence, Evidence, Guarantee, Verdict, VerdictEvidence
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import EngineKind, Item
from offline_eval.core.results import Status
from offline_eval.judge.rubric import load_rubric
from offline_eval.judge.rules import decide
from offline_eval.text.language import detect_language

DIMENSION = "faithfulness"
CONTROL_SHARE = 0.1
"""Share of the settled answers that are judged all the same, to measure how often the judge would agree."""


class ScreenCheck:
    """The check.

    Args:
        low: Support up to which a claim is clearly unsupported, in [0, 1].
        high: Support from which a claim is clearly supported, in [0, 1].
    """

    name = "screen"
    version = "1"
    needs: tuple[str, ...] = ("entailment",)
    engine: EngineKind | None = None

    def __init__(self, low: float = 0.1, high: float = 0.9) -> None:
        self._low = low
        self._high = high

    def run(
        self, items: Sequence[Item], *, evidence: Mapping[str, Sequence[Evidence]], engine: Any = None
    ) -> list[Evidence]:
        """A verdict for every clear answer: the highest level if all claims are clearly supported, the lowest if none.

        Answers in between, those the encoder could not read and those a rule decides get none.
        """
        found = (self._one(item, evidence.get(item.response.key, ())) for item in items)
        return [piece for piece in found if piece is not None]

    def _one(self, item: Item, evidence: Sequence[Evidence]) -> VerdictEvidence | None:
        rubric = load_rubric(DIMENSION, item.case.language or detect_language(item.case.query))
        supports = _supports(evidence)
        if not supports or decide(item.case, item.response, rubric) is not None:
            return None
        level = rubric.lowest if max(supports) <= self._low else None
        if min(supports) >= self._high:
            level = max(rubric.levels, key=lambda entry: entry.grade or 0.0)
        if level is None:
            return None
        return VerdictEvidence(
            response_key=item.response.key,
            dimension=DIMENSION,
            rubric=rubric.id,
            judge=self.name,
            role="screen",
            guarantee=Guarantee.NONE,
            verdict=Verdict(
                status=Status.SCORED,
                decided_by="screen",
                label=level.label,
                grade=level.grade,
                note=f"support of the {len(supports)} claims is {min(supports):.3g} to {max(supports):.3g}",
            ),
            provenance=provenance(self.name, self.version, parameters=[self._low, self._high]),
        )


def is_control(response_key: str) -> bool:
    """Whether a settled answer is judged all the same; decided by its key, so that a resumed run decides alike."""
    return int(digest("screen control", response_key)[:8], 16) < CONTROL_SHARE * 16**8


def _supports(evidence: Sequence[Evidence]) -> list[float]:
    """Each claim's best support; empty when there are no claims or one could not be read."""
    matrix = next(
        (
            piece
            for piece in evidence
            if isinstance(piece, EntailmentEvidence) and (piece.hypotheses, piece.premises) == ("answer", "passages")
        ),
        None,
    )
    if matrix is None or matrix.status is not Status.SCORED or any(cell.failure for row in matrix.rows for cell in row):
        return []
    return [max((cell.entailment or 0.0 for cell in row), default=0.0) for row in matrix.rows]


CHECK = ScreenCheck()
