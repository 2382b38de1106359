"""The second BM25 backend, so that a surprising ranking can be checked against an independent implementation."""

import math
from collections.abc import Sequence
from typing import Any

from offline_eval.core.protocols import Hit
from offline_eval.retrieval.analysis import Analyzer
from offline_eval.retrieval.bm25 import SCORE_DECIMALS, Bm25Settings
from offline_eval.retrieval.passage_store import PassageStore, searchable_text
from offline_eval.retrieval.top_k import top_positive


class RankBm25Retriever:
    """Ranks by rank-bm25 with Lucene's idf, so that scores equal the default backend's; slow, held in memory.

    Args:
        store: The passages.
        analyzer: The one the index was built with.
        settings: BM25's parameters.
    """

    name = "rank_bm25"

    def __init__(self, store: PassageStore, *, analyzer: Analyzer, settings: Bm25Settings) -> None:
        self._store = store
        self._analyzer = analyzer
        self._scale = settings.k1 + 1  # rank-bm25 multiplies by it, Lucene's form does not; no effect on the order
        tokens = [analyzer.tokens(searchable_text(passage)) for passage in store]
        self._model = _with_lucene_idf(tokens, settings)

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        """The k best passages of each query, fewer where fewer match."""
        found = []
        for query in queries:
            scores = self._model.get_scores(self._analyzer.tokens(query)) / self._scale  # (n_passages,)
            best = top_positive(scores, self._store.id_ranks, k=k, decimals=SCORE_DECIMALS)
            found.append([Hit(passage_id=self._store.ids[position], score=score) for position, score in best])
        return found


def _with_lucene_idf(tokens: list[list[str]], settings: Bm25Settings) -> Any:
    """A rank-bm25 model whose idf is log(1 + (N - n + .5) / (n + .5)); its own turns negative for frequent words."""
    from rank_bm25 import BM25Okapi

    class LuceneIdf(BM25Okapi):  # type: ignore[misc]
        def _calc_idf(self, nd: dict[str, int]) -> None:
            size = self.corpus_size
            self.idf = {word: math.log(1 + (size - n + 0.5) / (n + 0.5)) for word, n in nd.items()}

    return LuceneIdf(tokens, k1=settings.k1, b=settings.b)
