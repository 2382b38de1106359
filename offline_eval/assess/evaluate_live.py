"""Answers made now, for an evaluation without recorded ones: the whole pipeline, with every answer written.

The early exit is switched off here, so that the baselines are judged on the same answers; what it would have withheld
has the lowest tier all the same, because the profile's veto on answerability stays.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from offline_eval.assess.configured import open_rag
from offline_eval.assess.extract import NAME
from offline_eval.assess.records import Assessment
from offline_eval.assess.service_settings import AssessSettings
from offline_eval.core.errors import UsageError
from offline_eval.core.records import Case, Response

SYSTEM = "pipeline"
_Tell = Callable[[str, int, int], None]


def answer_cases(
    cases: Sequence[Case], settings: AssessSettings, *, corpus: Path | None, folder: Path, progress: _Tell
) -> tuple[list[Response], dict[str, Assessment]]:
    """Ask the pipeline every case.

    Args:
        settings: Its retrievers and generator; BM25 and vectors over the corpus, and the generator without a model,
            where none are named.
        corpus: Documents to index; None when the settings name an index.
        folder: An empty folder for the index.
        progress: Told how far it is.

    Returns:
        The answers as responses, and every response's assessment.
    """
    if corpus is not None:
        settings = _with_index(settings, corpus, folder / "index", progress)
    policy = settings.policy
    open_exit = policy.profile.model_copy(update={"exit_below": 0.0})
    changed = policy.model_copy(update={"profile": open_exit, "cache_entries": 0})
    rag = open_rag(settings.model_copy(update={"policy": changed, "generator": settings.generator or NAME}))
    responses, known = [], {}
    try:
        for number, case in enumerate(cases):
            found = rag.assess(case.query, language=case.language)
            response = response_of(case, found)
            responses.append(response)
            known[response.key] = found
            progress("answer", number + 1, len(cases))
    finally:
        rag.close()
    return responses, known


def response_of(case: Case, found: Assessment) -> Response:
    """What the pipeline's generator said, as a recorded response."""
    return Response(
        case_id=case.id,
        system=SYSTEM,
        answer=found.answer,
        passages=tuple(kept.passage for kept in found.passages),
        rankings=found.rankings,
    )


def _with_index(settings: AssessSettings, corpus: Path, folder: Path, progress: _Tell) -> AssessSettings:
    from offline_eval.engines.embedder import open_embedder
    from offline_eval.formats.corpus import read_corpus
    from offline_eval.retrieval.index import build_index
    from offline_eval.retrieval.manifest import IndexSettings

    if settings.index is not None:
        raise UsageError("the config names an index already; leave out --corpus")
    name = settings.encoders.embedder
    names = settings.retrievers or (("bm25",) if name in (None, "scripted") else ("bm25", "dense"))
    needs_vectors = any(one not in ("bm25", "rank_bm25") for one in names)
    embedder = open_embedder(name) if needs_vectors and name is not None else None
    try:
        build_index(read_corpus(corpus), folder, settings=IndexSettings(), embedder=embedder, progress=progress)
    finally:
        if embedder is not None:
            embedder.close()
    return settings.model_copy(update={"index": folder, "retrievers": names})
