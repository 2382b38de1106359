"""Retrievers by name over one opened index, so that command line and pipeline mean the same thing by a name."""

from collections.abc import Callable, Sequence

from offline_eval.core.errors import UnknownNameError
from offline_eval.core.protocols import Embedder, Retriever
from offline_eval.retrieval.fusion import FusionSettings, HybridRetriever
from offline_eval.retrieval.index import Index

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
    name: str, index: Index, *, embedder: Callable[[], Embedder], weights: Sequence[float] = ()
) -> Retriever:
    """Make a retriever.

    Args:
        name: One of `RETRIEVERS`.
        index: An opened index.
        embedder: Called only when the retriever needs one.
        weights: Of BM25 and dense in a hybrid; equal when empty.

    Raises:
        UnknownNameError: No such retriever.
        DataError: The index lacks what it needs.
        ModelError: The index was built with another embedder.
    """
    check_names([name])
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
