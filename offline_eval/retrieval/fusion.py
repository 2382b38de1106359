"""Hybrid retrieval: several rankings into one, by reciprocal ranks or by weighted scores."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from offline_eval.core.errors import UsageError
from offline_eval.core.protocols import Hit, Retriever
from offline_eval.core.ranking import ranked
from offline_eval.core.records import Record

_DECIMALS = 12
FusionMethod = Literal["rrf", "weighted"]


class FusionSettings(Record):
    """How rankings become one.

    Attributes:
        method: `rrf` adds weight / (constant + rank); `weighted` adds weight times the score, scaled per query so that
            each retriever's best passage has 1 and its worst fetched one 0 (a single passage has 1).
        weights: One a retriever, 0 or more; equal when empty.
        constant: Of `rrf`; larger makes ranks count more alike.
        depth: Passages taken from each retriever.
    """

    method: FusionMethod = "rrf"
    weights: tuple[float, ...] = ()
    constant: float = Field(default=60.0, gt=0)
    depth: int = Field(default=100, ge=1)


class HybridRetriever:
    """Fuses the rankings of several retrievers; a passage that one of them does not return gets nothing from it.

    Args:
        retrievers: At least two.
        settings: How to fuse.
        name: Shown beside results.

    Raises:
        UsageError: Fewer than two retrievers, or weights that do not fit them.
    """

    def __init__(self, retrievers: Sequence[Retriever], settings: FusionSettings, *, name: str = "hybrid") -> None:
        weights = settings.weights or (1.0,) * len(retrievers)
        if len(retrievers) < 2:
            raise UsageError("a hybrid needs at least two retrievers")
        if len(weights) != len(retrievers) or min(weights) < 0 or sum(weights) == 0:
            names = ", ".join(retriever.name for retriever in retrievers)
            raise UsageError(f"give one weight of 0 or more for each of {names}, not all 0; found {list(weights)}")
        self.name = name
        self._retrievers = tuple(retrievers)
        self._weights = weights
        self._settings = settings

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        """The k best passages of each query."""
        depth = max(k, self._settings.depth)
        per_retriever = [retriever.search(queries, k=depth) for retriever in self._retrievers]
        return [self._fuse([hits[row] for hits in per_retriever], k) for row in range(len(queries))]

    def _fuse(self, rankings: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
        if self._settings.method == "rrf":
            scores = reciprocal_rank_fusion(rankings, self._weights, constant=self._settings.constant)
        else:
            scores = weighted_fusion(rankings, self._weights)
        return [Hit(passage_id=item, score=scores[item]) for item in ranked(scores)[:k]]


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[Hit]], weights: Sequence[float], *, constant: float
) -> Mapping[str, float]:
    """Sum of weight / (constant + rank), rank from 1.

    Args:
        rankings: Hits of each retriever, best first.
        weights: One a retriever.
        constant: Above 0.

    Returns:
        Passage id to score, rounded to 12 places so that the order of summing decides nothing.

    Source:
        Cormack, Clarke and Büttcher 2009.
    """
    scores: dict[str, float] = {}
    for hits, weight in zip(rankings, weights, strict=True):
        for rank, hit in enumerate(hits, start=1):
            scores[hit.passage_id] = scores.get(hit.passage_id, 0.0) + weight / (constant + rank)
    return {item: round(score, _DECIMALS) for item, score in scores.items()}


def weighted_fusion(rankings: Sequence[Sequence[Hit]], weights: Sequence[float]) -> Mapping[str, float]:
    """Weighted sum of scores scaled to [0, 1] within each retriever's hits.

    Args:
        rankings: Hits of each retriever, best first.
        weights: One a retriever.

    Returns:
        Passage id to score, rounded to 12 places.
    """
    scores: dict[str, float] = {}
    for hits, weight in zip(rankings, weights, strict=True):
        if not hits:
            continue
        low = min(hit.score for hit in hits)
        width = max(hit.score for hit in hits) - low
        for hit in hits:
            scaled = (hit.score - low) / width if width > 0 else 1.0
            scores[hit.passage_id] = scores.get(hit.passage_id, 0.0) + weight * scaled
    return {item: round(score, _DECIMALS) for item, score in scores.items()}
