"""From settings to a pipeline that is ready: opens the index, the sources and the encoders that were named."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

from offline_eval.assess.extract import NAME, ExtractGenerator
from offline_eval.assess.pipeline import SelfAssessingRag
from offline_eval.assess.protocols import Encoders, Generator, PassageRetriever
from offline_eval.assess.service_settings import AssessSettings, EncoderNames
from offline_eval.assess.sources import (
    CallableGenerator,
    CallableRetriever,
    HttpGenerator,
    HttpRetriever,
    IndexRetriever,
)
from offline_eval.core.errors import UsageError
from offline_eval.core.protocols import Embedder, PairScorer
from offline_eval.core.records import Passage
from offline_eval.pipeline.systems import import_function

_SCRIPTED = "scripted"
_UNVERSIONED = "0"


def open_rag(settings: AssessSettings) -> SelfAssessingRag:
    """Open everything the settings name.

    Raises:
        UsageError: A source that is no index, mapping file or function.
        DataError: An index or mapping file that cannot be used.
        ModelError: An encoder that is not installed or altered.
        AirGapError: A host beyond this machine that is not allowed.
    """
    encoders = open_encoders(settings.encoders)
    return SelfAssessingRag(_retrievers(settings, encoders), _generator(settings), encoders, settings.policy)


def warm_up(rag: SelfAssessingRag) -> None:
    """Check one answer in each language, so that no caller waits for what is loaded on first use."""
    for text in ("The office opens at nine.", "办公室九点开门。"):
        rag.check(text, [Passage(id="warm-up", text=text)], text)


def open_encoders(names: EncoderNames) -> Encoders:
    """Load encoders by name; `scripted` is one without a model, for dry runs."""
    from offline_eval.engines.select import EngineOptions, open_encoder

    def options(name: str) -> EngineOptions:
        return EngineOptions(engine=_SCRIPTED if name == _SCRIPTED else "auto")

    support = None if names.support is None else open_encoder("nli", names.support, options(names.support))
    answers = names.answerability
    answerability = None if answers is None else open_encoder("answerability", answers, options(answers))
    embedder = None if names.embedder is None else open_encoder("embedder", names.embedder, options(names.embedder))
    return Encoders(
        support=cast(PairScorer | None, support),
        answerability=cast(PairScorer | None, answerability),
        embedder=cast(Embedder | None, embedder),
    )


def _retrievers(settings: AssessSettings, encoders: Encoders) -> list[PassageRetriever]:
    over_index: list[str] = []
    found: list[PassageRetriever] = []
    for name in settings.retrievers:
        version = settings.source_versions.get(name, _UNVERSIONED)
        if name.lower().endswith((".yaml", ".yml")):
            found.append(HttpRetriever(Path(name), allow_hosts=settings.allow_hosts, version=version))
        elif ":" in name:
            found.append(CallableRetriever(import_function(name), name=name, version=version))
        else:
            over_index.append(name)
    return [*_over_index(settings, over_index, encoders), *found]


def _over_index(settings: AssessSettings, names: list[str], encoders: Encoders) -> list[PassageRetriever]:
    from offline_eval.retrieval.index import Index
    from offline_eval.retrieval.retrievers import check_names, open_retriever

    check_names(names)
    if not names:
        return []
    if settings.index is None:
        raise UsageError(f"retrievers {', '.join(names)} need an index; name its folder as `index`")
    index = Index(settings.index)
    embedder = _embedder_of(encoders)
    return [
        IndexRetriever(open_retriever(name, index, embedder=embedder), index.store, version=index.manifest.corpus_hash)
        for name in names
    ]


def _embedder_of(encoders: Encoders) -> Callable[[], Embedder]:
    """The encoders' own embedder, so that it is loaded once."""

    @cache
    def embedder() -> Embedder:
        if encoders.embedder is None:
            raise UsageError("dense retrieval needs an embedder; name one under `encoders`")
        return encoders.embedder

    return embedder


def _generator(settings: AssessSettings) -> Generator | None:
    name = settings.generator
    if name is None:
        return None
    if name == NAME:
        return ExtractGenerator()
    version = settings.source_versions.get(name, _UNVERSIONED)
    if name.lower().endswith((".yaml", ".yml")):
        return HttpGenerator(Path(name), allow_hosts=settings.allow_hosts, version=version)
    if ":" in name:
        return CallableGenerator(import_function(name), name=name, version=version)
    raise UsageError(
        f"generator {name!r}: expected `{NAME}`, a mapping file ending in .yaml, or package.module:function"
    )
