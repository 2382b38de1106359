"""Corpora, queries, judgements and runs in other people's files; every bad line is named."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import DataError
from offline_eval.core.ranking import RetrievalRun
from offline_eval.formats.corpus import read_corpus, read_queries
from offline_eval.formats.trec import read_qrels, read_run, read_topics, write_qrels, write_run
from offline_eval.retrieval.questions import load_questions


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_jsonl_takes_usual_column_names_and_keeps_the_rest_as_metadata(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "corpus.jsonl",
        {"id": 7, "text": "one", "title": "T", "author": "A"},
        {"_id": "b", "contents": "two", "doc_id": "d"},
    )
    first, second = read_corpus(path)
    assert (first.id, first.title, first.metadata) == ("7", "T", {"author": "A"})
    assert (second.id, second.text, second.doc_id) == ("b", "two", "d")


def test_all_bad_rows_are_listed_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id": "a", "text": "ok"}\n{"id": "b"}\nnot json\n[1]\n{"text": "no id"}\n', encoding="utf-8")
    with pytest.raises(DataError) as caught:
        list(read_corpus(path))
    assert [problem.split(":")[1] for problem in caught.value.problems] == ["2", "3", "4", "5"]
    assert "no text (text, contents" in caught.value.problems[0]


def test_a_folder_of_markdown_and_text_uses_paths_as_ids_and_headings_as_titles(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "travel.md").write_text("# 差旅\n\n报销。", encoding="utf-8")
    (tmp_path / "plain.txt").write_bytes(b"\xef\xbb\xbfplain")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    found = list(read_corpus(tmp_path))
    assert [(passage.id, passage.title, passage.text) for passage in found] == [
        ("guide/travel.md", "差旅", "# 差旅\n\n报销。"),
        ("plain.txt", None, "plain"),
    ]


def test_a_parquet_file_is_read_row_by_row(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"doc_id": ["a", "b"], "text": ["one", None], "title": ["T", None], "n": [1, 2]})
    parquet.write_table(table, tmp_path / "corpus.parquet")
    with pytest.raises(DataError, match="row 2: no text"):
        list(read_corpus(tmp_path / "corpus.parquet"))
    parquet.write_table(table.slice(0, 1), tmp_path / "corpus.parquet")
    (passage,) = read_corpus(tmp_path / "corpus.parquet")
    assert (passage.id, passage.text, passage.metadata) == ("a", "one", {"n": 1})
    (tmp_path / "broken.parquet").write_bytes(b"no parquet")
    with pytest.raises(DataError, match="not a readable Parquet file"):
        list(read_corpus(tmp_path / "broken.parquet"))


def test_a_beir_folder_gives_corpus_queries_and_judgements(tmp_path: Path) -> None:
    lines(tmp_path / "corpus.jsonl", {"_id": "d1", "title": "T", "text": "one", "metadata": {"url": "x"}})
    lines(tmp_path / "queries.jsonl", {"_id": "q1", "text": "what?"}, {"_id": "q2", "text": "unjudged"})
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\n")
    (passage,) = read_corpus(tmp_path)
    assert (passage.id, passage.title, passage.metadata) == ("d1", "T", {"url": "x"})
    questions = load_questions(folder=tmp_path)
    assert questions.queries == {"q1": "what?"}
    assert questions.qrels == {"q1": {"d1": 2}}
    with pytest.raises(DataError, match=r"no such split; the folder has test"):
        load_questions(folder=tmp_path, split="dev")


TREC = """<DOC>
<DOCNO> d1 </DOCNO>
<TITLE>Wings &amp; flaps</TITLE>
<TEXT>
The <b>lift</b> of 5 &lt; 6.
</TEXT>
<TEXT>More.</TEXT>
</DOC>
<doc><docno>d2</docno><text></text></doc>
"""


def test_trec_documents_are_read_with_entities_and_several_texts(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "docs.gz", "wt") as stream:
        stream.write(TREC)
    first, second = read_corpus(tmp_path / "docs.gz")
    assert (first.id, first.title) == ("d1", "Wings & flaps")
    assert " ".join(first.text.split()) == "The lift of 5 < 6. More."
    assert (second.id, second.text) == ("d2", "")


def test_trec_documents_without_number_or_end_are_named(tmp_path: Path) -> None:
    path = tmp_path / "docs.sgml"
    path.write_text("<doc>\n<text>x</text>\n</doc>\n<doc>\n<docno>1</docno>\n")
    with pytest.raises(DataError) as caught:
        list(read_corpus(path))
    assert caught.value.problems == (
        f"{path}:1: <doc> without <docno>; every document needs an id",
        f"{path}:4: <doc> without </doc>; the file seems cut off",
    )


def test_topics_are_numbered_by_num_or_by_their_place(tmp_path: Path) -> None:
    path = tmp_path / "topics"
    path.write_text(
        "<top>\n<num> Number: 301\n<title> Topic: one\nmore\n<desc> Description:\nx\n</top>\n"
        "<top><num>7</num><title>two</title></top>"
    )
    assert read_topics(path) == {"301": "one more", "7": "two"}
    assert read_topics(path, by_position=True) == {"1": "one more", "2": "two"}
    assert read_queries(path) == {"301": "one more", "7": "two"}


def test_queries_come_from_jsonl_or_tab_separated_lines(tmp_path: Path) -> None:
    assert read_queries(lines(tmp_path / "q.jsonl", {"id": 1, "question": "报销？"})) == {"1": "报销？"}
    (tmp_path / "q.tsv").write_text("1\twhat is lift\n2\tnext\n")
    assert read_queries(tmp_path / "q.tsv") == {"1": "what is lift", "2": "next"}
    (tmp_path / "bad.tsv").write_text("1 what\n2\tnext\n2\tagain\n")
    with pytest.raises(DataError) as caught:
        read_queries(tmp_path / "bad.tsv")
    assert len(caught.value.problems) == 2


def test_bad_judgements_are_all_listed(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("1 0 a 1\n1 0 a 2\n1 0 b x\n1 a 1\n")
    with pytest.raises(DataError) as caught:
        read_qrels(path)
    assert [problem.split(":")[1] for problem in caught.value.problems] == ["2", "3", "4"]


def test_bad_run_lines_are_all_listed_and_the_rank_column_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("1 Q0 a 1 0.5 mine\n1 Q0 b 2 0.9 mine\n")
    assert read_run(path).ranking("1") == ["b", "a"]
    assert read_run(path).name == "mine"
    path.write_text("1 Q0 a 1 nan x\n1 Q0 b 2 0.5 x\n1 Q0 b 3 0.4 x\nhello\n")
    with pytest.raises(DataError) as caught:
        read_run(path)
    assert [problem.split(":")[1] for problem in caught.value.problems] == ["1", "3", "4"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        (b"", "no judgements found"),
        (b"\x1f\x8bxx", "cannot be read"),
        (b"\xff\xfe1", "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_is_refused_by_name(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "qrels"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_qrels(path)


IDS = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5).filter(
    lambda text: not any(char.isspace() for char in text)
)
SCORES = st.dictionaries(
    IDS, st.dictionaries(IDS, st.floats(allow_nan=False, allow_infinity=False), min_size=1), min_size=1
)


@given(scores=SCORES)
def test_a_run_written_and_read_again_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, scores: dict[str, dict[str, float]]
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.trec"
    run = RetrievalRun(name="bm25", scores=scores)
    write_run(run, path)
    again = read_run(path)
    assert again == run
    assert all(again.ranking(query) == run.ranking(query) for query in scores)


def test_ids_with_white_space_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="white space"):
        write_run(RetrievalRun(name="x", scores={"a b": {"c": 1.0}}), tmp_path / "run")
    write_qrels({"q": {"b": 1, "a": 0}}, tmp_path / "qrels")
    assert read_qrels(tmp_path / "qrels") == {"q": {"a": 0, "b": 1}}
