"""Build, save and open an index: passages, BM25, vectors and a manifest in one folder, mapped from disk when opened."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from offline_eval.core.errors import DataError, ModelError, UsageError
from offline_eval.core.protocols import Embedder
from offline_eval.core.records import Passage
from offline_eval.engines.embedder import embedding_identity
from offline_eval.retrieval.analysis import Analyzer
from offline_eval.retrieval.bm25 import Bm25Retriever, build_bm25, load_bm25, save_bm25
from offline_eval.retrieval.dense import (
    DenseRetriever,
    HnswSettings,
    Vectors,
    build_hnsw,
    embed_to_file,
    flat_search,
    hnsw_search,
    load_hnsw,
    load_vectors,
    recall_against,
    save_hnsw,
)
from offline_eval.retrieval.manifest import (
    FORMAT,
    MANIFEST,
    DensePart,
    GraphRecall,
    IndexSettings,
    Manifest,
    describe_files,
    read_manifest,
)
from offline_eval.retrieval.passage_store import PassageStore, StoreWriter, corpus_hash, searchable_text
from offline_eval.retrieval.rank_bm25 import RankBm25Retriever
from offline_eval.retrieval.splitter import split_documents
from offline_eval.text.language import detect_language

StageProgress = Callable[[str, int, int], None]
"""Called with (stage, done, total); total is 0 while it is unknown."""

_BM25 = "bm25"
_VECTORS = "vectors.npy"
_GRAPH = "graph.hnsw"
_TOLD_EVERY = 1000
_LANGUAGE_SAMPLE = 200
_RECALL_SAMPLE = 200
_RECALL_K = 10


def build_index(
    documents: Iterable[Passage],
    folder: Path,
    *,
    settings: IndexSettings,
    embedder: Embedder | None = None,
    languages: Sequence[str] = ("*",),
    progress: StageProgress | None = None,
) -> Manifest:
    """Build an index and put it in place when it is complete.

    Args:
        documents: Read once.
        folder: A new folder, an empty one, or an older index, which is replaced.
        settings: How to split, analyse and index.
        embedder: For dense retrieval; None builds BM25 alone.
        languages: Language codes the embedder was made for; `*` for any.
        progress: Told how far each stage is.

    Returns:
        The manifest.

    Raises:
        DataError: No passages, ids that repeat, passages that are too long, or the folder holds something else.
        ModelError: Most of the corpus is in a language the embedder was not made for.
        UsageError: A graph without an embedder.
    """
    if settings.hnsw is not None and embedder is None:
        raise UsageError("an HNSW graph needs vectors; name an embedder")
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / MANIFEST).is_file())):
        raise DataError(f"{folder}: exists and is no index; choose another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    building.chmod(0o755)  # a temporary folder is for its owner alone, an index is not
    tell = progress or (lambda stage, done, total: None)
    try:
        manifest = _build(documents, building, settings, embedder=embedder, languages=languages, tell=tell)
        if folder.exists():
            shutil.rmtree(folder)
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return manifest


class Index:
    """An opened index.

    Args:
        folder: Where it was built.

    Raises:
        DataError: No index there, damaged, or made by another tokenizer.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = read_manifest(folder)
        self.analyzer = Analyzer(self.manifest.settings.analyzer)
        if self.analyzer.hash != self.manifest.analyzer_hash:
            raise DataError(f"{folder}: its terms were made by another version of the tokenizer; build the index again")
        self.store = PassageStore(folder)

    def require_corpus(self, documents: Iterable[Passage]) -> None:
        """Make sure the index holds exactly these documents.

        Raises:
            DataError: The corpus has changed since the index was built.
        """
        found = corpus_hash(split_documents(documents, self.manifest.settings.split))
        if found != self.manifest.corpus_hash:
            raise DataError(
                f"{self.folder}: stale, the corpus has changed since it was built (hash {found[:12]}, the index has "
                f"{self.manifest.corpus_hash[:12]}); build the index again"
            )

    def bm25(self) -> Bm25Retriever:
        """The default retriever."""
        return Bm25Retriever(load_bm25(self.folder / _BM25), self.store, analyzer=self.analyzer)

    def rank_bm25(self) -> RankBm25Retriever:
        """The slow second backend; reads every passage."""
        return RankBm25Retriever(self.store, analyzer=self.analyzer, settings=self.manifest.settings.bm25)

    def dense(self, embedder: Embedder) -> DenseRetriever:
        """Exact nearest neighbours.

        Raises:
            DataError: The index has no vectors.
            ModelError: They come from another embedder.
        """
        self._require_embedder(embedder)
        return DenseRetriever("dense", flat_search(self.vectors), store=self.store, embedder=embedder)

    def hnsw(self, embedder: Embedder) -> DenseRetriever:
        """Approximate nearest neighbours; the manifest says how much they miss.

        Raises:
            DataError: The index has no graph.
            ModelError: Its vectors come from another embedder.
        """
        self._require_embedder(embedder)
        settings = self.manifest.settings.hnsw
        if settings is None:
            raise DataError(f"{self.folder}: has no HNSW graph; build the index again with --hnsw")
        search = hnsw_search(load_hnsw(self.folder / _GRAPH), settings)
        return DenseRetriever("hnsw", search, store=self.store, embedder=embedder)

    @cached_property
    def vectors(self) -> Vectors:
        """Shape (n_passages, dimension), mapped from disk."""
        return load_vectors(self.folder / _VECTORS)

    def close(self) -> None:
        """Let go of the files."""
        self.store.close()

    def _require_embedder(self, embedder: Embedder) -> None:
        part = self.manifest.dense
        if part is None:
            raise DataError(f"{self.folder}: has no vectors; build the index again with --embedder")
        if embedding_identity(embedder.info) != part.identity:
            raise ModelError(
                f"{self.folder}: its vectors come from {part.embedder}, not from {embedder.info.model} as loaded; "
                "use that embedder, or build the index again"
            )
        if self.vectors.shape != (self.manifest.n_passages, part.dimension):
            raise DataError(
                f"{self.folder}: vectors of shape {self.vectors.shape}, expected "
                f"{(self.manifest.n_passages, part.dimension)}; build the index again"
            )


def _build(
    documents: Iterable[Passage],
    folder: Path,
    settings: IndexSettings,
    *,
    embedder: Embedder | None,
    languages: Sequence[str],
    tell: StageProgress,
) -> Manifest:
    analyzer = Analyzer(settings.analyzer)
    with StoreWriter(folder) as writer:
        for number, passage in enumerate(split_documents(documents, settings.split), start=1):
            writer.add(passage)
            if number % _TOLD_EVERY == 0:
                tell("reading passages", number, 0)
    store = PassageStore(folder)
    try:
        tokens = (analyzer.tokens(text) for text in _texts(store, partial(tell, "indexing words")))
        save_bm25(build_bm25(tokens, settings.bm25), folder / _BM25)
        part = _build_dense(store, folder, settings, embedder=embedder, languages=languages, tell=tell)
    finally:
        store.close()
    manifest = Manifest(
        format=FORMAT,
        corpus_hash=writer.corpus_hash,
        n_passages=writer.n_passages,
        n_documents=writer.n_documents,
        settings=settings,
        analyzer_hash=analyzer.hash,
        dense=part,
        files=describe_files(folder),
    )
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    return manifest


def _build_dense(
    store: PassageStore,
    folder: Path,
    settings: IndexSettings,
    *,
    embedder: Embedder | None,
    languages: Sequence[str],
    tell: StageProgress,
) -> DensePart | None:
    if embedder is None:
        return None
    _check_language(store, embedder.info.model, languages)
    _, dimension = embed_to_file(
        _texts(store, lambda done, total: None),
        folder / _VECTORS,
        embedder=embedder,
        size=len(store),
        progress=partial(tell, "embedding passages"),
    )
    recall = None
    if settings.hnsw is not None:
        tell("building the graph", 0, len(store))
        vectors = load_vectors(folder / _VECTORS)
        graph = build_hnsw(vectors, settings.hnsw)
        save_hnsw(graph, folder / _GRAPH)
        recall = _graph_recall(vectors, graph, settings.hnsw)
    return DensePart(
        embedder=embedder.info.model,
        identity=embedding_identity(embedder.info),
        dimension=dimension,
        graph_recall=recall,
    )


def _graph_recall(vectors: Vectors, graph: Any, settings: HnswSettings) -> GraphRecall:
    size = len(vectors)
    sample = vectors[:: max(1, size // _RECALL_SAMPLE)]
    k = min(_RECALL_K, size)
    recall = recall_against(flat_search(vectors), hnsw_search(graph, settings), sample, k=k)
    return GraphRecall(recall=recall, k=k, n_queries=len(sample))


def _check_language(store: PassageStore, model: str, languages: Sequence[str]) -> None:
    if "*" in languages:
        return
    step = max(1, len(store) // _LANGUAGE_SAMPLE)
    found = Counter(detect_language(searchable_text(store.at(at))) for at in range(0, len(store), step))
    language, count = found.most_common(1)[0]
    if language != "other" and language not in languages and count * 2 > found.total():
        raise ModelError(
            f"{model} was made for {', '.join(languages)}, but {count} of {found.total()} sampled passages are in "
            f"{language}; its vectors would mean nothing. Choose an embedder for {language}, or search with BM25"
        )


def _texts(store: PassageStore, progress: Callable[[int, int], None]) -> Iterator[str]:
    for number, passage in enumerate(store, start=1):
        yield searchable_text(passage)
        if number % _TOLD_EVERY == 0:
            progress(number, len(store))
