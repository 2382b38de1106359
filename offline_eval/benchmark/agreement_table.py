"""Judges' answers beside the people's labels → one line of coefficients a judge, each with its interval.

Why a failed row is counted at the wrong end: leaving it out would let a judge that fails on hard rows look better.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from offline_eval.benchmark.labels import JudgedRow, Kind, LabelRow, LabelSet
from offline_eval.benchmark.table_records import Cost, JudgeLine, Role
from offline_eval.core.errors import DataError
from offline_eval.core.results import Status
from offline_eval.stats import agreement
from offline_eval.stats.alpha import Level, krippendorff_alpha
from offline_eval.stats.arrays import Floats
from offline_eval.stats.association import COEFFICIENTS
from offline_eval.stats.intervals import RESAMPLES, mean_interval
from offline_eval.stats.measured import Measured, measure, measured
from offline_eval.stats.raters import leave_one_out_ceiling
from offline_eval.stats.separation import auroc
from offline_eval.stats.undefined import Undefined

Coefficient = Callable[..., float | Undefined]

AGREEMENT = "agreement"
FALSE_SUPPORT = "false_support"
FALSE_SUPPORT_LIMIT = 0.2
_ALPHA_LEVELS: Mapping[Kind, Level] = {"binary": "nominal", "pairwise": "ordinal", "ordinal": "ordinal"}
_COLLAPSE = 0.95
_SHOWN_ROWS = 50


def coefficients(kind: Kind) -> dict[str, Coefficient]:
    """Measures of decisions, called with the judge's and the people's levels.

    F1 is of the label 1 for binary rows and the mean over all classes otherwise; weights of kappa are quadratic.
    """
    f1 = partial(agreement.f1, positive=1.0) if kind == "binary" else agreement.macro_f1
    found: dict[str, Coefficient] = {
        AGREEMENT: agreement.accuracy,
        "balanced_accuracy": agreement.balanced_accuracy,
        "f1": f1,
        "kappa": agreement.cohen_kappa,
    }
    if kind != "binary":  # with two levels it is the same
        found["weighted_kappa"] = partial(agreement.weighted_kappa, weights="quadratic")
    found["alpha"] = partial(_alpha, level=_ALPHA_LEVELS[kind])
    return found


def ranked_by(kind: Kind) -> str:
    """The measure a table is ordered by: corrected for chance, so that a constant judge is at 0."""
    return "weighted_kappa" if kind == "ordinal" else "kappa"


def judge_line(
    label_set: LabelSet,
    judge: str,
    answers: Sequence[JudgedRow],
    *,
    role: Role = "judge",
    cost: Cost | None = None,
    seed: int,
    resamples: int = RESAMPLES,
) -> JudgeLine:
    """Measure one judge.

    Args:
        label_set: The people's labels.
        judge: Name in the table.
        answers: One a row of the set, in its order.
        cost: What asking took; counted from the answers when None.
        seed: Of all intervals.
        resamples: Of all intervals.

    Raises:
        DataError: Answers that do not belong to the rows.
    """
    check_answers(label_set, answers)
    answered = list(zip(label_set.rows, answers, strict=True))
    applying = [(row, answer) for row, answer in answered if answer.status is not Status.NOT_APPLICABLE]
    settled = [(row, answer) for row, answer in applying if row.human is not None]
    all_settled = [answer for row, answer in answered if row.human is not None]
    decided = [answer for _, answer in settled if answer.decision is not None]
    failed = [answer for _, answer in settled if answer.status is Status.FAILED]
    unscored = [a for a in all_settled if a.status is not Status.SCORED]
    decisions = Counter(level_name(label_set, answer.decision) for answer in decided if answer.decision is not None)
    draw = {"seed": seed, "resamples": resamples}
    measures = {**_of_decisions(label_set, settled, **draw), **_of_scores(label_set, applying, **draw)}
    return JudgeLine(
        judge=judge,
        role=role,
        measures=measures if decided else {},
        n=len(settled),
        n_scored=len(decided),
        n_failed=len(failed),
        n_not_applicable=len(all_settled) - len(settled),
        reasons=dict(Counter(_short(answer.status_reason) for answer in unscored).most_common()),
        failed_rows=tuple(answer.row_id for answer in failed[:_SHOWN_ROWS]),
        decisions=dict(sorted(decisions.items())),
        cost=cost or cost_of(answers),
        warnings=_warnings(measures, decisions, role),
    )


def cost_of(answers: Sequence[JudgedRow], *, verdicts: int = 0, seconds: float | None = None) -> Cost:
    """What a judge's answers took.

    Args:
        verdicts: Those that a model gave.
        seconds: For all of them.
    """
    return Cost(
        prompt_tokens=sum(answer.prompt_tokens for answer in answers),
        output_tokens=sum(answer.output_tokens for answer in answers),
        verdicts=verdicts,
        seconds=seconds,
    )


def check_answers(label_set: LabelSet, answers: Sequence[JudgedRow]) -> None:
    """Refuse answers of other rows.

    Raises:
        DataError: Not one answer a row, in the rows' order.
    """
    wanted, found = [row.id for row in label_set.rows], [answer.row_id for answer in answers]
    if wanted != found:
        raise DataError(f"{label_set.name}: {len(found)} answers do not belong to its {len(wanted)} rows, in order")


def with_failures(label_set: LabelSet, row: LabelRow, answer: JudgedRow) -> float:
    """The decision; of a failed row the level farthest from the people's."""
    if answer.decision is not None:
        return answer.decision
    return farthest(label_set, row.human if row.human is not None else row.human_mean)


def farthest(label_set: LabelSet, code: float) -> float:
    """The level farthest from a code, the lower of two equally far."""
    return max(label_set.levels, key=lambda level: (abs(level - code), -level))


def level_name(label_set: LabelSet, level: float) -> str:
    """A level as people write it."""
    if label_set.kind == "pairwise":
        return {1.0: "A", 0.0: "tie", -1.0: "B"}[level]
    return f"{level:g}"


def ceiling(label_set: LabelSet, *, seed: int, resamples: int) -> dict[str, Measured] | Undefined:
    """How well people agree among themselves, by the judge's own measures.

    Each rater is compared with the majority of the others and the mean is taken; alpha is over all raters at once. For
    two raters that is one compared with the other.

    Returns:
        Measure to value and interval; Undefined when no row has two raters.
    """
    classes = ratings(label_set, [row.classes for row in label_set.rows])
    if not (np.sum(~np.isnan(classes), axis=1) >= 2).any():
        return Undefined(reason="no row was labelled by two people")
    codes = ratings(label_set, [row.codes for row in label_set.rows])
    clusters = [row.cluster_name for row in label_set.rows]
    statistics: dict[str, tuple[Coefficient, Floats]] = {
        name: (partial(leave_one_out_ceiling, coefficient=found), classes)
        for name, found in coefficients(label_set.kind).items()
        if name != "alpha"
    }
    statistics["alpha"] = (partial(krippendorff_alpha, level=_ALPHA_LEVELS[label_set.kind]), classes)
    correlations: Mapping[str, Coefficient] = COEFFICIENTS
    for name, correlation in correlations.items():
        statistics[name] = (partial(leave_one_out_ceiling, coefficient=correlation), codes)
    return {
        name: measure(statistic, [table], clusters=clusters, seed=seed, resamples=resamples)
        for name, (statistic, table) in statistics.items()
    }


def ratings(label_set: LabelSet, items: Sequence[Mapping[str, float]]) -> Floats:
    """Codes as a table, shape (n_rows, n_raters), NaN where a rater gave no label."""
    table = np.full((len(items), len(label_set.raters)), np.nan)
    place = {rater: at for at, rater in enumerate(label_set.raters)}
    for at, item in enumerate(items):
        for rater, code in item.items():
            table[at, place[rater]] = code
    return table


Settled = Sequence[tuple[LabelRow, JudgedRow]]


def _of_decisions(label_set: LabelSet, settled: Settled, *, seed: int, resamples: int) -> dict[str, Measured]:
    human = np.array([row.human for row, _ in settled], dtype=np.float64)
    decided = np.array([with_failures(label_set, row, answer) for row, answer in settled], dtype=np.float64)
    clusters = [row.cluster_name for row, _ in settled]
    draw: dict[str, Any] = {"clusters": clusters, "seed": seed, "resamples": resamples}
    found = {
        name: _share(decided == human, draw) if name == AGREEMENT else measure(statistic, [decided, human], **draw)
        for name, statistic in coefficients(label_set.kind).items()
    }
    if label_set.kind == "binary":
        negative = human == 0.0
        kept = [cluster for cluster, is_negative in zip(clusters, negative, strict=True) if is_negative]
        found[FALSE_SUPPORT] = _share(decided[negative] == 1.0, {**draw, "clusters": kept})
    return found


def _share(hits: Any, draw: dict[str, Any]) -> Measured:
    """A share of rows; at the ends of its range resampling cannot show the spread, and Wilson's interval serves."""
    values = hits.astype(np.float64)
    if not values.size:
        return measured(Undefined(reason="there are no items"), Undefined(reason="there are no items"), n=0)
    interval = mean_interval(values, low=0.0, high=1.0, **draw)
    return measured(float(values.mean()), interval, n=values.size)


def _of_scores(label_set: LabelSet, applying: Settled, *, seed: int, resamples: int) -> dict[str, Measured]:
    """Correlations of the judge's scores (of decisions, unless every scored row has one) with the people's mean."""
    scored = [answer for _, answer in applying if answer.status is Status.SCORED]
    continuous = all(answer.score is not None for answer in scored)
    mean = np.array([row.human_mean for row, _ in applying], dtype=np.float64)
    given = np.array(
        [
            farthest(label_set, row.human_mean)
            if answer.status is not Status.SCORED
            else (answer.score if continuous else answer.decision)
            for row, answer in applying
        ],
        dtype=np.float64,
    )
    clusters = [row.cluster_name for row, _ in applying]
    draw: dict[str, Any] = {"clusters": clusters, "seed": seed, "resamples": resamples}
    found = {name: measure(statistic, [given, mean], **draw) for name, statistic in COEFFICIENTS.items()}
    if label_set.kind == "binary":
        settled = np.array([row.human is not None for row, _ in applying], dtype=bool)
        human = np.array([row.human for row, _ in applying if row.human is not None], dtype=np.float64)
        draw["clusters"] = [cluster for cluster, is_in in zip(clusters, settled, strict=True) if is_in]
        found["auroc"] = measure(auroc, [given[settled], human], **draw)
    return found


def _alpha(decided: Floats, human: Floats, *, level: Level) -> float | Undefined:
    return krippendorff_alpha(np.column_stack([decided, human]), level=level)


def _short(reason: str | None) -> str:
    """A reason without the details of one row."""
    return (reason or "unknown").split(": ", 1)[0] if reason and not reason.startswith("language") else str(reason)


def _warnings(measures: Mapping[str, Measured], decisions: Mapping[str, int], role: Role) -> tuple[str, ...]:
    if role == "baseline":
        return ()
    found = []
    rate = measures.get(FALSE_SUPPORT)
    if rate is not None and rate.value is not None and rate.value > FALSE_SUPPORT_LIMIT:
        found.append(
            f"calls {rate.value:.0%} of what people call unsupported or wrong supported; above "
            f"{FALSE_SUPPORT_LIMIT:.0%} a judge is not fit for use"
        )
    total = sum(decisions.values())
    level, most = max(decisions.items(), key=lambda item: item[1], default=("", 0))
    if total and most / total >= _COLLAPSE:
        found.append(f"decided {level} on {most} of {total} rows: it does not tell them apart")
    return tuple(found)
