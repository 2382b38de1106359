"""The runs an evaluation compares: made now by retrievers over an index, or recorded before in TREC run files."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pydantic import Field

from offline_eval.core.errors import DataError, UsageError
from offline_eval.core.protocols import Embedder, PairScorer, Retriever
from offline_eval.core.ranking import RetrievalRun
from offline_eval.core.records import Record
from offline_eval.formats.trec import read_run
from offline_eval.retrieval.index import Index, StageProgress
from offline_eval.retrieval.questions import Level, Questions
from offline_eval.retrieval.rerank import RerankedRetriever
from offline_eval.retrieval.retrievers import LEXICAL, check_names, open_retriever
from offline_eval.retrieval.run import fold_to_documents, run_retriever


class RunRequest(Record):
    """Which runs are wanted.

    Attributes:
        retrievers: Names of retrievers over the index.
        run_files: Recorded runs, each `FILE` or `NAME=FILE`.
        depth: Passages fetched for each query.
        weights: Of BM25 and dense in a hybrid.
        rerank_depth: Passages of each query a cross-encoder reads.
    """

    retrievers: tuple[str, ...] = ()
    run_files: tuple[str, ...] = ()
    depth: int = Field(default=1000, ge=1)
    weights: tuple[float, ...] = ()
    rerank_depth: int = Field(default=50, ge=1)


class Collected(Record):
    """Runs with what should be said about them.

    Attributes:
        level: What their ids name.
        notes: One sentence each.
    """

    runs: tuple[RetrievalRun, ...]
    level: Level
    notes: tuple[str, ...] = ()


def collect_runs(
    request: RunRequest,
    questions: Questions,
    *,
    index: Index | None,
    embedder: Callable[[], Embedder],
    scorer: Callable[[], PairScorer] | None = None,
    progress: StageProgress | None = None,
) -> Collected:
    """Make and read runs.

    Args:
        request: At least one run.
        questions: What is asked; judgements decide between passages and documents where they say so.
        index: Needed for retrievers.
        embedder: Called only when a retriever needs it.
        scorer: A cross-encoder that reorders each retriever's first passages.
        progress: Told how far each retriever is.

    Returns:
        Retrievers first, then files, each in the order asked for. When judgements name documents, runs over an index
        are folded to them: a document stands at its best passage.

    Raises:
        UsageError: Nothing asked for, or retrievers without an index or queries.
        DataError: Files or an index that cannot be used.
    """
    if not request.retrievers and not request.run_files:
        raise UsageError("say what to measure: --retriever NAME over an index, or --run FILE")
    check_names(request.retrievers)
    tell = progress or (lambda stage, done, total: None)
    level = questions.level or _level_of(index)
    runs: list[RetrievalRun] = []
    notes: list[str] = []
    if request.retrievers:
        searched = _checked(index, questions)
        notes.extend(_notes(searched, questions, request))
        for name in request.retrievers:
            retriever = _opened(name, searched, request, embedder=embedder, scorer=scorer)
            told = partial(tell, f"searching {name}")
            run = run_retriever(retriever, questions.queries, k=request.depth, progress=told)
            notes.extend(_rerank_notes(retriever))
            runs.append(fold_to_documents(run, searched.store) if level == "documents" else run)
    for text in request.run_files:
        label, path = split_run_file(text)
        runs.append(read_run(path, name=label))
    for run in runs:
        _refuse_foreign_ids(run, questions)
    return Collected(runs=tuple(runs), level=level, notes=tuple(notes))


def _opened(
    name: str,
    index: Index,
    request: RunRequest,
    *,
    embedder: Callable[[], Embedder],
    scorer: Callable[[], PairScorer] | None,
) -> Retriever:
    return open_retriever(
        name,
        index,
        embedder=embedder,
        weights=request.weights,
        scorer=scorer,
        rerank_depth=request.rerank_depth,
    )


def _refuse_foreign_ids(run: RetrievalRun, questions: Questions) -> None:
    """Ids that never meet are another corpus's or another level's; a row of zeros would look like a bad retriever."""
    judged = {name for grades in questions.qrels.values() for name, grade in grades.items() if grade > 0}
    retrieved = {name for scores in run.scores.values() for name in scores}
    if judged and retrieved and not judged & retrieved:
        raise DataError(
            f"{run.name}: none of {len(judged)} relevant ids is among the {len(retrieved)} retrieved ones; the "
            f"judgements say {min(judged)!r}, the run says {min(retrieved)!r}; check the corpus, and --by passages or "
            "documents"
        )


def split_run_file(text: str) -> tuple[str | None, Path]:
    """`NAME=FILE` as name and path; a name holds no path separator, so paths with `=` work too."""
    name, equals, rest = text.partition("=")
    if equals and name and "/" not in name and not Path(text).exists():
        return name, Path(rest)
    return None, Path(text)


def _checked(index: Index | None, questions: Questions) -> Index:
    if index is None:
        raise UsageError("retrievers search an index; add --index DIR")
    if not questions.queries:
        raise UsageError("retrievers need queries; add --queries FILE, --cases FILE or --beir FOLDER")
    return index


def _rerank_notes(retriever: Retriever) -> list[str]:
    if not isinstance(retriever, RerankedRetriever) or not retriever.failures:
        return []
    reasons = Counter(failure.reason for failure in retriever.failures).most_common()
    shown = ", ".join(f"{reason} {count}" for reason, count in reasons)
    return [f"{retriever.name}: {len(retriever.failures)} passages were not read and stand behind the others: {shown}"]


def _level_of(index: Index | None) -> Level:
    return "documents" if index is not None and index.manifest.settings.split.by != "none" else "passages"


def _notes(index: Index, questions: Questions, request: RunRequest) -> list[str]:
    notes = []
    empty = [query_id for query_id, query in questions.queries.items() if not index.analyzer.tokens(query)]
    if empty and LEXICAL.intersection(request.retrievers):
        shown = ", ".join(empty[:5]) + (" …" if len(empty) > 5 else "")
        notes.append(f"{len(empty)} queries have no searchable word, so BM25 finds nothing for them: {shown}")
    part = index.manifest.dense
    if "hnsw" in request.retrievers and part is not None and part.graph_recall is not None:
        found = part.graph_recall
        notes.append(
            f"hnsw finds {found.recall:.3g} of the exact {found.k} nearest passages ({found.n_queries} passages asked)"
        )
    return notes
