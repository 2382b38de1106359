"""Queries through retrievers into runs, and runs into responses, so that one ranking feeds every later metric."""

from collections.abc import Mapping, Sequence

from offline_eval.core.errors import DataError
from offline_eval.core.protocols import ProgressCallback, Retriever
from offline_eval.core.ranking import RetrievalRun
from offline_eval.core.records import Case, Response
from offline_eval.retrieval.passage_store import PassageStore

_AT_ONCE = 256


def run_retriever(
    retriever: Retriever, queries: Mapping[str, str], *, k: int, progress: ProgressCallback | None = None
) -> RetrievalRun:
    """Search for every query.

    Args:
        retriever: Any.
        queries: Query id to query.
        k: Passages a query, from 1.
        progress: Told after every piece of the work.

    Returns:
        A run with every query in it, also those for which nothing came back.

    Raises:
        DataError: No queries.
    """
    if not queries:
        raise DataError("there are no queries to search for")
    ids = list(queries)
    scores: dict[str, dict[str, float]] = {}
    for start in range(0, len(ids), _AT_ONCE):
        piece = ids[start : start + _AT_ONCE]
        found = retriever.search([queries[query_id] for query_id in piece], k=k)
        for query_id, hits in zip(piece, found, strict=True):
            scores[query_id] = {hit.passage_id: hit.score for hit in hits}
        if progress is not None:
            progress(min(start + _AT_ONCE, len(ids)), len(ids))
    return RetrievalRun(name=retriever.name, scores=scores)


def fold_to_documents(run: RetrievalRun, store: PassageStore) -> RetrievalRun:
    """The run over documents: each stands at the score of its best passage.

    Raises:
        DataError: A passage the index does not hold.
    """
    folded: dict[str, dict[str, float]] = {}
    for query_id, scores in run.scores.items():
        documents: dict[str, float] = {}
        for passage_id, score in scores.items():
            passage = store.get(passage_id)
            document = passage.doc_id or passage.id
            documents[document] = max(score, documents.get(document, score))
        folded[query_id] = documents
    return RetrievalRun(name=run.name, scores=folded)


def responses_of(cases: Sequence[Case], runs: Sequence[RetrievalRun], store: PassageStore) -> list[Response]:
    """Turn runs into responses that `run` can score: one a case, without an answer.

    Args:
        cases: Whose ids are the runs' query ids.
        runs: At least one; the first gives the passages, all of them give `rankings` when there are several.
        store: Where the passages' text is.

    Returns:
        Responses in the order of the cases; the system is named after the first run.
    """
    first = runs[0]
    responses = []
    for case in cases:
        passages = tuple(
            store.get(item).model_copy(update={"score": first.scores[case.id][item]}) for item in first.ranking(case.id)
        )
        rankings = {run.name: tuple(run.ranking(case.id)) for run in runs} if len(runs) > 1 else {}
        responses.append(Response(case_id=case.id, system=first.name, passages=passages, rankings=rankings))
    return responses
