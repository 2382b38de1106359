"""What the `retrieve` commands have in common: their options, and what those options open."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import click
from pydantic import ValidationError

from offline_eval.cli.progress import Progress
from offline_eval.cli.rows import FORMATS
from offline_eval.core.errors import UsageError
from offline_eval.core.records import Record

Made = TypeVar("Made", bound=Record)
Decorated = TypeVar("Decorated", bound=Callable[..., Any])
EXISTING = click.Path(path_type=Path)


def format_option() -> Callable[[Decorated], Decorated]:
    """How to print."""
    return click.option(
        "--format",
        "format",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="How to print.",
    )


def index_options(function: Decorated) -> Decorated:
    """Which index to search, and with which models."""
    for option in (
        click.option(
            "--rerank-depth", type=click.IntRange(min=1), default=50, show_default=True, help="Passages it reads."
        ),
        click.option("--rerank", help="A cross-encoder that orders each query's first passages anew."),
        click.option("--embedder", help="The embedder, where it goes by another name here than when indexing."),
        click.option("--device", help="Where the embedder runs: cpu, cuda, … [default: the best one here]"),
        click.option("--corpus", type=EXISTING, help="Refuse the index unless it holds exactly this corpus."),
        click.option("--index", "index_folder", type=EXISTING, help="An index built with `retrieve index`."),
    ):
        function = option(function)
    return function


def run_options(function: Decorated) -> Decorated:
    """Which questions, and which retrievers or recorded runs."""
    for option in (
        click.option("--weight", "weights", type=float, multiple=True, help="Of BM25, then of dense, in a hybrid."),
        click.option("--depth", type=click.IntRange(min=1), default=1000, show_default=True, help="Passages fetched."),
        click.option("--by", "level", type=click.Choice(["passages", "documents"]), help="What the judged ids name."),
        click.option("--by-position", is_flag=True, help="Number TREC topics by their place in the file (Cranfield)."),
        click.option("--qrels", type=EXISTING, help="TREC qrels or a BEIR split file, gz too."),
        click.option("--queries", type=EXISTING, help="TREC topics, JSONL with id and query, or id<TAB>query lines."),
        click.option("--split", default="test", show_default=True, help="The BEIR split."),
        click.option("--beir", type=EXISTING, help="A BEIR folder: its queries and the judgements of --split."),
        click.option("--cases", type=EXISTING, help="Test cases; their expected ids are the judgements."),
        click.option("--run", "run_files", multiple=True, help="A TREC run file, as FILE or NAME=FILE; repeatable."),
        click.option(
            "--retriever", "retrievers", multiple=True, help="bm25, rank_bm25, dense, hnsw, hybrid, …; repeatable."
        ),
    ):
        function = option(function)
    return index_options(function)


def collect(source: dict[str, Any], *, judged: bool = True) -> tuple[Any, Any]:
    """Questions and runs as the shared options ask for them."""
    from offline_eval.retrieval.collect import RunRequest, collect_runs
    from offline_eval.retrieval.questions import Questions, load_questions

    names = ("cases", "queries", "qrels", "beir")
    if not judged and all(source[name] is None for name in names) and not source["retrievers"]:
        questions = Questions(queries={}, qrels={})
    else:
        questions = load_questions(
            cases=source["cases"],
            folder=source["beir"],
            split=source["split"],
            queries=source["queries"],
            qrels=source["qrels"],
            by_position=source["by_position"],
            level=source["level"],
        )
    request = checked(
        RunRequest,
        retrievers=source["retrievers"],
        run_files=source["run_files"],
        depth=source["depth"],
        weights=source["weights"],
        rerank_depth=source["rerank_depth"],
    )
    index = open_index(source["index_folder"], source["corpus"], required=bool(request.retrievers))
    embedder = embedder_of(index, source["embedder"], source["device"])
    scorer = scorer_named(source["rerank"], source["device"])
    with Progress() as progress:
        collected = collect_runs(
            request, questions, index=index, embedder=embedder, scorer=scorer, progress=progress.tell
        )
    return questions, collected


def open_index(folder: Path | None, corpus: Path | None, *, required: bool) -> Any:
    """Open an index, checked against a corpus where one is named; None without a folder.

    Raises:
        UsageError: It is required and no folder was given.
    """
    from offline_eval.formats.corpus import read_corpus
    from offline_eval.retrieval.index import Index

    if folder is None:
        if required:
            raise UsageError("say which index to search: --index DIR (build one with `offline-eval retrieve index`)")
        return None
    index = Index(folder)
    if corpus is not None:
        index.require_corpus(read_corpus(corpus))
    return index


def embedder_of(index: Any, name: str | None, device: str | None) -> Callable[[], Any]:
    """The embedder an index was built with, loaded at the first call."""

    @cache
    def load() -> Any:
        from offline_eval.engines.embedder import open_embedder

        part = index.manifest.dense
        if part is None:
            raise UsageError(f"{index.folder} has no vectors; build it again with --embedder NAME")
        return open_embedder(name or part.embedder, device=device)

    return load


def scorer_named(name: str | None, device: str | None) -> Callable[[], Any] | None:
    """A cross-encoder, loaded at the first call."""

    @cache
    def load() -> Any:
        from offline_eval.engines.pair_scorers import open_pair_scorer

        return open_pair_scorer(str(name), device=device)

    return None if name is None else load


def checked(kind: type[Made], **values: Any) -> Made:
    """A settings record, or one clear message."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        faults = [f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()]
        raise UsageError("; ".join(faults)) from None
