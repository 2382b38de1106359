"""Stored verdicts of one response → its grades, how far its judges agree, and whether a person should look."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean
from typing import Literal, NamedTuple

from offline_eval.core.evidence import Evidence, Verdict, VerdictEvidence
from offline_eval.core.pieces import pieces_of, read_once
from offline_eval.core.records import Record
from offline_eval.core.results import Status
from offline_eval.judge.panel import RoutingRules

_LEVELS_APART = 2.0


class PanelVerdict(Record):
    """What a panel says about one response; derived from stored verdicts, so no model is asked again.

    Attributes:
        grades: Dimension to grade, over the dimensions that were scored: the arbiter's where one was asked, else the
            mean over the dimension's judges.
        expected_grades: The same with expected grades, and the grade itself where a judge gave no probabilities.
        missing: Dimension to the reason why it has no grade. One failed verdict among those that count is enough: the
            mean of the others could be higher than with it.
        failed: Those of `missing` that failed; the others do not apply.
        review_reasons: Why a person should look; empty when `route` is `accept`.
    """

    response_key: str
    grades: dict[str, float]
    expected_grades: dict[str, float]
    missing: dict[str, str]
    failed: tuple[str, ...] = ()
    route: Literal["accept", "review"]
    review_reasons: tuple[str, ...] = ()


def verdicts_of(evidence: Sequence[Evidence]) -> list[VerdictEvidence]:
    """The verdicts among a response's evidence."""
    return list(pieces_of(evidence, VerdictEvidence))


class PanelGrades(NamedTuple):
    """The part of a panel verdict that metrics read; the fields are those of `PanelVerdict`."""

    grades: dict[str, float]
    expected_grades: dict[str, float]
    missing: dict[str, str]
    failed: tuple[str, ...]


def panel_grades(evidence: Sequence[Evidence]) -> PanelGrades:
    """Every dimension's grade, or why it has none.

    Args:
        evidence: All of the response's evidence.
    """
    return read_once(evidence, PanelGrades, lambda: _grades(_by_dimension(evidence)))


def panel_verdict(response_key: str, evidence: Sequence[Evidence], *, rules: RoutingRules) -> PanelVerdict:
    """Combine a response's verdicts.

    Args:
        evidence: All of the response's evidence.
        rules: What sends it to review.
    """
    by_dimension = _by_dimension(evidence)
    found = panel_grades(evidence)
    reasons = review_reasons(by_dimension, found.grades, rules=rules)
    return PanelVerdict(
        response_key=response_key,
        **found._asdict(),
        route="review" if reasons else "accept",
        review_reasons=tuple(reasons),
    )


def _grades(by_dimension: dict[str, list[VerdictEvidence]]) -> PanelGrades:
    grades: dict[str, float] = {}
    expected: dict[str, float] = {}
    missing: dict[str, str] = {}
    failed: list[str] = []
    for dimension, pieces in by_dimension.items():
        verdicts = [piece.verdict for piece in _counted(pieces)]
        failures = [verdict for verdict in verdicts if verdict.status is Status.FAILED]
        scored = [verdict for verdict in verdicts if verdict.grade is not None]
        if failures:
            failed.append(dimension)
        if failures or not scored:
            missing[dimension] = _why_missing(failures or verdicts)
            continue
        grades[dimension] = fmean([verdict.grade or 0.0 for verdict in scored])
        expected[dimension] = fmean([_expected(verdict) for verdict in scored])
    return PanelGrades(grades, expected, missing, tuple(failed))


def disputed_dimensions(evidence: Sequence[Evidence]) -> list[str]:
    """Dimensions whose judges have no majority or are two levels apart: what an arbiter is asked."""
    return [name for name, pieces in _by_dimension(evidence).items() if _is_tied(pieces) or _judges_apart(pieces)]


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


def _by_dimension(evidence: Sequence[Evidence]) -> dict[str, list[VerdictEvidence]]:
    found: dict[str, list[VerdictEvidence]] = defaultdict(list)
    for piece in pieces_of(evidence, VerdictEvidence):
        found[piece.dimension].append(piece)
    return found


def _counted(pieces: Sequence[VerdictEvidence]) -> list[VerdictEvidence]:
    """The arbiter's verdict where one was asked, else all judges', else the screen's."""
    arbiter = [piece for piece in pieces if piece.role == "arbiter"]
    examiners = [piece for piece in pieces if piece.role == "examiner"]
    return arbiter or examiners or list(pieces)


def _examiner_grades(pieces: Sequence[VerdictEvidence]) -> list[float]:
    return [p.verdict.grade for p in pieces if p.role == "examiner" and p.verdict.grade is not None]


def _judges_apart(pieces: Sequence[VerdictEvidence]) -> bool:
    grades = _examiner_grades(pieces)
    return bool(grades) and max(grades) - min(grades) >= _LEVELS_APART


def _is_tied(pieces: Sequence[VerdictEvidence]) -> bool:
    """Two or more judges, and no grade was given more often than every other."""
    votes = Counter(_examiner_grades(pieces)).most_common(2)
    return len(votes) == 2 and votes[0][1] == votes[1][1]


def _why_missing(verdicts: Sequence[Verdict]) -> str:
    return next((verdict.status_reason for verdict in verdicts if verdict.status_reason), "no verdict")


def _expected(verdict: Verdict) -> float:
    return verdict.expected_grade if verdict.expected_grade is not None else (verdict.grade or 0.0)
