"""Retrievers by name over one opened index, so that command line and pipeline mean the same thing by a name."""

from collections.abc import Callable, Sequence

from offline_eval.core.errors import UnknownNameError
from offline_eval.core.protocols import Embedder, PairScorer, Retriever
from offline_eval.retrieval.fusion import FusionSettings, HybridRetriever
from offline_eval.retrieval.index import Index
from offline_eval.retrieval.passage_store import searchable_text
from offline_eval.retrieval.rerank import PassageText, RerankedRetriever

RETRIEVERS = ("bm25", "rank_bm25", "dense", "hnsw", "hybrid", "hybrid_weighted")
LEXICAL = frozenset({"bm25", "rank_bm25"})


def check_names(names: Sequence[str]) -> None:
    """Refuse unknown retrievers before anything is loaded.

    Raises:
        UnknownNameError: The message offers the nearest name.
    """
    for name in names:
        if name not in RETRIEVERS:
            raise UnknownNameError("retriever", name, RETRIEVERS)


def open_retriever(
    name: str,
    index: Index,
    *,
    embedder: Callable[[], Embedder],
    weights: Sequence[float] = (),
    scorer: Callable[[], PairScorer] | None = None,
    rerank_depth: int = 50,
) -> Retriever:
    """Make a retriever.

    Args:
        name: One of `RETRIEVERS`.
        index: An opened index.
        embedder: Called only when the retriever needs one.
        weights: Of BM25 and dense in a hybrid; equal when empty.
        scorer: A cross-encoder that reorders the first passages; None leaves them as they are.
        rerank_depth: Passages of each query it reads.

    Raises:
        UnknownNameError: No such retriever.
        DataError: The index lacks what it needs.
        ModelError: The index was built with another embedder.
    """
    check_names([name])
    first = _first_stage(name, index, embedder, weights)
    if scorer is None:
        return first
    return RerankedRetriever(first, scorer(), passage_text=_text_in(index), depth=rerank_depth)


def _first_stage(name: str, index: Index, embedder: Callable[[], Embedder], weights: Sequence[float]) -> Retriever:
    if name == "bm25":
        return index.bm25()
    if name == "rank_bm25":
        return index.rank_bm25()
    if name == "dense":
        return index.dense(embedder())
    if name == "hnsw":
        return index.hnsw(embedder())
    method = "rrf" if name == "hybrid" else "weighted"
    settings = FusionSettings.model_validate({"method": method, "weights": tuple(weights)})
    return HybridRetriever([index.bm25(), index.dense(embedder())], settings, name=name)


def _text_in(index: Index) -> PassageText:
    return lambda passage_id: searchable_text(index.store.get(passage_id))
