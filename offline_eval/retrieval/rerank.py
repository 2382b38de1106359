"""Rerank: a cross-encoder reads the query with each of the first passages and orders them anew."""

from collections.abc import Callable, Sequence

from offline_eval.core.errors import ModelError
from offline_eval.core.protocols import Failure, Hit, PairScorer, Retriever

PassageText = Callable[[str], str]
"""Passage id to what the cross-encoder reads."""

_DECIMALS = 6


class RerankedRetriever:
    """The first retriever's best passages in the order of a cross-encoder's score.

    A passage the scorer fails on keeps its place behind all scored ones, so a failure never moves anything up; how many
    failed stands in `failures`.

    Args:
        first: Finds the candidates.
        scorer: Reads (query, passage) pairs.
        passage_text: Text of a passage.
        label: Which of the scorer's labels is relevance; may stay None for a scorer with one output.
        depth: Candidates read for each query.
    """

    def __init__(
        self,
        first: Retriever,
        scorer: PairScorer,
        *,
        passage_text: PassageText,
        label: str | None = None,
        depth: int = 50,
    ) -> None:
        self.name = f"{first.name}+rerank"
        self.failures: list[Failure] = []
        self._first = first
        self._scorer = scorer
        self._passage_text = passage_text
        self._label = label
        self._depth = depth

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        """The k best of the candidates of each query; fewer than k where `depth` is smaller."""
        candidates = self._first.search(queries, k=self._depth)
        pairs = [
            (query, self._passage_text(hit.passage_id))
            for query, hits in zip(queries, candidates, strict=True)
            for hit in hits
        ]
        rows = iter(self._scorer.score(pairs))
        return [self._reorder(hits, [next(rows) for _ in hits])[:k] for hits in candidates]

    def _reorder(self, hits: Sequence[Hit], rows: Sequence[dict[str, float] | Failure]) -> list[Hit]:
        scored: list[Hit] = []
        unscored: list[Hit] = []
        for hit, row in zip(hits, rows, strict=True):
            if isinstance(row, Failure):
                self.failures.append(row)
                unscored.append(hit)
            else:
                scored.append(Hit(passage_id=hit.passage_id, score=round(self._relevance(row), _DECIMALS)))
        scored.sort(key=lambda hit: (-hit.score, hit.passage_id))
        floor = scored[-1].score if scored else 0.0
        behind = [Hit(passage_id=hit.passage_id, score=floor - place) for place, hit in enumerate(unscored, start=1)]
        return [*scored, *behind]

    def _relevance(self, row: dict[str, float]) -> float:
        if self._label is not None and self._label in row:
            return row[self._label]
        if self._label is None and len(row) == 1:
            return next(iter(row.values()))
        raise ModelError(
            f"the reranker gives {sorted(row)}; say which of them means relevant, found {self._label or 'nothing'}"
        )
