"""Stored verdicts of one response → its grades, how far its judges agree, and whether a person should look."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

from offline_eval.core.evidence import Evidence, VerdictEvidence
from offline_eval.core.records import Record
from offline_eval.core.results import Status
from offline_eval.judge.panel import RoutingRules

_LEVELS_APART = 2.0


class PanelVerdict(Record):
    """What a panel says about one response; derived from stored verdicts, so no model is asked again.

    Attributes:
        grades: Dimension to grade, over the dimensions that were scored: the arbiter's where one was asked, else the
            mean over the dimension's judges.
        expected_grades: The same with expected grades, where every judge gave probabilities.
        missing: Dimension to the reason why it has no grade.
        review_reasons: Why a person should look; empty when `route` is `accept`.
    """

    response_key: str
    grades: dict[str, float]
    expected_grades: dict[str, float]
    missing: dict[str, str]
    route: Literal["accept", "review"]
    review_reasons: tuple[str, ...] = ()


def verdicts_of(evidence: Sequence[Evidence]) -> list[VerdictEvidence]:
    """The verdicts among a response's evidence."""
    return [piece for piece in evidence if isinstance(piece, VerdictEvidence)]


def panel_verdict(response_key: str, evidence: Sequence[Evidence], *, rules: RoutingRules) -> PanelVerdict:
    """Combine a response's verdicts.

    Args:
        evidence: All of the response's evidence.
        rules: What sends it to review.
    """
    by_dimension: dict[str, list[VerdictEvidence]] = defaultdict(list)
    for piece in verdicts_of(evidence):
        by_dimension[piece.dimension].append(piece)
    grades: dict[str, float] = {}
    expected: dict[str, float] = {}
    missing: dict[str, str] = {}
    for dimension, pieces in by_dimension.items():
        counted = _counted(pieces)
        scored = [piece.verdict for piece in counted if piece.verdict.grade is not None]
        if not scored:
            missing[dimension] = _why_missing(counted)
            continue
        grades[dimension] = sum(verdict.grade or 0.0 for verdict in scored) / len(scored)
        means = [_expected(verdict.expected_grade, verdict.grade) for verdict in scored]
        expected[dimension] = sum(means) / len(means)
    reasons = review_reasons(by_dimension, grades, rules=rules)
    return PanelVerdict(
        response_key=response_key,
        grades=grades,
        expected_grades=expected,
        missing=missing,
        route="review" if reasons else "accept",
        review_reasons=tuple(reasons),
    )


def disputed_dimensions(evidence: Sequence[Evidence]) -> list[str]:
    """Dimensions whose judges have no majority or are two levels apart: what an arbiter is asked."""
    by_dimension: dict[str, list[VerdictEvidence]] = defaultdict(list)
    for piece in verdicts_of(evidence):
        by_dimension[piece.dimension].append(piece)
    return [name for name, pieces in by_dimension.items() if _is_tied(pieces) or _judges_apart(pieces)]


def review_reasons(
    by_dimension: dict[str, list[VerdictEvidence]], grades: dict[str, float], *, rules: RoutingRules
) -> list[str]:
    """Every rule that applies, as `rule: what it saw`."""
    reasons: list[str] = []
    if rules.examiners_apart:
        reasons += [
            f"examiners_apart: {first} {grades[first]:g}, {second} {grades[second]:g}"
            for first, second in combinations(sorted(grades), 2)
            if abs(grades[first] - grades[second]) >= _LEVELS_APART
        ]
    for dimension, pieces in sorted(by_dimension.items()):
        if rules.judges_apart and _judges_apart(pieces):
            reasons.append(f"judges_apart: {dimension}")
        if rules.tie and _is_tied(pieces):
            reasons.append(f"tie: {dimension}")
        if any(
            piece.verdict.margin is not None and piece.verdict.margin < rules.low_margin for piece in _counted(pieces)
        ):
            reasons.append(f"low_margin: {dimension}")
        if rules.failed and any(piece.verdict.status is Status.FAILED for piece in pieces):
            reasons.append(f"failed: {dimension}")
    return reasons


def _counted(pieces: Sequence[VerdictEvidence]) -> list[VerdictEvidence]:
    """The arbiter's verdict where one was given, else all judges'."""
    arbiter = [piece for piece in pieces if piece.role == "arbiter" and piece.verdict.status is Status.SCORED]
    return arbiter or [piece for piece in pieces if piece.role == "examiner"]


def _examiner_grades(pieces: Sequence[VerdictEvidence]) -> list[float]:
    return [p.verdict.grade for p in pieces if p.role == "examiner" and p.verdict.grade is not None]


def _judges_apart(pieces: Sequence[VerdictEvidence]) -> bool:
    grades = _examiner_grades(pieces)
    return bool(grades) and max(grades) - min(grades) >= _LEVELS_APART


def _is_tied(pieces: Sequence[VerdictEvidence]) -> bool:
    """Two or more judges, and no grade was given more often than every other."""
    votes = Counter(_examiner_grades(pieces)).most_common(2)
    return len(votes) == 2 and votes[0][1] == votes[1][1]


def _why_missing(pieces: Sequence[VerdictEvidence]) -> str:
    reasons = [piece.verdict.status_reason for piece in pieces if piece.verdict.status_reason]
    return reasons[0] if reasons else "no verdict"


def _expected(expected: float | None, grade: float | None) -> float:
    return expected if expected is not None else (grade or 0.0)
