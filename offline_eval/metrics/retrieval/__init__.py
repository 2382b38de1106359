"""Retrieval metrics over ids: pure functions of a ranking's grades, equal to trec_eval's where both are defined.

A name is `base`, `base@k` or `base(rel=g)@k` (`g`: lowest grade that counts as relevant, 1 unless said).
"""

from offline_eval.metrics.retrieval._compare import Agreement, RunComparison, agreement_of, compare_runs
from offline_eval.metrics.retrieval._evaluate import (
    TREC_EVAL,
    EvalOptions,
    FailedQuery,
    RunEvaluation,
    evaluate_run,
    named_metric,
    qrels_metric,
)

__all__ = [
    "TREC_EVAL",
    "Agreement",
    "EvalOptions",
    "FailedQuery",
    "RunComparison",
    "RunEvaluation",
    "agreement_of",
    "compare_runs",
    "evaluate_run",
    "named_metric",
    "qrels_metric",
]
