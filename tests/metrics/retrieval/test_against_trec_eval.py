"""Values equal pytrec_eval's and ir_measures' on random runs with ties, gaps, unjudged ids and graded relevance."""

from typing import Any

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.core.ranking import Qrels, RetrievalRun
from offline_eval.core.results import Score
from offline_eval.metrics.retrieval import TREC_EVAL, EvalOptions, RunEvaluation, evaluate_run, qrels_metric

OURS_TO_TREC_EVAL = {
    "hit@1": "success_1",
    "hit@5": "success_5",
    "recall@5": "recall_5",
    "recall@1000": "recall_1000",
    "recall(rel=2)@5": None,
    "precision@5": "P_5",
    "precision@100": "P_100",
    "precision": "set_P",
    "mrr": "recip_rank",
    "map": "map",
    "map@5": "map_cut_5",
    "ndcg": "ndcg",
    "ndcg@5": "ndcg_cut_5",
    "ndcg@100": "ndcg_cut_100",
}
EXACT_TIES_ONLY = st.sampled_from([-1.5, 0.0, 0.25, 0.5, 1.0, 7.0])
IDS = [str(number) for number in range(10)] + ["10", "é", "文档一", "Z", "a"]
# pytrec_eval reads memory it never set, and may not return, where all grades of a query are negative.
GRADES = st.dictionaries(st.sampled_from(IDS), st.integers(-1, 3), min_size=1, max_size=len(IDS)).filter(
    lambda grades: max(grades.values()) >= 0
)
QRELS = st.dictionaries(st.sampled_from(IDS[:8]), GRADES, min_size=1, max_size=8)
RUN = st.dictionaries(
    st.sampled_from(IDS[:10]),
    st.dictionaries(st.sampled_from(IDS), EXACT_TIES_ONLY, min_size=1, max_size=len(IDS)),
    min_size=1,
    max_size=10,
)


def values(scores: tuple[Score, ...]) -> dict[str, float]:
    return {score.cluster: score.value for score in scores if score.value is not None}


def evaluated(run: dict[str, dict[str, float]], qrels: Qrels, options: EvalOptions) -> RunEvaluation | None:
    if not set(run) & set(qrels):
        return None
    metrics = [qrels_metric(name) for name in OURS_TO_TREC_EVAL]
    return evaluate_run(RetrievalRun(name="run", scores=run), qrels, metrics, options=options)


@settings(max_examples=300)
@given(run=RUN, qrels=QRELS)
def test_trec_eval_mode_equals_pytrec_eval_query_by_query(run: dict[str, Any], qrels: Qrels) -> None:
    ours = evaluated(run, qrels, TREC_EVAL)
    if ours is None:
        return
    measures = {name for name in OURS_TO_TREC_EVAL.values() if name}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    strict = pytrec_eval.RelevanceEvaluator(qrels, {"recall_5"}, relevance_level=2).evaluate(run)
    for name, measure in OURS_TO_TREC_EVAL.items():
        expected = {q: (row[measure] if measure else strict[q]["recall_5"]) for q, row in theirs.items()}
        assert values(ours.scores[name]) == pytest.approx(expected, abs=1e-9), name


@settings(max_examples=200)
@given(run=RUN, qrels=QRELS)
def test_our_mode_equals_ir_measures_on_the_order_our_tie_rule_gives(run: dict[str, Any], qrels: Qrels) -> None:
    ours = evaluated(run, qrels, EvalOptions())
    if ours is None:
        return
    # Distinct scores in the order of our tie rule leave the reference nothing to decide.
    system = RetrievalRun(name="run", scores=run)
    untied = {q: {item: -float(rank) for rank, item in enumerate(system.ranking(q))} for q in run}
    mapping = {
        "hit@5": ir_measures.Success @ 5,
        "recall@5": ir_measures.R @ 5,
        "precision@5": ir_measures.P @ 5,
        "mrr": ir_measures.RR,
        "map": ir_measures.AP,
        "ndcg@5": ir_measures.nDCG @ 5,
    }
    found = {(str(m.measure), m.query_id): m.value for m in ir_measures.iter_calc(mapping.values(), qrels, untied)}
    with_relevant = [q for q, grades in qrels.items() if max(grades.values()) >= 1]
    for name, measure in mapping.items():
        expected = {q: found[str(measure), q] for q in with_relevant}  # ir_measures gives a missing query 0, as we do
        assert values(ours.scores[name]) == pytest.approx(expected, abs=1e-9), name


def test_listed_difference_ties_our_rule_takes_the_lower_id_first_trec_eval_the_higher() -> None:
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    assert values(evaluated(run, qrels, EvalOptions()).scores["mrr"]) == {"q": 1.0}  # type: ignore[union-attr]
    assert values(evaluated(run, qrels, EvalOptions(ties="trec_eval")).scores["mrr"]) == {"q": 0.5}  # type: ignore[union-attr]
    assert pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["q"]["recip_rank"] == 0.5


def test_listed_difference_trec_eval_ties_scores_that_differ_beyond_32_bits() -> None:
    run, qrels = {"q": {"a": 1.0 + 1e-9, "b": 1.0}}, {"q": {"a": 1}}
    assert values(evaluated(run, qrels, EvalOptions()).scores["mrr"]) == {"q": 1.0}  # type: ignore[union-attr]
    assert values(evaluated(run, qrels, TREC_EVAL).scores["mrr"]) == {"q": 0.5}  # type: ignore[union-attr]
    assert pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["q"]["recip_rank"] == 0.5


def test_listed_difference_a_missing_query_counts_zero_unless_skipped() -> None:
    run, qrels = {"q": {"a": 1.0}}, {"q": {"a": 1}, "gone": {"a": 1}}
    zero = evaluated(run, qrels, EvalOptions())
    skipped = evaluated(run, qrels, EvalOptions(missing="skip"))
    assert zero is not None
    assert skipped is not None
    assert zero.estimates[0].value == 0.5
    assert skipped.estimates[0].value == 1.0
    assert zero.missing == skipped.missing == ("gone",)


def test_listed_difference_a_query_without_relevant_ids_is_counted_apart_unless_zero_is_asked_for() -> None:
    run, qrels = {"q": {"a": 1.0}, "none": {"a": 1.0}}, {"q": {"a": 1}, "none": {"a": 0}}
    apart = evaluated(run, qrels, EvalOptions())
    zero = evaluated(run, qrels, EvalOptions(no_relevant="zero"))
    assert apart is not None
    assert zero is not None
    assert (apart.estimates[0].value, apart.estimates[0].n_not_applicable) == (1.0, 1)
    assert (zero.estimates[0].value, zero.estimates[0].n_not_applicable) == (0.5, 0)
    assert apart.without_relevant == ("none",)
