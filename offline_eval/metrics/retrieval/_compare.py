"""Runs against each other on the same queries: paired differences, and how far retrievers agree on what to read."""

from collections.abc import Sequence

from offline_eval.core.errors import UsageError
from offline_eval.core.ranking import RetrievalRun
from offline_eval.core.records import Record
from offline_eval.core.results import Estimate, Score, Status
from offline_eval.metrics.retrieval._evaluate import RunEvaluation
from offline_eval.metrics.retrieval.consensus import Consensus, consensus
from offline_eval.stats.estimate import estimate
from offline_eval.stats.paired import Outcome, PairedComparison, compare_paired, holm, verdict


class RunComparison(Record):
    """A candidate against the baseline on one metric.

    Attributes:
        adjusted_p: p after Holm's correction over every comparison made together; None where p is undefined.
        verdict: By the interval and the adjusted p.
    """

    metric: str
    baseline: str
    candidate: str
    paired: PairedComparison
    adjusted_p: float | None
    verdict: Outcome


class Agreement(Record):
    """Consensus of several retrievers.

    Attributes:
        scores: One a query.
        low: Queries below the threshold, lowest first, then by id.
    """

    runs: tuple[str, ...]
    estimate: Estimate
    scores: tuple[Score, ...]
    low: tuple[str, ...]


def compare_runs(evaluations: Sequence[RunEvaluation], *, seed: int = 0) -> list[RunComparison]:
    """Compare every run with the first one, query by query.

    Args:
        evaluations: Of at least two runs with different names, on the same qrels, metrics and options.
        seed: Seed of resampling and sign flips.

    Returns:
        One comparison for each other run and metric, in their order; p is corrected over all of them (Holm).

    Raises:
        UsageError: Fewer than two runs, or two of one name.
    """
    names = [evaluation.run for evaluation in evaluations]
    if len(names) < 2:
        raise UsageError("comparing needs at least two retrievers or runs")
    if len(set(names)) < len(names):
        raise UsageError(f"runs of the same name cannot be told apart: {', '.join(names)}; rename one (NAME=FILE)")
    baseline = evaluations[0]
    found = [
        (metric, candidate.run, _paired(baseline.scores[metric], candidate.scores[metric], seed=seed))
        for candidate in evaluations[1:]
        for metric in baseline.scores
    ]
    adjusted = holm({f"{run}\n{metric}": paired.p for metric, run, paired in found if paired.p is not None})
    comparisons = []
    for metric, run, paired in found:
        p = adjusted.get(f"{run}\n{metric}")
        outcome = verdict(paired.difference.interval, adjusted_p=p)
        comparisons.append(
            RunComparison(
                metric=metric, baseline=baseline.run, candidate=run, paired=paired, adjusted_p=p, verdict=outcome
            )
        )
    return comparisons


def agreement_of(runs: Sequence[RetrievalRun], *, cutoff: int, low: float, seed: int = 0) -> Agreement:
    """Consensus of runs, query by query.

    Args:
        runs: At least two.
        cutoff: Ranks compared, from 1.
        low: Queries below this share are listed, in [0, 1].
        seed: Seed of the interval's resampling.

    Returns:
        The mean with its interval, every query's value and the queries on which the retrievers disagree most.

    Raises:
        UsageError: Fewer than two runs, or two of one name.
    """
    names = tuple(run.name for run in runs)
    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise UsageError(f"consensus needs two or more retrievers of different names, found {', '.join(names)}")
    metric = Consensus(cutoff)
    queries = dict.fromkeys(query_id for run in runs for query_id in run.scores)
    system = " ~ ".join(names)
    scores = []
    for query_id in queries:
        value = consensus({run.name: run.ranking(query_id) for run in runs}, cutoff)
        scores.append(
            Score(
                metric=metric.name,
                response_key=f"{system}/{query_id}",
                cluster=query_id,
                system=system,
                status=Status.NOT_APPLICABLE if value is None else Status.SCORED,
                value=value,
                reason="nothing_retrieved" if value is None else None,
            )
        )
    below = [(score.value, score.cluster) for score in scores if score.value is not None and score.value < low]
    return Agreement(
        runs=names,
        estimate=estimate(scores, low=metric.low, high=metric.high, seed=seed),
        scores=tuple(scores),
        low=tuple(query_id for _, query_id in sorted(below)),
    )


def _paired(baseline: Sequence[Score], candidate: Sequence[Score], *, seed: int) -> PairedComparison:
    other = {score.cluster: score.value for score in candidate}
    queries = dict.fromkeys([score.cluster for score in baseline] + list(other))
    first = {score.cluster: score.value for score in baseline}
    return compare_paired(
        [first.get(query_id) for query_id in queries],
        [other.get(query_id) for query_id in queries],
        seed=seed,
    )
