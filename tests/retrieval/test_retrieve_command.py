"""`offline-eval retrieve` from end to end: data on stdout, notes on stderr, one message for every mistake."""

import csv
import io
import json
from pathlib import Path

import pytest
from retrieval_corpora import CHINESE

from offline_eval.cli.main import run_cli
from offline_eval.core.records import as_json

CASES = [
    {"id": "1", "query": "报销需要什么材料", "relevant_passages": {"travel": 1}},
    {"id": "2", "query": "请假提前几天申请", "relevant_passages": {"leave": 2, "travel": 0}},
    {"id": "3", "query": "门禁卡丢了找谁", "relevant_passages": {"card": 1}},
    {"id": "4", "query": "火星的卫星", "relevant_passages": {"meal": 1}},
    {"id": "5", "query": "餐补多少", "relevant_passages": {}},
]


@pytest.fixture
def work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    rows = [as_json(passage) for passage in CHINESE]
    for name, content in (("corpus.jsonl", rows), ("cases.jsonl", CASES)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert run_cli(["retrieve", "index", str(tmp_path / "corpus.jsonl"), "--out", str(tmp_path / "index")]) == 0
    capsys.readouterr()
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run_cli(["retrieve", *map(str, arguments)])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err


def test_search_prints_passages_with_their_terms_marked_and_states_the_order(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = call(capsys, "search", "报销材料", "--index", work / "index", "--corpus", work / "corpus.jsonl")
    assert code == 0
    assert "travel" in out
    assert "[报销]" in out
    assert "score descending, then id ascending" in err
    code, out, _ = call(capsys, "search", "报销材料", "--index", work / "index", "--format", "json")
    (first, *_) = json.loads(out)
    assert [first["text"][start:end] for start, end in first["terms"]] == ["报销", "材料"]


def test_search_for_cases_prints_responses_that_can_be_read_back(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from offline_eval.formats.reader import read_cases, read_responses

    code, out, _ = call(
        capsys, "search", "--cases", work / "cases.jsonl", "--index", work / "index", "-k", 2,
        "--retriever", "bm25", "--retriever", "rank_bm25",
    )  # fmt: skip
    assert code == 0
    (work / "responses.jsonl").write_text(out, encoding="utf-8")
    responses = read_responses(work / "responses.jsonl", cases=read_cases(work / "cases.jsonl"))
    assert [response.case_id for response in responses] == ["1", "2", "3", "4", "5"]
    assert responses[0].passages[0].id == "travel"
    assert responses[0].rankings["bm25"] == responses[0].rankings["rank_bm25"]


def test_eval_over_cases_counts_every_query_in_each_format(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("eval", "--cases", work / "cases.jsonl", "--index", work / "index", "--retriever", "bm25")
    code, out, err = call(capsys, *arguments, "--metric", "mrr@10", "--metric", "hit@5", "--format", "jsonl")
    mrr, hit = (json.loads(line) for line in out.splitlines())
    assert code == 0
    assert (mrr["metric"], mrr["value"], mrr["n_scored"], mrr["n_not_applicable"]) == ("mrr@10", 0.75, 4, 1)
    assert hit["value"] == 0.75  # queries 1 to 3 of the four that can be scored
    assert "1 queries without a relevant id, not applicable: 5" in err
    code, out, _ = call(capsys, *arguments, "--format", "csv")
    assert [row["metric"] for row in csv.DictReader(io.StringIO(out))] == [
        "hit@5", "recall@10", "precision@5", "mrr@10", "ndcg@10", "map",
    ]  # fmt: skip
    code, out, _ = call(capsys, *arguments, "--format", "md", "--metric", "map")
    assert out.splitlines()[0] == "| run | metric | value | low | high | n_scored | n |"
    code, out, _ = call(capsys, *arguments, "--metric", "map", "--per-query", "--format", "json")
    assert {row["query_id"]: row["map"] for row in json.loads(out)} == {
        "1": 1.0,
        "2": 1.0,
        "3": 1.0,
        "4": 0.0,
        "5": None,
    }
    code, out, _ = call(capsys, *arguments, "--failed", "--format", "json")
    assert [(row["query"], row["wanted"], row["came_instead"]) for row in json.loads(out)] == [
        ("火星的卫星", ["meal"], [])
    ]


def test_a_saved_run_scores_the_same_and_gaps_are_listed(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(
        capsys, "eval", "--cases", work / "cases.jsonl", "--index", work / "index", "--retriever", "bm25",
        "--save-runs", work / "runs",
    )  # fmt: skip
    run = work / "runs" / "bm25.trec"
    run.write_text(run.read_text(encoding="utf-8") + "extra Q0 travel 1 1.0 bm25\n", encoding="utf-8")
    (work / "qrels").write_text("1 0 travel 1\n2 0 leave 2\n3 0 card 1\nlost 0 meal 1\n")
    code, out, err = call(
        capsys, "eval", "--run", run, "--qrels", work / "qrels", "--metric", "mrr@10", "--format", "jsonl"
    )
    assert code == 0
    assert json.loads(out)["value"] == 0.75
    assert "1 judged queries not in the run, counted 0: lost" in err
    assert "queries nobody judged, ignored: 5, extra" in err
    _, out, err = call(
        capsys, "eval", "--run", run, "--qrels", work / "qrels", "--metric", "mrr@10", "--format", "jsonl",
        "--like", "trec_eval",
    )  # fmt: skip
    assert json.loads(out)["value"] == 1.0
    assert "left out (--missing skip): lost" in err
    assert "id descending" in err


def test_compare_and_consensus_of_two_recorded_runs(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queries = [str(number) for number in range(12)]
    (work / "good").write_text("".join(f"{q} Q0 d{q} 1 2 x\n{q} Q0 other 2 1 x\n" for q in queries))
    (work / "bad").write_text(
        "".join(f"{q} Q0 other 1 2 x\n{q} Q0 {'d' + q if int(q) % 3 else 'no'} 2 1 x\n" for q in queries)
    )
    (work / "qrels").write_text("".join(f"{q} 0 d{q} 1\n" for q in queries))
    runs = ("--run", f"bad={work / 'bad'}", "--run", f"good={work / 'good'}")
    code, out, _ = call(
        capsys,
        "compare",
        *runs,
        "--qrels",
        work / "qrels",
        "--metric",
        "mrr@10",
        "--metric",
        "hit@1",
        "--format",
        "json",
    )
    assert code == 0
    mrr, hit = json.loads(out)
    # bad: rank 2 for 8 of 12 queries, nothing for 4: (8 * 1/2) / 12 = 1/3; good: 1
    assert mrr["difference"] == pytest.approx(2 / 3)
    assert (mrr["wins"], mrr["losses"], mrr["verdict"]) == (12, 0, "better")
    assert hit["p_holm"] >= hit["p"]
    code, out, err = call(capsys, "consensus", *runs, "-k", 2, "--low", 0.9, "--format", "json")
    assert code == 0
    assert [row["query_id"] for row in json.loads(out)] == ["0", "3", "6", "9"]  # share one of two
    assert "below 0.9: 4" in err


OVER = "{work}/cases.jsonl --index {work}/index --retriever bm25"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("search x", 2, "say which index to search: --index DIR"),
        ("search --index {work}/index", 2, "give a query, or --cases FILE"),
        ("search ？！ --index {work}/index", 2, "has no searchable word"),
        ("search x --index {work}", 3, "no index there"),
        ("search x --index {work}/index --retriever bm52", 2, "did you mean 'bm25'"),
        ("search x --index {work}/index --retriever dense", 2, "has no vectors"),
        ("search x --index {work}/index --corpus {work}/cases.jsonl", 3, "no text"),
        ("eval --cases {work}/cases.jsonl", 2, "say what to measure"),
        ("eval --retriever bm25 --index {work}/index", 2, "say where the questions are"),
        ("eval --run {work}/none --qrels {work}/none", 3, "no such file"),
        ("eval --cases {over} --metric ndgc@10", 2, "did you mean 'ndcg'"),
        ("compare --cases {over}", 2, "at least two"),
        ("consensus --cases {over}", 2, "two or more retrievers"),
        ("index {work}/none.jsonl --out {work}/new", 3, "no such file or folder"),
        ("index {work}/corpus.jsonl --out {work}/new --hnsw", 2, "--hnsw needs vectors"),
        ("index {work}/corpus.jsonl --out {work}/new --split sentence --overlap 900", 2, "at most half of size"),
        ("index {work}/corpus.jsonl --out {work}/new --embedder minilm", 2, "unknown model 'minilm'"),
    ],
)
def test_every_mistake_gets_one_message_and_its_exit_code(
    work: Path, capsys: pytest.CaptureFixture[str], arguments: str, code: int, message: str
) -> None:
    found, out, err = call(capsys, *arguments.replace("{over}", OVER).format(work=work).split())
    assert (found, out) == (code, "")
    assert message in err


def test_a_query_of_stop_words_alone_is_refused_where_they_are_left_out(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(capsys, "index", work / "corpus.jsonl", "--out", work / "stopped", "--stop-words", "--chinese", "jieba")
    code, _, err = call(capsys, "search", "什么 的", "--index", work / "stopped")
    assert code == 2
    assert "has no searchable word" in err
    (work / "stop.jsonl").write_text('{"id": "q", "query": "the of and", "relevant_passages": {"card": 1}}\n')
    code, out, err = call(
        capsys, "eval", "--cases", work / "stop.jsonl", "--index", work / "stopped", "--retriever", "bm25",
        "--metric", "hit@5", "--format", "jsonl",
    )  # fmt: skip
    assert json.loads(out)["value"] == 0.0
    assert "1 queries have no searchable word, so BM25 finds nothing for them: q" in err


def test_a_changed_corpus_makes_the_index_stale(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (work / "corpus.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"id": "new", "text": "新的一页"}\n')
    code, _, err = call(capsys, "search", "报销", "--index", work / "index", "--corpus", work / "corpus.jsonl")
    assert code == 3
    assert "stale, the corpus has changed" in err


def test_judgements_of_another_corpus_are_refused_instead_of_scored_as_zero(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = {"id": "1", "query": "报销需要什么材料", "relevant_passages": {"docs/travel.md": 1}}
    (work / "foreign.jsonl").write_text(json.dumps(foreign, ensure_ascii=False) + "\n", encoding="utf-8")
    options = ("--index", work / "index", "--retriever", "bm25", "--cases", work / "foreign.jsonl")
    code, out, told = call(capsys, "eval", *options)
    assert (code, out) == (3, "")
    assert "'docs/travel.md'" in told
    assert "--by" in told
