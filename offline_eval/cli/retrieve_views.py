"""Retrieval results as rows for printing: records in, rows out."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from offline_eval.core.protocols import Hit
from offline_eval.core.results import Estimate
from offline_eval.metrics.retrieval import Agreement, RunComparison, RunEvaluation
from offline_eval.retrieval.highlight import term_spans
from offline_eval.retrieval.index import Index
from offline_eval.retrieval.manifest import Manifest

_SHOWN = 300
"""Characters of a passage in a table; JSON has the whole text."""

_BEFORE_TERM = 60

View = dict[str, JsonValue]


def index_rows(manifest: Manifest, folder: str) -> list[View]:
    """One row about a built index."""
    part = manifest.dense
    recall = part.graph_recall if part else None
    return [
        {
            "index": folder,
            "passages": manifest.n_passages,
            "documents": manifest.n_documents,
            "bytes": sum(entry.bytes for entry in manifest.files.values()),
            "embedder": part.embedder if part else None,
            "dimension": part.dimension if part else None,
            "hnsw_recall": recall.recall if recall else None,
            "corpus_hash": manifest.corpus_hash,
            "analyzer_hash": manifest.analyzer_hash,
        }
    ]


def hit_rows(
    hits: Sequence[Hit], query: str, index: Index, *, retriever: str, mark: tuple[str, str] | None
) -> list[View]:
    """One row a hit, with the places of the query's terms in its text.

    Args:
        hits: Best first.
        query: What was searched for.
        index: Where the passages are.
        retriever: Its name.
        mark: For people: text cut to an excerpt, terms between these marks. None: the whole text.
    """
    rows: list[View] = []
    for rank, hit in enumerate(hits, start=1):
        passage = index.store.get(hit.passage_id)
        spans = term_spans(passage.text, query, index.analyzer)
        rows.append(
            {
                "retriever": retriever,
                "rank": rank,
                "score": hit.score,
                "passage_id": hit.passage_id,
                "doc_id": passage.doc_id,
                "title": passage.title,
                "text": passage.text if mark is None else excerpt(passage.text, spans, mark=mark),
                "terms": [list(span) for span in spans],
            }
        )
    return rows


def excerpt(text: str, spans: Sequence[tuple[int, int]], *, mark: tuple[str, str]) -> str:
    """The part of a text around its first term, with the terms marked; `…` where something is left out.

    Args:
        text: The passage.
        spans: `(start, end)` of its terms, ascending.
        mark: Put before and after a term.
    """
    begin = max(0, spans[0][0] - _BEFORE_TERM) if spans and len(text) > _SHOWN else 0
    end = min(len(text), begin + _SHOWN)
    pieces = ["… "] if begin else []
    at = begin
    for start, stop in spans:
        if start >= end:
            break
        pieces += [text[at:start], mark[0], text[start : min(stop, end)], mark[1]]
        at = min(stop, end)
    pieces.append(text[at:end])
    if end < len(text):
        pieces.append(" …")
    return " ".join("".join(pieces).split())


def estimate_rows(evaluations: Sequence[RunEvaluation]) -> list[View]:
    """One row a run and metric."""
    return [_estimate_row(estimate) for evaluation in evaluations for estimate in evaluation.estimates]


def query_rows(evaluations: Sequence[RunEvaluation]) -> list[View]:
    """One row a run and query, with a column a metric."""
    rows: list[View] = []
    for evaluation in evaluations:
        by_query: dict[str, View] = {}
        for metric, scores in evaluation.scores.items():
            for score in scores:
                row = by_query.setdefault(score.cluster, {"run": evaluation.run, "query_id": score.cluster})
                row[metric] = score.value
        rows.extend(by_query.values())
    return rows


def failed_rows(evaluation: RunEvaluation, queries: Mapping[str, str]) -> Iterator[View]:
    """One row a failed query: what was wanted, what came instead."""
    for failed in evaluation.failed:
        yield {
            "run": evaluation.run,
            "query_id": failed.query_id,
            "query": queries.get(failed.query_id),
            "wanted": list(failed.wanted),
            "came_instead": list(failed.retrieved),
            "missing": failed.missing,
        }


def evaluation_notes(evaluation: RunEvaluation) -> list[str]:
    """What a reader must know about a run's numbers, one sentence each."""
    options = evaluation.options
    notes = [f"{evaluation.run}: ties by {options.tie_rule}"]
    if evaluation.missing:
        fate = "counted 0" if options.missing == "zero" else "left out (--missing skip)"
        ids = _ids(evaluation.missing)
        notes.append(f"{evaluation.run}: {len(evaluation.missing)} judged queries not in the run, {fate}: {ids}")
    if evaluation.ignored:
        notes.append(
            f"{evaluation.run}: {len(evaluation.ignored)} queries nobody judged, ignored: {_ids(evaluation.ignored)}"
        )
    if evaluation.missing and evaluation.ignored:
        notes.append(
            f"{evaluation.run}: run and judgements number some queries differently; TREC topics whose judgements count "
            "by the place in the file need --by-position"
        )
    if evaluation.without_relevant:
        fate = "not applicable" if options.no_relevant == "not_applicable" else "counted 0"
        notes.append(
            f"{evaluation.run}: {len(evaluation.without_relevant)} queries without a relevant id, {fate}: "
            f"{_ids(evaluation.without_relevant)}"
        )
    return notes


def comparison_rows(comparisons: Sequence[RunComparison]) -> list[View]:
    """One row a comparison."""
    rows: list[View] = []
    for comparison in comparisons:
        paired = comparison.paired
        interval = paired.difference.interval
        rows.append(
            {
                "metric": comparison.metric,
                "baseline": comparison.baseline,
                "candidate": comparison.candidate,
                "baseline_mean": paired.baseline_mean,
                "candidate_mean": paired.candidate_mean,
                "difference": paired.difference.value,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                "wins": paired.wins,
                "ties": paired.ties,
                "losses": paired.losses,
                "p": paired.p,
                "p_holm": comparison.adjusted_p,
                "smallest_difference": paired.smallest_difference,
                "verdict": comparison.verdict,
                "test": paired.p_method,
                "interval_reason": paired.difference.interval_reason,
            }
        )
    return rows


COMPARISON_COLUMNS = (
    "metric",
    "baseline",
    "candidate",
    "baseline_mean",
    "candidate_mean",
    "difference",
    "low",
    "high",
    "wins",
    "ties",
    "losses",
    "p_holm",
    "verdict",
)
INDEX_COLUMNS = ("index", "passages", "documents", "bytes", "embedder", "dimension", "hnsw_recall")
ESTIMATE_COLUMNS = ("run", "metric", "value", "low", "high", "n_scored", "n")


def agreement_rows(agreement: Agreement, queries: Mapping[str, str]) -> list[View]:
    """One row a query, lowest consensus first."""
    ordered = sorted(agreement.scores, key=lambda score: (score.value is None, score.value or 0.0, score.cluster))
    low = set(agreement.low)
    return [
        {
            "query_id": score.cluster,
            "query": queries.get(score.cluster),
            score.metric: score.value,
            "low": score.cluster in low,
        }
        for score in ordered
    ]


def agreement_summary(agreement: Agreement) -> View:
    """The mean over queries."""
    return _estimate_row(agreement.estimate)


def _estimate_row(estimate: Estimate) -> View:
    interval = estimate.interval
    return {
        "run": estimate.system,
        "metric": estimate.metric,
        "value": estimate.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "n_scored": estimate.n_scored,
        "n": estimate.n,
        "n_not_applicable": estimate.n_not_applicable,
        "n_failed": estimate.n_failed,
        "interval_method": interval.method if interval else None,
        "interval_reason": estimate.interval_reason,
        "level": interval.level if interval else None,
        "seed": interval.seed if interval else None,
    }


def _ids(ids: Sequence[str], shown: int = 10) -> str:
    rest = f" and {len(ids) - shown:,} more" if len(ids) > shown else ""
    return ", ".join(ids[:shown]) + rest
