"""Pass rates of a run whose judges have a passport: what the judge says, and the same put right with its error rates.

Why stored with the run: a passport that is made again later must not change what an old run says.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from offline_eval.core.evidence import Evidence, VerdictEvidence
from offline_eval.core.pieces import pieces_of
from offline_eval.core.protocols import Item
from offline_eval.core.results import Status
from offline_eval.core.summary import ErrorRates, PassRate
from offline_eval.stats.corrected import JudgedCounts, rogan_gladen
from offline_eval.stats.intervals import wilson
from offline_eval.stats.undefined import Undefined

STORED = "error_rates"
"""Where a run's stored configuration keeps them."""


def read_error_rates(stored: Mapping[str, Any]) -> tuple[ErrorRates, ...]:
    """The error rates a run was begun with; none where no judge had a passport."""
    return tuple(ErrorRates.model_validate(rates) for rates in stored.get(STORED, ()))


def pass_rates(
    items: Sequence[Item], evidence: Mapping[str, Sequence[Evidence]], rates: Sequence[ErrorRates]
) -> Iterator[PassRate]:
    """One line a system, judge and rubric that has a passport.

    A verdict that could not be had counts as not passed, so that a crash can never raise a rate.
    """
    by_judge = {(found.judge, found.rubric): found for found in rates}
    passed: Counter[tuple[str, str, str]] = Counter()
    failed: Counter[tuple[str, str, str]] = Counter()
    asked: Counter[tuple[str, str, str]] = Counter()
    for item in items:
        for piece in _judged(evidence.get(item.response.key, ())):
            if (piece.judge, piece.rubric) not in by_judge:
                continue
            key = (item.response.system, piece.judge, piece.rubric)
            asked[key] += 1
            failed[key] += piece.verdict.status is Status.FAILED
            passed[key] += (piece.verdict.grade or 0.0) >= by_judge[key[1:]].pass_from
    for key, n in asked.items():
        yield _rate(key, (passed[key], failed[key], n), by_judge[key[1:]])


def _judged(evidence: Sequence[Evidence]) -> Iterator[VerdictEvidence]:
    """Verdicts that examiners gave or owe; an arbiter is asked about disputes alone, which are not like the rest."""
    for piece in pieces_of(evidence, VerdictEvidence):
        is_asked = piece.role == "examiner" and piece.verdict.decided_by == "judge"
        if is_asked and piece.verdict.status is not Status.NOT_APPLICABLE:
            yield piece


def _rate(key: tuple[str, str, str], counted: tuple[int, int, int], rates: ErrorRates) -> PassRate:
    system, judge, rubric = key
    passed, failed, n = counted
    corrected = rogan_gladen(
        JudgedCounts(
            positive=passed,
            n=n,
            true_positive=rates.true_positive,
            n_positive=rates.n_positive,
            true_negative=rates.true_negative,
            n_negative=rates.n_negative,
        )
    )
    raw_interval = wilson(passed, n)
    line = PassRate(
        system=system,
        judge=judge,
        rubric=rubric,
        n=n,
        n_failed=failed,
        raw=passed / n,
        raw_interval=None if isinstance(raw_interval, Undefined) else raw_interval,
        value=None,
        interval=None,
        labels=rates.labels,
        n_labels=rates.n_positive + rates.n_negative,
    )
    if isinstance(corrected, Undefined):
        return line.model_copy(update={"reason": corrected.reason})
    found = {"value": corrected.value, "interval": corrected.interval, "reason": corrected.interval_reason}
    return line.model_copy(update=found)
