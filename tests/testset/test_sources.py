"""Sources know the copies of their passages, and an index replaces an older one only when it is told to."""

from pathlib import Path

import pytest

from offline_eval.core.errors import DataError
from offline_eval.core.records import Passage
from offline_eval.formats.corpus import read_corpus
from offline_eval.testset.sources import StagedFolder, read_sources


def _corpus(path: Path, *texts: str) -> Path:
    rows = [Passage(id=f"p{number}", text=text) for number, text in enumerate(texts)]
    path.write_text("".join(row.model_dump_json(exclude_none=True) + "\n" for row in rows), "utf-8")
    assert len(list(read_corpus(path))) == len(texts)
    return path


def test_passages_with_the_same_normalised_text_are_each_others_twins(tmp_path: Path) -> None:
    corpus = _corpus(
        tmp_path / "corpus.jsonl",
        "Staff receive 26 days of leave.",
        "Hotels cost at most 170 pounds.",
        " staff receive  26 days of leave. ",
        "员工每年享有年休假五天，不得累计。",
        "员工每年享有 年休假五天,不得累计。",
    )
    sources = read_sources(corpus, tmp_path / "index", language="auto", seed=0)
    assert sources.twins == {"p0": ("p2",), "p2": ("p0",), "p3": ("p4",), "p4": ("p3",)}


def test_a_copy_outside_the_asked_about_passages_is_found_too(tmp_path: Path) -> None:
    corpus = _corpus(
        tmp_path / "corpus.jsonl", "员工每年享有年休假五天，不得累计。", "Ｓtaff receive 26 days of leave."
    )
    chinese = read_sources(corpus, tmp_path / "a", language="zh", seed=0)
    assert [passage.id for passage in chinese.passages] == ["p0"]
    assert chinese.twins == {}


def test_a_staged_folder_takes_its_place_or_leaves_no_trace(tmp_path: Path) -> None:
    first, second = (
        _corpus(tmp_path / "1.jsonl", "Staff receive 26 days."),
        _corpus(tmp_path / "2.jsonl", "Hotels cost money."),
    )
    target = tmp_path / "new" / "out" / "index"
    with StagedFolder(target) as index:
        read_sources(first, index.path, language="en", seed=0)
    assert not (tmp_path / "new").exists()
    with StagedFolder(target) as index:
        read_sources(first, index.path, language="en", seed=0)
        index.put_in_place()
    before = {path.name: path.read_bytes() for path in target.iterdir() if path.is_file()}
    assert [path.name for path in target.parent.iterdir()] == ["index"]
    with StagedFolder(target) as index:
        read_sources(second, index.path, language="en", seed=0)
    assert {path.name: path.read_bytes() for path in target.iterdir() if path.is_file()} == before
    assert [path.name for path in target.parent.iterdir()] == ["index"]
    with StagedFolder(target) as index:
        sources = read_sources(second, index.path, language="en", seed=0)
        index.put_in_place()
        assert sources.store.get("p0").text == "Hotels cost money."
        assert sources.search.search(["hotels"], k=1)[0][0].passage_id == "p0"
    assert b"Hotels" in (target / "passages.jsonl").read_bytes()


def test_what_is_no_index_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "thesis.txt").write_text("mine", "utf-8")
    with pytest.raises(DataError, match="is no index"):
        StagedFolder(tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
