"""Dense retrieval: exact inner products over mapped vectors, or an HNSW graph that says how much it misses."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.errors import ModelError
from offline_eval.core.protocols import Embedder, Hit, ProgressCallback
from offline_eval.core.records import Record
from offline_eval.retrieval.passage_store import PassageStore

SCORE_DECIMALS = 6
_EMBEDDED_AT_ONCE = 512

Vectors = NDArray[np.float32]


class HnswSettings(Record):
    """The graph's size and the care taken in building and searching it.

    Attributes:
        links: Neighbours of each vector, 4 or more.
        build_depth: Candidates looked at while building.
        search_depth: Candidates looked at while searching; more finds more and takes longer.
        threads: Threads used for building; with more than one the graph differs from build to build.
    """

    links: int = 32
    build_depth: int = 200
    search_depth: int = 128
    threads: int = 1


class DenseRetriever:
    """Ranks by inner product of vectors of length 1 (cosine).

    Args:
        name: `dense` or `hnsw`.
        search: Called with query vectors (n_queries, dimension) and k; returns scores and positions, shape
            (n_queries, k) both.
        store: The passages, in the order of the vectors.
        embedder: The one the vectors came from.
    """

    def __init__(self, name: str, search: "VectorSearch", *, store: PassageStore, embedder: Embedder) -> None:
        self.name = name
        self._search = search
        self._store = store
        self._embedder = embedder

    def search(self, queries: Sequence[str], *, k: int) -> list[list[Hit]]:
        """The k nearest passages of each query."""
        if not queries:
            return []
        found = nearest(self._search, np.asarray(self._embedder.embed(queries)), self._store.id_ranks, k=k)
        return [[Hit(passage_id=self._store.ids[position], score=score) for position, score in hits] for hits in found]


VectorSearch = Callable[[Vectors, int], tuple[Vectors, NDArray[np.int64]]]


def nearest(
    search: VectorSearch, queries: Vectors, id_ranks: NDArray[np.int64], *, k: int
) -> list[list[tuple[int, float]]]:
    """The k nearest vectors under the tie rule.

    One more than k is fetched; where the tie at the edge may go on behind it, the window is doubled until it does not.

    Args:
        search: Exact or approximate search.
        queries: Shape (n_queries, dimension).
        id_ranks: Shape (n_passages,).
        k: At most this many, from 1.

    Returns:
        `(position, rounded score)` for each query.
    """
    size = id_ranks.size
    width = min(size, k + 1)
    results: list[list[tuple[int, float]]] = [[] for _ in queries]
    open_rows = np.arange(len(queries))
    while open_rows.size:
        scores, positions = search(np.ascontiguousarray(queries[open_rows], dtype=np.float32), width)
        # HNSW fills up with -1 when it finds no more.
        rounded = np.where(positions >= 0, np.round(scores.astype(np.float64), SCORE_DECIMALS), -np.inf)
        order = np.lexsort((id_ranks[positions], -rounded), axis=-1)[:, :k]
        best = np.take_along_axis(positions, order, axis=1).tolist()
        values = np.take_along_axis(rounded, order, axis=1).tolist()
        undecided = (width < size) & (positions[:, -1] >= 0) & (rounded[:, min(k, width) - 1] <= rounded[:, -1])
        for row in np.flatnonzero(~undecided):
            hits = zip(best[row], values[row], strict=True)
            results[open_rows[row]] = [(position, value) for position, value in hits if position >= 0]
        open_rows = open_rows[undecided]
        width = min(size, width * 2)
    return results


def embed_to_file(
    texts: Iterable[str], path: Path, *, embedder: Embedder, size: int, progress: ProgressCallback | None = None
) -> tuple[int, int]:
    """Embed texts piece by piece into a numpy file, so that memory does not grow with the corpus.

    Args:
        texts: What is embedded, `size` of them.
        path: The `.npy` file; shape (size, dimension), float32.
        embedder: A local model.
        size: Number of texts, 1 or more.
        progress: Told after every piece.

    Returns:
        The file's shape.
    """
    stream = iter(texts)
    vectors: Vectors | None = None
    done = 0
    while piece := list(islice(stream, _EMBEDDED_AT_ONCE)):
        found = np.asarray(embedder.embed(piece), dtype=np.float32)
        if vectors is None:
            shape = (size, found.shape[1])
            vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)  # type: ignore[no-untyped-call]
        vectors[done : done + len(piece)] = found
        done += len(piece)
        if progress is not None:
            progress(done, size)
    if vectors is None or done != size:
        raise ValueError(f"expected {size} texts, found {done}")
    vectors.flush()  # type: ignore[attr-defined]
    return size, vectors.shape[1]


def load_vectors(path: Path) -> Vectors:
    """Map a file of vectors; shape (n_passages, dimension)."""
    mapped: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    return np.asarray(mapped).view(np.ndarray)


def flat_search(vectors: Vectors) -> VectorSearch:
    """Exact search over vectors in memory or mapped from disk.

    Args:
        vectors: Shape (n_passages, dimension), C order.
    """
    import faiss

    def search(queries: Vectors, k: int) -> tuple[Vectors, NDArray[np.int64]]:
        _check_dimension(queries, vectors.shape[1])
        scores, positions = faiss.knn(queries, vectors, k, metric=faiss.METRIC_INNER_PRODUCT)
        return scores, positions

    return search


def build_hnsw(vectors: Vectors, settings: HnswSettings) -> Any:
    """Build a graph over vectors.

    Args:
        vectors: Shape (n_passages, dimension).
        settings: Size and care.

    Returns:
        A `faiss.IndexHNSWFlat`.
    """
    import faiss

    graph = faiss.IndexHNSWFlat(vectors.shape[1], settings.links, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = settings.build_depth
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(settings.threads)
    try:
        graph.add(np.ascontiguousarray(vectors, dtype=np.float32))
    finally:
        faiss.omp_set_num_threads(before)
    return graph


def save_hnsw(graph: Any, path: Path) -> None:
    """Write a graph in faiss' own format (no pickle)."""
    import faiss

    faiss.write_index(graph, str(path))


def load_hnsw(path: Path) -> Any:
    """Read a graph; its vectors stay on disk until touched."""
    import faiss

    return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)


def hnsw_search(graph: Any, settings: HnswSettings) -> VectorSearch:
    """Approximate search over a graph.

    Args:
        graph: From `build_hnsw` or `load_hnsw`.
        settings: `search_depth` is used.
    """
    import faiss

    def search(queries: Vectors, k: int) -> tuple[Vectors, NDArray[np.int64]]:
        _check_dimension(queries, graph.d)
        depth = faiss.SearchParametersHNSW(efSearch=max(settings.search_depth, k))  # type: ignore[attr-defined]
        scores, positions = graph.search(queries, k, params=depth)
        return scores, positions

    return search


def recall_against(exact: VectorSearch, approximate: VectorSearch, queries: Vectors, *, k: int) -> float:
    """How much of the exact k nearest the approximate search finds, over all queries.

    A passage as near as the exact k-th one counts as found, so that equal passages may stand in for each other.

    Args:
        exact: Flat search.
        approximate: HNSW search.
        queries: Shape (n_queries, dimension), at least one.
        k: From 1 to the number of vectors.

    Returns:
        A share in [0, 1].
    """
    wanted, _ = exact(queries, k)
    found, positions = approximate(queries, k)
    near_enough = (found >= wanted[:, -1:] - 10.0**-SCORE_DECIMALS) & (positions >= 0)
    return float(near_enough.mean())


def _check_dimension(queries: Vectors, dimension: int) -> None:
    if queries.shape[1] != dimension:
        raise ModelError(
            f"the embedder makes vectors of {queries.shape[1]} dimensions, the index holds {dimension}; "
            "use the embedder it was built with, or build it again"
        )
