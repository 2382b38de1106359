"""Tells evidence that a run never asked for from evidence that failed, and says which option of `run` collects it.

Why apart: "failed" blames a system or a judge for a question nobody put. What was asked for and did not come still
fails, and so does a metric that has a value for some responses: leaving out the others could raise its mean.
"""

import re
from collections.abc import Mapping

from offline_eval.core.results import Score, Status
from offline_eval.metrics._score import NOT_CHECKED
from offline_eval.metrics.panel._grade import NOT_JUDGED
from offline_eval.pipeline.config import RunConfig
from offline_eval.pipeline.metric_plan import METRICS, checks_for, needs_panel

NOT_COLLECTED = "evidence_not_collected"
_PARAMETERS = re.compile(r"[@(]")  # of `ndcg@10` and `variant_score_drift(of=total_grade)`
_GRADE = "_grade"

Scores = dict[str, Score]
"""Key to score, of one metric."""


def name_uncollected(scores: Mapping[str, Scores], config: RunConfig) -> dict[str, Scores]:
    """The scores, with those that lack what the run never asked for as not applicable instead of failed.

    Args:
        scores: Metric to its scores.
        config: What the run asked for.
    """
    return {metric: _named(found, collecting_option(metric, config)) for metric, found in scores.items()}


def collecting_option(metric: str, config: RunConfig) -> str | None:
    """How to run again so that a metric's evidence is made; None when this run asked for all of it."""
    group = METRICS.module(_PARAMETERS.split(metric)[0]).split(".")[-2]
    dimension = metric.removesuffix(_GRADE)
    if group == "panel" and metric != "total_grade" and dimension not in config.panel.examiners:
        return f"offline-eval run … --panel (with {dimension})"
    lacks_verdicts = needs_panel([metric]) and not needs_panel(config.metric_names)
    if lacks_verdicts or set(checks_for([metric])) - set(config.checks):
        return f"offline-eval run … --metrics {group}"
    return None


def _named(scores: Scores, option: str | None) -> Scores:
    if option is None or any(score.status is Status.SCORED for score in scores.values()):
        return scores
    outcome = {"status": Status.NOT_APPLICABLE, "reason": f"{NOT_COLLECTED}: {option}"}
    return {key: score.model_copy(update=outcome) if _lacks(score) else score for key, score in scores.items()}


def _lacks(score: Score) -> bool:
    """Whether nobody asked; the code may stand behind the dimension that lacks, as in `relevance: not_judged`."""
    code = (score.reason or "").rpartition(": ")[2]
    return score.status is Status.FAILED and code in (NOT_CHECKED, NOT_JUDGED)
