"""Texts of the passages that drafts were written from, out of an index or a corpus, and which passages there are.

Why not the whole corpus in memory: an index gives a text when it is asked for; of a corpus only the sources are kept.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path

from offline_eval.core.records import Passage
from offline_eval.formats.corpus import read_corpus
from offline_eval.retrieval.passage_store import PassageStore
from offline_eval.testset.draft import Draft


class SourceTexts(Mapping[str, Passage]):
    """Passages by id.

    Args:
        drafts: Whose sources and expected passages are kept of a corpus.
        index: Folder of an index; None without.
        corpus: Documents whose ids are the sources' ids; None without.

    Raises:
        DataError: The index or the corpus cannot be read.
    """

    def __init__(self, drafts: Sequence[Draft], *, index: Path | None = None, corpus: Path | None = None) -> None:
        wanted = {id for draft in drafts for id in (*draft.sources, *draft.case.relevant_passages)}
        self._store = None if index is None else PassageStore(index)
        self._found: dict[str, Passage] = {}
        self._ids: set[str] = set()
        for passage in () if corpus is None else read_corpus(corpus):
            self._ids.add(passage.id)
            if passage.id in wanted:
                self._found[passage.id] = passage
        if self._store is not None:
            self._ids |= self._store.positions.keys()
        self._has_source = index is not None or corpus is not None

    @property
    def known(self) -> Container[str] | None:
        """Ids that there are; None where neither an index nor a corpus was given."""
        return self._ids if self._has_source else None

    def __getitem__(self, id: str) -> Passage:
        if self._store is not None and id in self._store.positions:
            return self._store.get(id)
        return self._found[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
