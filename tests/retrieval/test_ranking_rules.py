"""Ties, fusion and reranking: who comes first, decided by hand."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieval_corpora import HashedWords

from offline_eval.core.errors import ModelError, UsageError
from offline_eval.core.protocols import EngineInfo, Failure, Hit
from offline_eval.retrieval.dense import flat_search, nearest
from offline_eval.retrieval.fusion import FusionSettings, HybridRetriever
from offline_eval.retrieval.rerank import RerankedRetriever
from offline_eval.retrieval.top_k import top_positive

COARSE = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=40)


@given(scores=COARSE, k=st.integers(1, 45), seed=st.integers(0, 5))
def test_the_best_k_equal_a_full_sort_by_score_then_id(scores: list[float], k: int, seed: int) -> None:
    ranks = np.random.default_rng(seed).permutation(len(scores))
    expected = sorted((at for at in range(len(scores)) if scores[at] > 0), key=lambda at: (-scores[at], ranks[at]))
    found = top_positive(np.array(scores, dtype=np.float32), ranks, k=k, decimals=4)
    assert found == [(at, scores[at]) for at in expected[:k]]


def test_noise_in_the_last_bits_does_not_decide_a_tie() -> None:
    scores = np.array([1.0, 1.0 + 1e-7, 3.0], dtype=np.float32)
    assert [at for at, _ in top_positive(scores, np.array([0, 1, 2]), k=3, decimals=4)] == [2, 0, 1]
    assert [at for at, _ in top_positive(scores, np.array([0, 1, 2]), k=2, decimals=4)] == [2, 0]


@given(copies=st.lists(st.integers(0, 3), min_size=1, max_size=60), k=st.integers(1, 10))
def test_nearest_vectors_follow_the_tie_rule_even_when_a_tie_goes_far_beyond_k(copies: list[int], k: int) -> None:
    base = np.eye(4, 8, dtype=np.float32) + 0.1
    vectors = np.ascontiguousarray(base[copies] / np.linalg.norm(base[copies], axis=1, keepdims=True))
    ranks = np.arange(len(copies))[::-1].copy()
    query = vectors[:1]
    exact = np.round((vectors.astype(np.float64) @ query[0].astype(np.float64)), 6)
    expected = sorted(range(len(copies)), key=lambda at: (-exact[at], ranks[at]))[:k]
    (found,) = nearest(flat_search(vectors), query, ranks, k=k)
    assert [at for at, _ in found] == expected


class Fixed:
    """A retriever with one recorded ranking."""

    def __init__(self, name: str, hits: Sequence[tuple[str, float]]) -> None:
        self.name = name
        self._hits = [Hit(passage_id=item, score=score) for item, score in hits]

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        return [self._hits[:k] for _ in queries]


WORDS = Fixed("bm25", [("a", 9.0), ("b", 5.0), ("c", 1.0)])
MEANING = Fixed("dense", [("b", 0.9), ("d", 0.8)])


def ranking(retriever: HybridRetriever) -> list[tuple[str, float]]:
    return [(hit.passage_id, hit.score) for hit in retriever.search(["q"], k=10)[0]]


def test_reciprocal_rank_fusion_adds_one_over_sixty_plus_rank() -> None:
    found = ranking(HybridRetriever([WORDS, MEANING], FusionSettings()))
    expected = {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "d": 1 / 62, "c": 1 / 63}
    assert [item for item, _ in found] == ["b", "a", "d", "c"]
    assert dict(found) == pytest.approx(expected, abs=1e-11)


def test_weighted_fusion_adds_scores_scaled_within_each_retriever() -> None:
    found = ranking(HybridRetriever([WORDS, MEANING], FusionSettings(method="weighted", weights=(0.5, 0.5))))
    # bm25: a 1, b (5-1)/8 = .5, c 0; dense: b 1, d 0
    assert found == [("b", 0.75), ("a", 0.5), ("c", 0.0), ("d", 0.0)]


def test_a_retriever_that_finds_nothing_adds_nothing() -> None:
    found = ranking(HybridRetriever([WORDS, Fixed("dense", [])], FusionSettings(method="weighted")))
    assert [item for item, _ in found] == ["a", "b", "c"]


def test_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="one weight of 0 or more for each of bm25, dense"):
        HybridRetriever([WORDS, MEANING], FusionSettings(weights=(1.0,)))
    with pytest.raises(UsageError, match="at least two"):
        HybridRetriever([WORDS], FusionSettings())


class Scorer:
    """Scores a pair by a recorded number; a missing one is a failure."""

    def __init__(self, scores: dict[str, dict[str, float]]) -> None:
        self._scores = scores

    @property
    def info(self) -> EngineInfo:
        return HashedWords().info

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
        lost = Failure(reason="engine_error", detail="lost")
        return [self._scores.get(passage, lost) for _, passage in pairs]

    def close(self) -> None:
        pass


def test_reranking_orders_by_the_cross_encoder_and_keeps_failed_passages_behind() -> None:
    scorer = Scorer({"a": {"score": -1.0}, "c": {"score": 2.0}})
    retriever = RerankedRetriever(WORDS, scorer, passage_text=str, depth=3)
    assert [hit.passage_id for hit in retriever.search(["q"], k=3)[0]] == ["c", "a", "b"]
    assert [failure.reason for failure in retriever.failures] == ["engine_error"]


def test_reranking_equal_scores_falls_back_to_the_id() -> None:
    scorer = Scorer({"a": {"yes": 0.5, "no": 0.5}, "b": {"yes": 0.5, "no": 0.5}, "c": {"yes": 0.5, "no": 0.5}})
    retriever = RerankedRetriever(WORDS, scorer, passage_text=str, label="yes")
    assert [hit.passage_id for hit in retriever.search(["q"], k=2)[0]] == ["a", "b"]


def test_a_reranker_with_several_labels_needs_to_be_told_which_is_relevance() -> None:
    retriever = RerankedRetriever(WORDS, Scorer({"a": {"yes": 0.5, "no": 0.5}}), passage_text=str, depth=1)
    with pytest.raises(ModelError, match=r"gives \['no', 'yes'\]"):
        retriever.search(["q"], k=1)
