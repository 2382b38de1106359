"""The corpus behind a test set, wherever it lies: documents, a saved index, or drafts with their index inside."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from offline_eval.core.records import Case, Passage
    from offline_eval.retrieval.splitter import SplitSettings
    from offline_eval.testset.expected import Expected


class Corpus(NamedTuple):
    """Passages, and how whole documents among them are cut; None where they come from an index."""

    passages: "Iterable[Passage]"
    cut: "SplitSettings | None"


def index_in(folder: Path) -> Path | None:
    """The folder itself when it is an index, or the index inside a folder of drafts."""
    from offline_eval.retrieval.manifest import MANIFEST

    return next((place for place in (folder, folder / "index") if (place / MANIFEST).is_file()), None)


def open_corpus(path: Path) -> Corpus:
    """Documents in files, or the passages of an index.

    Raises:
        DataError: Nothing that can be read.
    """
    from offline_eval.formats.corpus import read_corpus
    from offline_eval.retrieval.index import Index
    from offline_eval.testset.sources import split_settings

    index = index_in(path)
    if index is not None:
        return Corpus(Index(index).store, None)
    return Corpus(read_corpus(path), split_settings(path, "auto"))


def expected_in(cases: "Sequence[Case]", corpus: Path | None, index: Path | None) -> "Expected | None":
    """What cases expect of a corpus and an index; None when neither is named.

    Raises:
        DataError: Nothing that can be read.
    """
    from offline_eval.retrieval.index import Index
    from offline_eval.testset.expected import Expected, find_expected

    parts = []
    if corpus is not None:
        opened = open_corpus(corpus)
        parts.append(find_expected(cases, opened.passages, cut=opened.cut))
    if index is not None:
        parts.append(find_expected(cases, Index(index_in(index) or index).store))
    if not parts:
        return None
    passages = {id: passage for part in parts for id, passage in part.passages.items()}
    documents = frozenset[str]().union(*(part.documents for part in parts))
    uncertain = frozenset[str]().union(*(part.uncertain for part in parts)) - passages.keys()
    return Expected(passages, documents, uncertain)
