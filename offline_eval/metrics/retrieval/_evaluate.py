"""Whole retrieval runs against qrels: a score per query and metric; what is missing, ignored or failed is listed.

Where trec_eval decides differently, the difference is an option, so that either number can be had and named.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.ranking import TIE_RULE, Qrels, RetrievalRun, ranked
from offline_eval.core.records import Record
from offline_eval.core.registry import Registry
from offline_eval.core.results import Estimate, Score, Status
from offline_eval.metrics.retrieval._measure import RankingMetric, count_relevant, split_name
from offline_eval.metrics.retrieval.consensus import Consensus
from offline_eval.stats.estimate import estimate

NO_RELEVANT = "no_relevant_ids"
_PACKAGE = "offline_eval.metrics.retrieval"


class EvalOptions(Record):
    """The three decisions on which tools differ.

    Attributes:
        ties: `id_ascending` (ours: score descending, then id ascending) or `trec_eval` (scores rounded to 32 bits, then
            id descending).
        missing: A judged query the run lacks: `zero` (ours; it is also listed) or `skip` (trec_eval without `-c`).
        no_relevant: A query without any relevant id: `not_applicable` (ours) or `zero` (trec_eval).
    """

    ties: Literal["id_ascending", "trec_eval"] = "id_ascending"
    missing: Literal["zero", "skip"] = "zero"
    no_relevant: Literal["not_applicable", "zero"] = "not_applicable"

    @property
    def tie_rule(self) -> str:
        """The tie rule in words."""
        return TIE_RULE if self.ties == "id_ascending" else "score (32 bits) descending, then id descending"


TREC_EVAL = EvalOptions(ties="trec_eval", missing="skip", no_relevant="zero")


class FailedQuery(Record):
    """A query for which nothing relevant came back within the cutoff.

    Attributes:
        wanted: Relevant ids, best grade first, then by id.
        retrieved: What came instead, best first; empty when nothing did.
        missing: Whether the run lacks the query altogether.
    """

    query_id: str
    wanted: tuple[str, ...]
    retrieved: tuple[str, ...]
    missing: bool


class RunEvaluation(Record):
    """One run against one set of qrels.

    Attributes:
        cutoff: Ranks within which a query counts as failed.
        scores: For each metric, one score a query, queries in the order of the qrels.
        estimates: One a metric, in the order asked for.
        missing: Judged queries the run lacks.
        ignored: Queries of the run that nobody judged; they move no number.
        without_relevant: Judged queries with no relevant id.
    """

    run: str
    options: EvalOptions
    cutoff: int = Field(ge=1)
    scores: dict[str, tuple[Score, ...]]
    estimates: tuple[Estimate, ...]
    missing: tuple[str, ...]
    ignored: tuple[str, ...]
    without_relevant: tuple[str, ...]
    failed: tuple[FailedQuery, ...]


def named_metric(name: str) -> RankingMetric | Consensus:
    """The metric of a name such as `ndcg@10`; its `name` is the same text again.

    Raises:
        UnknownNameError: No such metric; the message offers the nearest one.
        UsageError: The name cannot be read.
    """
    base, cutoff, level = split_name(name)
    metric: RankingMetric | Consensus = Registry("retrieval metric", _PACKAGE, "METRIC").load(base)
    return metric.at(cutoff, level=level)


def qrels_metric(name: str) -> RankingMetric:
    """As `named_metric`, for metrics that compare with qrels.

    Raises:
        UnknownNameError: No such metric.
        UsageError: The name cannot be read, or the metric needs several retrievers instead of qrels.
    """
    metric = named_metric(name)
    if isinstance(metric, Consensus):
        raise UsageError(f"{name} compares retrievers with each other, not with qrels; use `retrieve consensus`")
    return metric


def evaluate_run(
    run: RetrievalRun,
    qrels: Qrels,
    metrics: Sequence[RankingMetric],
    *,
    options: EvalOptions | None = None,
    seed: int = 0,
) -> RunEvaluation:
    """Score a run.

    Args:
        run: What came back.
        qrels: What is relevant.
        metrics: At least one.
        options: Where to differ from our rules.
        seed: Seed of the intervals' resampling.

    Returns:
        Scores, estimates and everything that did not go the usual way.

    Raises:
        DataError: No qrels, or none of their queries was asked in the run.
    """
    options = options or EvalOptions()
    if not metrics:
        raise UsageError("name at least one metric, for example ndcg@10")
    if not qrels:
        raise DataError("there are no relevance judgements to score against")
    missing = tuple(query_id for query_id in qrels if query_id not in run.scores)
    if len(missing) == len(qrels):
        raise DataError(_no_common_query(run, qrels))
    asked = [query_id for query_id in qrels if options.missing == "zero" or query_id in run.scores]
    rankings = {query_id: _ranking(run.scores.get(query_id, {}), options) for query_id in asked}
    cutoff = max((metric.cutoff or 0 for metric in metrics), default=0) or 10
    level = min(metric.level for metric in metrics)
    scores = {metric.name: _scores(run.name, metric, rankings, qrels, options) for metric in metrics}
    return RunEvaluation(
        run=run.name,
        options=options,
        cutoff=cutoff,
        scores=scores,
        estimates=tuple(
            estimate(scores[metric.name], low=metric.low, high=metric.high, seed=seed) for metric in metrics
        ),
        missing=missing,
        ignored=tuple(query_id for query_id in run.scores if query_id not in qrels),
        without_relevant=tuple(q for q in qrels if not count_relevant(list(qrels[q].values()), level)),
        failed=tuple(_failed(run, qrels, rankings, cutoff=cutoff, level=level)),
    )


def _scores(
    system: str,
    metric: RankingMetric,
    rankings: Mapping[str, list[str]],
    qrels: Qrels,
    options: EvalOptions,
) -> tuple[Score, ...]:
    scores = []
    for query_id, ranking in rankings.items():
        value = metric.of_ranking(ranking, qrels[query_id])
        if value is None and options.no_relevant == "zero":
            value = 0.0
        scores.append(
            Score(
                metric=metric.name,
                response_key=f"{system}/{query_id}",
                cluster=query_id,
                system=system,
                status=Status.NOT_APPLICABLE if value is None else Status.SCORED,
                value=value,
                reason=NO_RELEVANT if value is None else None,
            )
        )
    return tuple(scores)


def _ranking(scores: Mapping[str, float], options: EvalOptions) -> list[str]:
    if options.ties == "id_ascending":
        return ranked(scores)
    single = dict(zip(scores, array("f", scores.values()), strict=True))
    by_id = sorted(scores, key=lambda item: item.encode(), reverse=True)
    return sorted(by_id, key=lambda item: -single[item])


def _failed(
    run: RetrievalRun, qrels: Qrels, rankings: Mapping[str, list[str]], *, cutoff: int, level: int
) -> list[FailedQuery]:
    failed = []
    for query_id, ranking in rankings.items():
        grades = qrels[query_id]
        wanted = [item for item in ranked(grades) if grades[item] >= level]
        retrieved = ranking[:cutoff]
        if wanted and not set(wanted) & set(retrieved):
            missing = query_id not in run.scores
            failed.append(
                FailedQuery(query_id=query_id, wanted=tuple(wanted), retrieved=tuple(retrieved), missing=missing)
            )
    return failed


def _no_common_query(run: RetrievalRun, qrels: Qrels) -> str:
    ours, theirs = list(run.scores)[:3], list(qrels)[:3]
    return (
        f"run {run.name!r} and the judgements share no query id (the run has {ours}, the judgements {theirs}); "
        "check that both number queries in the same way, by <num> or by position in the file"
    )
