"""Each metric on rankings small enough to add up by hand; the sum stands beside the number."""

from math import log2

import pytest

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.core.records import Case, Passage, Response
from offline_eval.core.results import Status
from offline_eval.metrics.retrieval import named_metric, qrels_metric
from offline_eval.metrics.retrieval.consensus import consensus, overlap

QRELS = {"a": 3, "b": 1, "c": 2, "n": 0}
RANKING = ["x", "b", "n", "a"]  # grades 0 1 0 3; c (grade 2) was not found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hit@1", 0.0),
        ("hit@2", 1.0),
        ("recall@2", 1 / 3),  # b of {a, b, c}
        ("recall", 2 / 3),  # a and b of {a, b, c}
        ("recall(rel=2)", 1 / 2),  # a of {a, c}
        ("precision@4", 2 / 4),
        ("precision@10", 2 / 10),  # divided by k although only 4 came back
        ("precision", 2 / 4),
        ("mrr", 1 / 2),  # b at rank 2
        ("mrr@1", 0.0),
        ("mrr(rel=2)@10", 1 / 4),  # a at rank 4
        ("map", (1 / 2 + 2 / 4) / 3),  # precision at b and a, over R = 3
        ("map@2", (1 / 2) / 3),
        ("ndcg@10", (1 / log2(3) + 3 / log2(5)) / (3 / log2(2) + 2 / log2(3) + 1 / log2(4))),
        ("ndcg@2", (1 / log2(3)) / (3 + 2 / log2(3))),  # ideal list cut at 2: a, c
        ("ndcg(rel=2)@10", (3 / log2(5)) / (3 + 2 / log2(3))),  # b gains nothing
    ],
)
def test_a_metric_equals_its_sum_by_hand(name: str, expected: float) -> None:
    assert qrels_metric(name).of_ranking(RANKING, QRELS) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["hit@5", "recall@10", "precision@5", "mrr@10", "map", "ndcg@10", "recall(rel=2)@10"])
def test_a_name_parses_back_to_itself(name: str) -> None:
    assert named_metric(name).name == name


def test_an_unknown_name_offers_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'ndcg'"):
        named_metric("ndgc@10")


@pytest.mark.parametrize("name", ["ndcg@0", "ndcg@", "hit@five", "P@10", "map@-1", "recall(rel=0)@5", ""])
def test_an_unreadable_name_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(UsageError, match="ndcg@10"):
        named_metric(name)


def test_all_relevant_first_gives_exactly_one() -> None:
    for name in ("map", "ndcg@10", "recall@3", "precision@3", "mrr@10", "hit@1"):
        assert qrels_metric(name).of_ranking(["a", "c", "b"], QRELS) == 1.0, name


def test_an_empty_list_scores_zero_and_a_query_without_relevant_ids_has_no_value() -> None:
    for name in ("map", "ndcg@10", "recall@3", "precision", "mrr@10", "hit@1"):
        assert qrels_metric(name).of_ranking([], QRELS) == 0.0, name
        assert qrels_metric(name).of_ranking(["n"], {"n": 0}) is None, name


def _response(ids: list[str], **fields: object) -> Response:
    passages = tuple(Passage(id=item, text="", doc_id=item.split("#")[0]) for item in ids)
    return Response.model_validate({"case_id": "q", "passages": passages, **fields})


def test_a_response_is_scored_by_passage_ids_where_they_are_known() -> None:
    case = Case(id="q", query="?", relevant_passages={"d1#2": 1}, relevant_documents={"d1": 1})
    assert qrels_metric("mrr").score(case, _response(["d1#1", "d1#2"]), []).value == 0.5


def test_documents_stand_at_the_rank_of_their_best_passage_and_count_once() -> None:
    case = Case(id="q", query="?", relevant_documents={"d2": 1, "d3": 1})
    response = _response(["d1#1", "d1#2", "d2#1", "d2#2", "d3#1"])  # documents d1, d2, d3
    assert qrels_metric("mrr").score(case, response, []).value == pytest.approx(1 / 2)
    assert qrels_metric("precision@2").score(case, response, []).value == pytest.approx(1 / 2)


def test_repeating_a_passage_earns_nothing() -> None:
    case = Case(id="q", query="?", relevant_passages={"a": 1, "b": 1})
    assert qrels_metric("precision@4").score(case, _response(["a", "a", "a", "a"]), []).value == 1 / 4


def test_what_cannot_be_scored_is_a_status_with_a_reason() -> None:
    metric = qrels_metric("recall@5")
    unknown = metric.score(Case(id="q", query="?"), _response(["a"]), [])
    assert (unknown.status, unknown.reason) == (Status.NOT_APPLICABLE, "no_expected_ids")
    nothing = metric.score(Case(id="q", query="?", relevant_passages={"a": 0}), _response(["a"]), [])
    assert (nothing.status, nothing.reason) == (Status.NOT_APPLICABLE, "no_relevant_ids")
    crashed = metric.score(Case(id="q", query="?", relevant_passages={"a": 1}), _response([], error="timeout"), [])
    assert (crashed.status, crashed.value) == (Status.FAILED, None)


def test_consensus_is_the_mean_share_of_common_ids() -> None:
    assert overlap(["a", "b", "c"], ["c", "a", "x"], 2) == 1 / 2  # {a, b} and {c, a}
    assert overlap(["a", "b"], ["a"], 5) == 1 / 2  # over the longer list
    assert overlap([], [], 5) is None
    three = {"bm25": ["a", "b"], "dense": ["b", "a"], "hybrid": ["a", "z"]}
    assert consensus(three, 2) == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert consensus({"bm25": ["a"]}, 2) is None


def test_consensus_reads_the_rankings_of_a_response() -> None:
    metric = named_metric("consensus@2")
    case = Case(id="q", query="?")
    both = metric.score(case, _response([], rankings={"bm25": ("a", "b"), "dense": ("a", "c")}), [])
    assert (both.metric, both.value) == ("consensus@2", 1 / 2)
    one = metric.score(case, _response([], rankings={"bm25": ("a", "b")}), [])
    assert one.status is Status.NOT_APPLICABLE
    with pytest.raises(UsageError, match="retrieve consensus"):
        qrels_metric("consensus@2")
