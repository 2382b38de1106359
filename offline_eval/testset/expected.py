"""Which passages and documents cases expect, found in a corpus as it lies in files or in an index.

Why in one place: a case names passages as they were cut (`a.md#1`), a folder holds whole documents (`a.md`), and every
check that compares the two has to tell them apart in the same way.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from offline_eval.core.records import Case, Passage
from offline_eval.retrieval.splitter import SplitSettings, split_documents

_PART = re.compile(r"#[^#./]*$")


class Expected(NamedTuple):
    """What a corpus has of what cases name.

    Attributes:
        passages: Id to passage.
        documents: Ids of documents.
        uncertain: Passages whose document is there whole, but has no part of that name as it was cut here.
    """

    passages: dict[str, Passage]
    documents: frozenset[str]
    uncertain: frozenset[str] = frozenset()

    @property
    def ids(self) -> frozenset[str]:
        """Of passages and documents."""
        return self.documents | self.passages.keys()


def find_expected(cases: Sequence[Case], passages: Iterable[Passage], *, cut: SplitSettings | None = None) -> Expected:
    """Look for the expected passages and documents of cases; nothing else of the corpus is kept.

    Args:
        passages: Of a corpus, read once.
        cut: How documents that hold an expected passage are cut; None where the corpus is cut already.
    """
    wanted = {id for case in cases for id in case.relevant_passages}
    named = {id for case in cases for id in case.relevant_documents}
    whole = {document_of_id(id) for id in wanted}
    found: dict[str, Passage] = {}
    documents: set[str] = set()
    uncut: set[str] = set()
    for passage in passages:
        if passage.id in wanted:
            found[passage.id] = passage
        documents |= {passage.id, document_of(passage)} & named
        if cut is not None and passage.id in whole:
            uncut.add(passage.id)
            found |= {part.id: part for part in split_documents([passage], cut) if part.id in wanted}
    uncertain = frozenset(id for id in wanted - found.keys() if document_of_id(id) in uncut)
    return Expected(found, frozenset(documents), uncertain)


def document_of_id(passage_id: str) -> str:
    """The document a passage's id names: `a.md` for `a.md#1`, as documents are cut here; `C#.md` for itself."""
    return _PART.sub("", passage_id) or passage_id


def document_of(passage: Passage) -> str:
    """The document a passage belongs to, as it says itself, else as its id does."""
    return passage.doc_id or document_of_id(passage.id)


def is_own_source(passage: Passage, case: Case, documents: Mapping[str, str]) -> bool:
    """Whether a passage is one that a case expects, or stands in the same document as one.

    Args:
        documents: Passage id to its document, where the corpus says it; else the id does.
    """
    own = {documents.get(id, document_of_id(id)) for id in case.relevant_passages} | set(case.relevant_documents)
    return passage.id in case.relevant_passages or not own.isdisjoint({passage.id, document_of(passage)})
