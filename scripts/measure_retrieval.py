"""Measure retrieval on public test collections: which analyzer, which retriever, with intervals and paired tests.

Run it with OFFLINE_EVAL_PUBLIC_DATA pointing at a folder with cranfield/, cmrc2018/ and xquad/. Results go to stdout.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from offline_eval.core.protocols import Embedder
from offline_eval.core.ranking import Qrels, RetrievalRun
from offline_eval.core.records import Passage
from offline_eval.formats import trec
from offline_eval.metrics.retrieval import compare_runs, evaluate_run, qrels_metric
from offline_eval.retrieval.analysis import AnalyzerSettings
from offline_eval.retrieval.bm25 import Bm25Settings
from offline_eval.retrieval.index import Index, build_index
from offline_eval.retrieval.manifest import IndexSettings
from offline_eval.retrieval.retrievers import open_retriever
from offline_eval.retrieval.run import run_retriever

METRICS = ("ndcg@10", "map", "mrr@10", "recall@10")
SEED = 0


def cranfield(folder: Path, *, by_position: bool) -> tuple[list[Passage], dict[str, str], Qrels]:
    """Abstracts, queries and judgements; the judgements count queries by their place in the file."""
    passages = list(trec.read_documents(folder / "cran.all.1400.xml"))
    queries = trec.read_topics(folder / "cran.qry.xml", by_position=by_position)
    return passages, queries, trec.read_qrels(folder / "cranqrel.trec.txt")


def squad_style(path: Path) -> tuple[list[Passage], dict[str, str], Qrels]:
    """Paragraphs as passages; each question's only relevant passage is its paragraph."""
    passages: list[Passage] = []
    queries: dict[str, str] = {}
    qrels: Qrels = {}
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            passage = Passage(id=f"p{len(passages)}", text=paragraph["context"], title=article.get("title") or None)
            passages.append(passage)
            for question in paragraph["qas"]:
                queries[question["id"]] = question["question"]
                qrels[question["id"]] = {passage.id: 1}
    return passages, queries, qrels


def search(
    data: tuple[list[Passage], dict[str, str], Qrels],
    retrievers: Sequence[str],
    settings: IndexSettings,
    embedder: Callable[[], Embedder],
) -> list[RetrievalRun]:
    """One run a retriever, 1,000 passages deep."""
    passages, queries, _ = data
    dense = any(name not in ("bm25", "rank_bm25") for name in retrievers)
    with tempfile.TemporaryDirectory() as folder:
        build_index(passages, Path(folder) / "index", settings=settings, embedder=embedder() if dense else None)
        index = Index(Path(folder) / "index")
        runs = [run_retriever(open_retriever(name, index, embedder=embedder), queries, k=1000) for name in retrievers]
        index.close()
    return runs


def report(title: str, runs: Sequence[RetrievalRun], qrels: Qrels) -> list[Any]:
    """Print one line a metric of every run."""
    evaluations = [evaluate_run(run, qrels, [qrels_metric(name) for name in METRICS], seed=SEED) for run in runs]
    for evaluation in evaluations:
        cells = []
        for estimate in evaluation.estimates:
            interval = estimate.interval
            bounds = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
            cells.append(f"{estimate.metric} {estimate.value:.3f}{bounds}")
        counted = f"{evaluation.estimates[0].n_scored}/{evaluation.estimates[0].n}"
        print(f"{title:<34} {evaluation.run:<16} {'  '.join(cells)}  n {counted}  missing {len(evaluation.missing)}")
    sys.stdout.flush()
    return evaluations


def report_comparison(evaluations: Sequence[Any]) -> None:
    """Print the paired differences from the first run."""
    for comparison in compare_runs(evaluations, seed=SEED):
        difference = comparison.paired.difference
        bounds = difference.interval
        shown = f"[{bounds.low:+.4f}, {bounds.high:+.4f}]" if bounds else difference.interval_reason
        p = "–" if comparison.adjusted_p is None else f"{comparison.adjusted_p:.4f}"
        pair = f"{comparison.candidate} against {comparison.baseline}"
        print(f"  {pair}, {comparison.metric}: {difference.value:+.4f} {shown}  p(Holm) {p}  {comparison.verdict}")


def analyzers() -> Iterator[tuple[str, AnalyzerSettings]]:
    """What can be chosen for English."""
    for stemmer in ("english", None):
        for stop_words in (False, True):
            name = f"stemmer {stemmer or 'none'}, stop words {'out' if stop_words else 'kept'}"
            yield name, AnalyzerSettings(stemmer=stemmer, stop_words=stop_words)


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("OFFLINE_EVAL_PUBLIC_DATA"))
    parser.add_argument("--embedder", default="all-minilm-l6-v2", help="a name or a folder; `none` leaves dense out")
    parser.add_argument("--only", choices=["cranfield", "chinese", "english"], help="one part")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say where the data is: --data FOLDER or OFFLINE_EVAL_PUBLIC_DATA")

    @cache
    def embedder() -> Embedder:
        from offline_eval.engines.embedder import open_embedder

        return open_embedder(arguments.embedder)

    data: Path = arguments.data
    if arguments.only in (None, "cranfield"):
        abstracts = cranfield(data / "cranfield", by_position=True)
        for name, analyzer in analyzers():
            report(
                f"cranfield, {name}",
                search(abstracts, ["bm25"], IndexSettings(analyzer=analyzer), embedder),
                abstracts[2],
            )
        lucene = IndexSettings(bm25=Bm25Settings(k1=0.9, b=0.4))
        report("cranfield, k1 0.9, b 0.4", search(abstracts, ["bm25"], lucene, embedder), abstracts[2])
        wrong = cranfield(data / "cranfield", by_position=False)
        report("cranfield, by <num> (wrong)", search(wrong, ["bm25"], IndexSettings(), embedder), wrong[2])
    if arguments.only in (None, "chinese"):
        for name in ("cmrc2018/cmrc2018_dev.json", "xquad/xquad.zh.json"):
            chinese = squad_style(data / name)
            for cut in ("bigram", "jieba"):
                settings = IndexSettings(analyzer=AnalyzerSettings.model_validate({"chinese": cut}))
                report(f"{Path(name).stem}, {cut}", search(chinese, ["bm25"], settings, embedder), chinese[2])
    if arguments.only in (None, "english"):
        english = squad_style(data / "xquad/xquad.en.json")
        names = ["bm25"] if arguments.embedder == "none" else ["bm25", "dense", "hybrid", "hybrid_weighted"]
        evaluations = report("xquad.en", search(english, names, IndexSettings(), embedder), english[2])
        if len(evaluations) > 1:
            report_comparison(evaluations)


if __name__ == "__main__":
    main()
