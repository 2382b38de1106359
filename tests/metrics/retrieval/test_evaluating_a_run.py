"""A run against qrels: what is missing, ignored, tied or failed stays visible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import DataError
from offline_eval.core.ranking import RetrievalRun
from offline_eval.metrics.retrieval import evaluate_run, qrels_metric


def run_of(scores: dict[str, dict[str, float]]) -> RetrievalRun:
    return RetrievalRun(name="bm25", scores=scores)


def test_a_judged_query_the_run_lacks_counts_zero_and_is_listed_and_an_unjudged_one_is_ignored_and_listed() -> None:
    qrels = {"judged": {"a": 1}, "lost": {"a": 1}}
    found = evaluate_run(run_of({"judged": {"a": 1.0}, "extra": {"a": 9.0}}), qrels, [qrels_metric("mrr@10")])
    assert found.missing == ("lost",)
    assert found.ignored == ("extra",)
    assert found.estimates[0].value == 0.5  # (1 + 0) / 2; the unjudged query moves nothing
    assert [(failed.query_id, failed.missing) for failed in found.failed] == [("lost", True)]


def test_equal_scores_are_ordered_by_id_ascending_and_the_rule_is_stated() -> None:
    run = run_of({"q": {"b": 1.0, "a": 1.0, "c": 2.0, "10": 1.0}})
    assert run.ranking("q") == ["c", "10", "a", "b"]
    found = evaluate_run(run, {"q": {"a": 1}}, [qrels_metric("mrr")])
    assert found.options.tie_rule == "score descending, then id ascending"
    assert found.estimates[0].value == pytest.approx(1 / 3)


def test_numbers_as_ids_of_queries_and_documents_alike_drop_nothing() -> None:
    ids = [str(number) for number in range(10)]
    run = run_of({q: {d: float(-abs(int(q) - int(d))) for d in ids} for q in ids})
    found = evaluate_run(run, {q: {q: 1} for q in ids}, [qrels_metric("mrr"), qrels_metric("recall@10")])
    assert [estimate.value for estimate in found.estimates] == [1.0, 1.0]
    assert found.estimates[0].n_scored == 10


def test_a_failed_query_shows_what_was_wanted_and_what_came_instead() -> None:
    run = run_of({"q": {"x": 3.0, "y": 2.0, "a": 1.0}, "r": {}})
    found = evaluate_run(run, {"q": {"a": 1, "b": 3}, "r": {"a": 1}}, [qrels_metric("hit@2")])
    assert found.failed[0].wanted == ("b", "a")
    assert found.failed[0].retrieved == ("x", "y")
    assert found.failed[1].retrieved == ()
    assert not found.failed[1].missing


def test_a_run_that_shares_no_query_with_the_qrels_is_refused_with_both_kinds_of_id() -> None:
    with pytest.raises(DataError, match=r"share no query id.*'001'.*'1'.*position"):
        evaluate_run(run_of({"001": {"a": 1.0}}), {"1": {"a": 1}}, [qrels_metric("map")])
    with pytest.raises(DataError, match="no relevance judgements"):
        evaluate_run(run_of({"1": {"a": 1.0}}), {}, [qrels_metric("map")])


def test_the_estimate_has_an_interval_around_its_value() -> None:
    run = run_of({str(q): {"a": 1.0, "b": 0.5, "c": 0.1} for q in range(30)})
    qrels = {str(q): {"abc"[q % 3]: 1} for q in range(30)}
    (estimate,) = evaluate_run(run, qrels, [qrels_metric("mrr")]).estimates
    assert estimate.value == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert estimate.interval is not None
    assert estimate.interval.low < (estimate.value or 0) < estimate.interval.high


GRADES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1)


@given(ranking=st.permutations("abcdefgh"), size=st.integers(0, 8), grades=GRADES, cutoff=st.integers(1, 12))
def test_values_stay_in_range_and_ids_ranked_behind_the_cutoff_change_nothing(
    ranking: list[str], size: int, grades: dict[str, int], cutoff: int
) -> None:
    for base in ("hit", "recall", "precision", "mrr", "map", "ndcg"):
        metric = qrels_metric(f"{base}@{cutoff}")
        value = metric.of_ranking(ranking[:size], grades)
        assert (value is None) == (max(grades.values()) == 0)
        if value is not None:
            assert 0.0 <= value <= 1.0
            assert metric.of_ranking(ranking[: min(size, cutoff)], grades) == value


@given(ranking=st.permutations("abcdefgh"), grades=GRADES, place=st.integers(0, 6))
def test_moving_a_better_graded_id_up_never_lowers_a_metric(
    ranking: list[str], grades: dict[str, int], place: int
) -> None:
    first, second = ranking[place], ranking[place + 1]
    if grades.get(second, 0) <= grades.get(first, 0):
        return
    swapped = [*ranking[:place], second, first, *ranking[place + 2 :]]
    for name in ("hit@3", "recall@3", "precision@3", "mrr", "map", "ndcg"):
        metric = qrels_metric(name)
        assert (metric.of_ranking(swapped, grades) or 0) >= (metric.of_ranking(ranking, grades) or 0) - 1e-12
