"""Which judge is better: the same rows, paired, and corrected for how many pairs were looked at."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from offline_eval.benchmark.agreement_table import with_failures
from offline_eval.benchmark.baselines import RANDOM
from offline_eval.benchmark.labels import JudgedRow, LabelRow, LabelSet
from offline_eval.benchmark.table_records import JudgeLine, JudgePair
from offline_eval.core.results import Status
from offline_eval.stats.intervals import RESAMPLES
from offline_eval.stats.paired import compare_paired, holm, verdict


def judge_pairs(
    label_set: LabelSet,
    answers: Mapping[str, Sequence[JudgedRow]],
    lines: Sequence[JudgeLine],
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> list[JudgePair]:
    """Compare every two judges, and each judge with the best baseline.

    Args:
        answers: Judge to its answers, one a row.
        lines: Of these judges, best first; say which are baselines.

    Returns:
        In the order of the lines; the better-placed judge is the second of its pair.
    """
    names = [line.judge for line in lines if line.role != "baseline" and line.n_scored]
    if not names:
        return []
    baseline = best_baseline(lines)
    placed = {line.judge: place for place, line in enumerate(lines)}
    wanted = list(combinations([*names, *([baseline.judge] if baseline else [])], 2))
    worth = {name: _worth(label_set, found) for name, found in answers.items()}
    clusters = [row.cluster_name for row in label_set.rows]
    found = {}
    for one, other in wanted:
        first, second = sorted((one, other), key=lambda name: -placed[name])
        found[first, second] = compare_paired(
            worth[first], worth[second], clusters=clusters, seed=seed, resamples=resamples
        )
    key = {pair: f"{number:06d}" for number, pair in enumerate(found)}
    adjusted = holm({key[pair]: result.p for pair, result in found.items() if result.p is not None})
    return [
        JudgePair(
            first=pair[0],
            second=pair[1],
            difference=result.difference,
            wins=result.wins,
            ties=result.ties,
            losses=result.losses,
            p=result.p,
            adjusted_p=adjusted.get(key[pair]),
            p_method=result.p_method,
            verdict=verdict(result.difference.interval, adjusted_p=adjusted.get(key[pair])),
        )
        for pair, result in found.items()
    ]


def best_baseline(lines: Sequence[JudgeLine]) -> JudgeLine | None:
    """The best-placed baseline that is not luck: on few rows a random draw may well come first.

    Args:
        lines: Best first.
    """
    known = (line for line in lines if line.role == "baseline" and line.judge != RANDOM and line.n_scored)
    return next(known, None)


def closeness(label_set: LabelSet, row: LabelRow, answer: JudgedRow) -> float | None:
    """How right an answer is: 1 or 0; on an ordinal scale 1 less the distance as a share of the scale.

    None where people do not settle the row or it does not apply. A failed row counts as the level farthest from the
    people's, as in the table.
    """
    if row.human is None or answer.status is Status.NOT_APPLICABLE:
        return None
    decision = with_failures(label_set, row, answer)
    if label_set.kind != "ordinal":
        return float(decision == row.human)
    return 1.0 - abs(decision - row.human) / (label_set.levels[-1] - label_set.levels[0])


def _worth(label_set: LabelSet, answers: Sequence[JudgedRow]) -> list[float | None]:
    return [closeness(label_set, row, answer) for row, answer in zip(label_set.rows, answers, strict=True)]
