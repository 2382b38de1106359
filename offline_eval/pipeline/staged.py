"""What staged evaluation saved and what it cost: the share that no judge was asked about, and how often one agreed."""

from collections import defaultdict
from collections.abc import Iterable

from offline_eval.checks.screen import DIMENSION
from offline_eval.core.evidence import VerdictEvidence
from offline_eval.core.results import Interval
from offline_eval.core.summary import ScreenCount
from offline_eval.stats.intervals import wilson


def screen_count(verdicts: Iterable[VerdictEvidence]) -> ScreenCount:
    """Count what the screen settled, and compare where a judge was asked all the same."""
    screened: dict[str, float | None] = {}
    judged: dict[str, list[float | None]] = defaultdict(list)
    for piece in verdicts:
        if piece.dimension == DIMENSION:
            if piece.role == "screen":
                screened[piece.response_key] = piece.verdict.grade
            elif piece.verdict.decided_by == "judge":
                judged[piece.response_key].append(piece.verdict.grade)
    control = [(screened[key], grade) for key in screened for grade in judged.get(key, []) if grade is not None]
    agreed = sum(first == second for first, second in control)
    interval = wilson(agreed, len(control)) if control else None
    return ScreenCount(
        dimension=DIMENSION,
        settled=len(screened),
        asked=len(screened.keys() | judged.keys()),
        calls_saved=sum(key not in judged for key in screened),
        control=len(control),
        agreed=agreed,
        interval=interval if isinstance(interval, Interval) else None,
    )
