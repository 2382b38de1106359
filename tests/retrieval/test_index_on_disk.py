"""An index on disk: complete or not there, mapped, free of pickle, and refused when stale, foreign or damaged."""

import json
import mmap
from pathlib import Path

import numpy as np
import pytest
from retrieval_corpora import CHINESE, ENGLISH, HashedWords, built

from offline_eval.core.errors import DataError, ModelError, UsageError
from offline_eval.core.records import Passage
from offline_eval.retrieval.analysis import Analyzer, AnalyzerSettings
from offline_eval.retrieval.dense import HnswSettings
from offline_eval.retrieval.index import Index, build_index
from offline_eval.retrieval.manifest import IndexSettings
from offline_eval.retrieval.splitter import SplitSettings

HNSW = IndexSettings(hnsw=HnswSettings())


def test_a_reopened_index_finds_the_same_with_the_same_scores(tmp_path: Path) -> None:
    first = built(ENGLISH, tmp_path / "index", embedder=HashedWords(), settings=HNSW)
    again = Index(tmp_path / "index")
    for name in ("bm25", "dense", "hnsw"):
        one, two = (
            (index.bm25() if name == "bm25" else getattr(index, name)(HashedWords())).search(["lift of wings"], k=4)
            for index in (first, again)
        )
        assert one == two, name


def test_building_twice_gives_the_same_files(tmp_path: Path) -> None:
    one = built(ENGLISH, tmp_path / "one", embedder=HashedWords(), settings=HNSW)
    two = built(ENGLISH, tmp_path / "two", embedder=HashedWords(), settings=HNSW)
    assert one.manifest == two.manifest


def test_arrays_are_mapped_and_no_file_holds_a_pickle(tmp_path: Path) -> None:
    index = built(ENGLISH, tmp_path / "index", embedder=HashedWords(), settings=HNSW)
    at_the_bottom: object = index.vectors
    while isinstance(at_the_bottom, np.ndarray):
        at_the_bottom = at_the_bottom.base
    assert isinstance(at_the_bottom, mmap.mmap)
    for path in (tmp_path / "index").rglob("*.npy"):
        np.load(path, allow_pickle=False)
    suffixes = {path.suffix for path in (tmp_path / "index").rglob("*") if path.is_file()}
    assert suffixes == {".npy", ".json", ".jsonl", ".hnsw"}


def test_the_corpus_hash_does_not_depend_on_the_order_but_on_every_character() -> None:
    from offline_eval.retrieval.passage_store import corpus_hash

    assert corpus_hash(ENGLISH) == corpus_hash(ENGLISH[::-1])
    changed = [ENGLISH[0].model_copy(update={"title": "x"}), *ENGLISH[1:]]
    assert corpus_hash(changed) != corpus_hash(ENGLISH)


def test_a_stale_index_is_refused(tmp_path: Path) -> None:
    index = built(ENGLISH, tmp_path / "index", settings=IndexSettings(split=SplitSettings(by="sentence")))
    index.require_corpus(ENGLISH)
    with pytest.raises(DataError, match="stale, the corpus has changed"):
        index.require_corpus(ENGLISH[1:])


def test_vectors_of_another_embedder_or_dimension_are_refused(tmp_path: Path) -> None:
    index = built(ENGLISH, tmp_path / "index", embedder=HashedWords())
    with pytest.raises(ModelError, match="come from hashed-words-a, not from hashed-words-b"):
        index.dense(HashedWords(seed="b"))
    with pytest.raises(ModelError, match="come from hashed-words-a"):
        index.dense(HashedWords(dimension=32))


def test_vectors_of_the_wrong_dimension_on_disk_are_refused(tmp_path: Path) -> None:
    index = built(ENGLISH, tmp_path / "index", embedder=HashedWords())
    object.__setattr__(index.manifest.dense, "dimension", 32)
    with pytest.raises(DataError, match=r"vectors of shape \(4, 64\), expected \(4, 32\)"):
        index.dense(HashedWords())


def test_a_query_vector_of_another_dimension_is_refused() -> None:
    from offline_eval.retrieval.dense import flat_search

    with pytest.raises(ModelError, match="vectors of 3 dimensions, the index holds 4"):
        flat_search(np.eye(4, dtype=np.float32))(np.ones((1, 3), dtype=np.float32), 1)


def test_an_index_without_vectors_or_graph_says_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no vectors; build the index again with --embedder"):
        built(ENGLISH, tmp_path / "words").dense(HashedWords())
    with pytest.raises(DataError, match="has no HNSW graph"):
        built(ENGLISH, tmp_path / "flat", embedder=HashedWords()).hnsw(HashedWords())
    with pytest.raises(UsageError, match="needs vectors; name an embedder"):
        build_index(ENGLISH, tmp_path / "graph", settings=HNSW)


def test_an_index_whose_terms_come_from_another_tokenizer_is_refused(tmp_path: Path) -> None:
    built(CHINESE, tmp_path / "index")
    path = tmp_path / "index" / "manifest.json"
    manifest = json.loads(path.read_text())
    assert manifest["analyzer_hash"] == Analyzer(AnalyzerSettings()).hash
    manifest["analyzer_hash"] = Analyzer(AnalyzerSettings(chinese="jieba")).hash
    path.write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="another version of the tokenizer"):
        Index(tmp_path / "index")


def test_all_damaged_files_are_named_at_once(tmp_path: Path) -> None:
    built(ENGLISH, tmp_path / "index", embedder=HashedWords())
    folder = tmp_path / "index"
    (folder / "bm25" / "vocab.index.json").unlink()
    changed = bytearray((folder / "vectors.npy").read_bytes())
    changed[-1] ^= 1
    (folder / "vectors.npy").write_bytes(changed)
    with (folder / "passages.jsonl").open("ab") as stream:
        stream.write(b"{}\n")
    with pytest.raises(DataError) as caught:
        Index(folder)
    text = str(caught.value)
    assert "vocab.index.json: missing" in text
    assert "vectors.npy: was changed since the index was built" in text
    assert "passages.jsonl: has" in text


def test_a_folder_that_is_no_index_is_neither_read_nor_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="no index there"):
        Index(tmp_path)
    with pytest.raises(DataError, match="exists and is no index"):
        build_index(ENGLISH, tmp_path, settings=IndexSettings())
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_failed_build_leaves_the_old_index_and_no_rubbish(tmp_path: Path) -> None:
    built(ENGLISH, tmp_path / "index")
    with pytest.raises(DataError):
        build_index([], tmp_path / "index", settings=IndexSettings())
    assert Index(tmp_path / "index").manifest.n_passages == 4
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


@pytest.mark.parametrize(
    ("passages", "message"),
    [
        ([], "the corpus holds no passages"),
        ([ENGLISH[0], ENGLISH[1], ENGLISH[0], ENGLISH[1]], "'cats' occurs twice.*\n.*'wings' occurs twice"),
        ([Passage(id="big", text="word " * 2_000_000)], "'big' has 10,000,000 characters.*split the documents"),
        ([Passage(id="marks", text="?!… —")], "no passage holds a searchable word"),
    ],
)
def test_a_corpus_that_cannot_be_indexed_gives_one_clear_message(
    tmp_path: Path, passages: list[Passage], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        build_index(passages, tmp_path / "index", settings=IndexSettings())


def test_a_ten_megabyte_document_is_indexed_when_it_is_split(tmp_path: Path) -> None:
    filler = "and of nothing else at all, however long anybody who reads this far may go on waiting for it"
    text = "".join(f"Sentence {number} speaks of item{number} {filler}. " for number in range(80_000))
    assert len(text) > 10_000_000
    split = IndexSettings(split=SplitSettings(by="sentence", size=20_000, overlap=0))
    index = built([Passage(id="big", text=text)], tmp_path / "index", settings=split)
    assert [hit.passage_id.split("#")[0] for hit in index.bm25().search(["item76543"], k=5)[0]] == ["big"]
    assert (index.manifest.n_documents, len(index.store)) == (1, index.manifest.n_passages)


def test_chinese_passages_are_refused_by_an_english_embedder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="was made for en, but 4 of 4 sampled passages are in zh"):
        build_index(CHINESE, tmp_path / "index", settings=IndexSettings(), embedder=HashedWords(), languages=("en",))
    build_index(ENGLISH, tmp_path / "index", settings=IndexSettings(), embedder=HashedWords(), languages=("en",))


def test_an_unknown_stemmer_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown stemmer 'klingon'; known: .*english"):
        Analyzer(AnalyzerSettings(stemmer="klingon"))
