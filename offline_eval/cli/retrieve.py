"""`offline-eval retrieve`: build an index, search it, and measure, compare and cross-check retrievers."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from offline_eval.cli.progress import Progress
from offline_eval.cli.retrieve_options import (
    EXISTING,
    checked,
    collect,
    embedder_of,
    format_option,
    index_options,
    open_index,
    run_options,
    scorer_named,
)
from offline_eval.cli.retrieve_views import (
    COMPARISON_COLUMNS,
    ESTIMATE_COLUMNS,
    INDEX_COLUMNS,
    agreement_rows,
    agreement_summary,
    comparison_rows,
    estimate_rows,
    evaluation_notes,
    failed_rows,
    hit_rows,
    index_rows,
    query_rows,
)
from offline_eval.cli.rows import RowFormat, print_rows
from offline_eval.core.errors import UsageError
from offline_eval.core.ranking import TIE_RULE

DEFAULT_METRICS = ("hit@5", "recall@10", "precision@5", "mrr@10", "ndcg@10", "map")


@click.group(name="retrieve")
def command() -> None:
    """Index a corpus, search it, and measure retrievers with numbers that match trec_eval."""


@command.command("index")
@click.argument("corpus", type=EXISTING)
@click.option("--out", "folder", type=EXISTING, required=True, help="Folder of the index; an older index is replaced.")
@click.option("--split", "by", type=click.Choice(["none", "sentence", "heading"]), default="none", show_default=True)
@click.option("--size", type=int, default=1000, show_default=True, help="Longest passage, in characters.")
@click.option("--overlap", type=int, default=100, show_default=True, help="Characters repeated, in whole sentences.")
@click.option("--chinese", type=click.Choice(["bigram", "jieba"]), default="bigram", show_default=True)
@click.option("--stemmer", default="english", show_default=True, help="Snowball language, or `none`.")
@click.option("--stop-words", is_flag=True, help="Leave function words of English and Chinese out.")
@click.option("--k1", type=float, default=1.5, show_default=True, help="BM25's k1.")
@click.option("--b", type=float, default=0.75, show_default=True, help="BM25's b.")
@click.option("--embedder", help="Also index vectors of this model, for example all-minilm-l6-v2.")
@click.option("--hnsw", is_flag=True, help="Also build an HNSW graph over the vectors.")
@click.option("--device", help="Where the embedder runs: cpu, cuda, …")
@format_option()
def index_command(
    corpus: Path,
    folder: Path,
    by: str,
    size: int,
    overlap: int,
    chinese: str,
    stemmer: str,
    stop_words: bool,
    k1: float,
    b: float,
    embedder: str | None,
    hnsw: bool,
    device: str | None,
    format: RowFormat,
) -> None:
    """Build an index of CORPUS (JSONL, Parquet, BEIR folder, TREC file, or a folder of Markdown and text)."""
    from offline_eval.engines.embedder import open_embedder
    from offline_eval.formats.corpus import read_corpus
    from offline_eval.retrieval.index import build_index
    from offline_eval.retrieval.manifest import IndexSettings

    settings = checked(
        IndexSettings,
        split={"by": by, "size": size, "overlap": overlap},
        analyzer={"chinese": chinese, "stemmer": None if stemmer == "none" else stemmer, "stop_words": stop_words},
        bm25={"k1": k1, "b": b},
        hnsw={} if hnsw else None,
    )
    if hnsw and embedder is None:
        raise UsageError("--hnsw needs vectors; add --embedder NAME")
    model = open_embedder(embedder, device=device) if embedder else None
    with Progress() as progress:
        manifest = build_index(
            read_corpus(corpus),
            folder,
            settings=settings,
            embedder=model,
            languages=model.languages if model else ("*",),
            progress=progress.tell,
        )
    print_rows(index_rows(manifest, str(folder)), format, columns=INDEX_COLUMNS if format in ("table", "md") else ())


@command.command("search")
@click.argument("query", nargs=-1)
@click.option(
    "--cases", type=EXISTING, help="Search for every case and print responses for `offline-eval run` (JSONL)."
)
@click.option("--retriever", "retrievers", multiple=True, help="bm25 (default), rank_bm25, dense, hnsw, hybrid, …")
@click.option("-k", type=click.IntRange(min=1), default=10, show_default=True, help="Passages for each query.")
@click.option("--weight", "weights", type=float, multiple=True, help="Of BM25, then of dense, in a hybrid.")
@index_options
@format_option()
def search_command(
    query: tuple[str, ...],
    cases: Path | None,
    retrievers: tuple[str, ...],
    k: int,
    weights: tuple[float, ...],
    index_folder: Path | None,
    corpus: Path | None,
    embedder: str | None,
    rerank: str | None,
    rerank_depth: int,
    device: str | None,
    format: RowFormat,
) -> None:
    """Search for QUERY and show the passages with the matching terms marked; or for --cases, as responses."""
    from offline_eval.retrieval.retrievers import LEXICAL, check_names, open_retriever

    names = retrievers or ("bm25",)
    text = " ".join(query)
    if bool(text.strip()) == (cases is not None):
        raise UsageError("give a query, or --cases FILE")
    check_names(names)
    index = open_index(index_folder, corpus, required=True)
    load = embedder_of(index, embedder, device)
    scorer = scorer_named(rerank, device)
    opened = [
        open_retriever(name, index, embedder=load, weights=weights, scorer=scorer, rerank_depth=rerank_depth)
        for name in names
    ]
    if cases is not None:
        _print_responses(cases, opened, index, k)
        return
    if LEXICAL.issuperset(names) and not index.analyzer.tokens(text):
        raise UsageError(f"the query {text!r} has no searchable word (only stop-words or marks); add a content word")
    mark = {"table": ("[", "]"), "md": ("**", "**")}.get(format)
    rows = [
        row
        for retriever in opened
        for row in hit_rows(retriever.search([text], k=k)[0], text, index, retriever=retriever.name, mark=mark)
    ]
    _say([f"order: {TIE_RULE}"] if rows else ["nothing found: no passage shares a term with the query"])
    columns = ("retriever", "rank", "score", "passage_id", "title", "text")
    print_rows(rows, format, columns=columns if mark else ())


@command.command("eval")
@run_options
@click.option("--metric", "metrics", multiple=True, help="Such as ndcg@10 or recall(rel=2)@10; repeatable.")
@click.option("--per-query", is_flag=True, help="One row a query instead of means.")
@click.option("--failed", is_flag=True, help="List queries nothing relevant came back for, with what came instead.")
@click.option(
    "--like", type=click.Choice(["ours", "trec_eval"]), default="ours", show_default=True, help="All three rules."
)
@click.option("--ties", type=click.Choice(["id_ascending", "trec_eval"]), help="Order of equal scores.")
@click.option("--missing", type=click.Choice(["zero", "skip"]), help="Judged queries that the run lacks.")
@click.option("--no-relevant", type=click.Choice(["not_applicable", "zero"]), help="Queries without a relevant id.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the intervals.")
@click.option("--save-runs", type=EXISTING, help="Folder for the runs as TREC files.")
@format_option()
def eval_command(
    metrics: tuple[str, ...],
    per_query: bool,
    failed: bool,
    like: str,
    ties: str | None,
    missing: str | None,
    no_relevant: str | None,
    seed: int,
    save_runs: Path | None,
    format: RowFormat,
    **source: Any,
) -> None:
    """Score retrievers or recorded runs against judgements, with intervals."""
    from offline_eval.formats.trec import write_runs
    from offline_eval.metrics.retrieval import TREC_EVAL, EvalOptions

    chosen = {"ties": ties, "missing": missing, "no_relevant": no_relevant}
    base = (TREC_EVAL if like == "trec_eval" else EvalOptions()).model_dump()
    options = EvalOptions.model_validate({**base, **{name: value for name, value in chosen.items() if value}})
    questions, collected = collect(source)
    evaluations = _evaluate(questions, collected, metrics or DEFAULT_METRICS, options=options, seed=seed)
    if save_runs is not None:
        write_runs(collected.runs, save_runs)
    _say([*collected.notes, *(note for evaluation in evaluations for note in evaluation_notes(evaluation))])
    if per_query:
        print_rows(query_rows(evaluations), format)
    elif failed:
        print_rows([row for item in evaluations for row in failed_rows(item, questions.queries)], format)
    else:
        print_rows(estimate_rows(evaluations), format, columns=ESTIMATE_COLUMNS if format in ("table", "md") else ())


@command.command("compare")
@run_options
@click.option("--metric", "metrics", multiple=True, help="Such as ndcg@10; repeatable.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of intervals and tests.")
@format_option()
def compare_command(metrics: tuple[str, ...], seed: int, format: RowFormat, **source: Any) -> None:
    """Compare retrievers or runs with the first one: paired differences, p corrected over all comparisons (Holm)."""
    from offline_eval.metrics.retrieval import EvalOptions, compare_runs

    questions, collected = collect(source)
    evaluations = _evaluate(questions, collected, metrics or ("ndcg@10",), options=EvalOptions(), seed=seed)
    comparisons = compare_runs(evaluations, seed=seed)
    _say([*collected.notes, *(note for evaluation in evaluations for note in evaluation_notes(evaluation))])
    columns = COMPARISON_COLUMNS if format in ("table", "md") else ()
    print_rows(comparison_rows(comparisons), format, columns=columns)


@command.command("consensus")
@run_options
@click.option("-k", "cutoff", type=click.IntRange(min=1), default=10, show_default=True, help="Ranks compared.")
@click.option("--low", type=click.FloatRange(0, 1), default=0.2, show_default=True, help="List queries below this.")
@click.option("--all", "every", is_flag=True, help="List every query, not only those with low consensus.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the interval.")
@format_option()
def consensus_command(cutoff: int, low: float, every: bool, seed: int, format: RowFormat, **source: Any) -> None:
    """Show how far retrievers agree on the first k passages, and the queries on which they do not."""
    from offline_eval.metrics.retrieval import agreement_of

    questions, collected = collect(source, judged=False)
    agreement = agreement_of(collected.runs, cutoff=cutoff, low=low, seed=seed)
    summary = agreement_summary(agreement)
    interval = "no interval" if summary["low"] is None else f"{summary['low']:.3g}–{summary['high']:.3g}"
    value = "undefined" if summary["value"] is None else f"{summary['value']:.3g}"
    _say(
        [
            *collected.notes,
            f"{summary['metric']} of {summary['run']}: {value} ({interval}), {summary['n_scored']} of {summary['n']} "
            f"queries; below {low:g}: {len(agreement.low)}",
        ]
    )
    rows = agreement_rows(agreement, questions.queries)
    print_rows([row for row in rows if every or row["low"]], format)


def _evaluate(questions: Any, collected: Any, metrics: Sequence[str], *, options: Any, seed: int) -> list[Any]:
    from offline_eval.metrics.retrieval import evaluate_run, qrels_metric

    chosen = [qrels_metric(name) for name in metrics]
    return [evaluate_run(run, questions.qrels, chosen, options=options, seed=seed) for run in collected.runs]


def _print_responses(cases: Path, retrievers: Sequence[Any], index: Any, k: int) -> None:
    from offline_eval.core.records import as_json
    from offline_eval.formats.reader import read_cases
    from offline_eval.retrieval.run import responses_of, run_retriever

    asked = read_cases(cases)
    queries = {case.id: case.query for case in asked}
    with Progress() as progress:
        runs = [run_retriever(item, queries, k=k, progress=partial(progress.tell, item.name)) for item in retrievers]
    print_rows([as_json(response) for response in responses_of(asked, runs, index.store)], "jsonl")


def _say(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(note, err=True)
