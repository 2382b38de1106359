"""On public test collections: the numbers of the reference tools, and Chinese that is really found."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import pytrec_eval
from retrieval_corpora import built

from offline_eval.core.ranking import Qrels, RetrievalRun
from offline_eval.core.records import Passage
from offline_eval.formats.trec import read_documents, read_qrels, read_run, read_topics, write_run
from offline_eval.metrics.retrieval import TREC_EVAL, EvalOptions, evaluate_run, qrels_metric
from offline_eval.retrieval.manifest import IndexSettings
from offline_eval.retrieval.run import run_retriever

DATA = os.environ.get("OFFLINE_EVAL_PUBLIC_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="OFFLINE_EVAL_PUBLIC_DATA is not set")
Collection = tuple[list[Passage], dict[str, str], Qrels]


def cranfield(*, by_position: bool) -> Collection:
    folder = Path(DATA or "") / "cranfield"
    queries = read_topics(folder / "cran.qry.xml", by_position=by_position)
    return list(read_documents(folder / "cran.all.1400.xml")), queries, read_qrels(folder / "cranqrel.trec.txt")


def paragraphs(name: str) -> Collection:
    passages: list[Passage] = []
    queries: dict[str, str] = {}
    qrels: Qrels = {}
    for article in json.loads((Path(DATA or "") / name).read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            passages.append(Passage(id=f"p{len(passages)}", text=paragraph["context"]))
            for question in paragraph["qas"]:
                queries[question["id"]] = question["question"]
                qrels[question["id"]] = {passages[-1].id: 1}
    return passages, queries, qrels


def bm25(collection: Collection, folder: Path) -> RetrievalRun:
    index = built(collection[0], folder, settings=IndexSettings())
    return run_retriever(index.bm25(), collection[1], k=1000)


def mean(run: RetrievalRun, qrels: Qrels, name: str) -> float:
    (estimate,) = evaluate_run(run, qrels, [qrels_metric(name)]).estimates
    assert estimate.value is not None
    return estimate.value


def test_cranfield_equals_pytrec_eval_query_by_query_and_survives_a_run_file(tmp_path: Path) -> None:
    collection = cranfield(by_position=True)
    run = bm25(collection, tmp_path / "index")
    write_run(run, tmp_path / "run.trec")
    run = read_run(tmp_path / "run.trec")
    names = {
        "map": "map", "ndcg@10": "ndcg_cut_10", "ndcg": "ndcg", "precision@5": "P_5", "recall@10": "recall_10",
        "hit@5": "success_5", "mrr": "recip_rank",
    }  # fmt: skip
    qrels = collection[2]
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(names.values())).evaluate(run.scores)
    ours = evaluate_run(run, qrels, [qrels_metric(name) for name in names], options=TREC_EVAL)
    for name, measure in names.items():
        expected = {query: row[measure] for query, row in theirs.items()}
        assert {score.cluster: score.value for score in ours.scores[name]} == pytest.approx(expected, abs=1e-9), name
    # Our tie rule moves single queries, the mean by next to nothing.
    for name in names:
        by_id = evaluate_run(run, qrels, [qrels_metric(name)], options=EvalOptions()).estimates[0].value
        assert by_id == pytest.approx(sum(row[names[name]] for row in theirs.values()) / len(theirs), abs=0.005)


def test_cranfield_scores_what_bm25_gives_there_and_collapses_when_queries_are_misnumbered(tmp_path: Path) -> None:
    collection = cranfield(by_position=True)
    assert mean(bm25(collection, tmp_path / "right"), collection[2], "map") == pytest.approx(0.307, abs=0.005)
    wrong = cranfield(by_position=False)
    assert mean(bm25(wrong, tmp_path / "wrong"), wrong[2], "map") < 0.02


@pytest.mark.parametrize("name", ["cmrc2018/cmrc2018_dev.json", "xquad/xquad.zh.json"])
def test_chinese_paragraphs_are_found(tmp_path: Path, name: str) -> None:
    collection = paragraphs(name)
    assert mean(bm25(collection, tmp_path / "index"), collection[2], "mrr@10") >= 0.95


def test_a_tokenizer_that_only_knows_white_space_finds_almost_nothing_in_chinese(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    white_space: Callable[..., list[str]] = lambda text, chinese: text.split()  # noqa: E731
    monkeypatch.setattr("offline_eval.retrieval.analysis.tokenize", white_space)
    collection = paragraphs("cmrc2018/cmrc2018_dev.json")
    assert mean(bm25(collection, tmp_path / "index"), collection[2], "mrr@10") < 0.1
