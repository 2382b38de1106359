"""The passages questions are made from: read, cut where needed, indexed once for looking up what else answers."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from offline_eval.core.errors import DataError
from offline_eval.core.protocols import Retriever
from offline_eval.core.records import Passage
from offline_eval.formats.beir import is_beir_folder
from offline_eval.formats.corpus import read_corpus
from offline_eval.retrieval.index import Index, StageProgress, build_index
from offline_eval.retrieval.manifest import IndexSettings
from offline_eval.retrieval.passage_store import PassageStore
from offline_eval.retrieval.splitter import SplitSettings
from offline_eval.testset.prompts import PromptLanguage
from offline_eval.text.language import detect_language

WantedLanguage = Literal["en", "zh", "auto"]
Cut = Literal["auto", "none", "sentence", "heading"]

MOST_SOURCES = 2000
"""Passages a set is made from; of a larger corpus a seeded part."""
_LONGEST = 800  # characters of a passage cut from a document, so that two of them fit a small model
_SHORTEST = 12  # letters and digits a passage must have to say anything


class Sources(NamedTuple):
    """What questions are made from.

    Attributes:
        passages: Those that questions may be made from, in the corpus' order.
        languages: Of each of them.
        store: All passages of the corpus by id.
        search: Finds passages of the whole corpus.
        corpus_hash: Of all passages.
    """

    passages: tuple[Passage, ...]
    languages: tuple[PromptLanguage, ...]
    store: PassageStore
    search: Retriever
    corpus_hash: str


def read_sources(
    path: Path,
    folder: Path,
    *,
    language: WantedLanguage,
    seed: int,
    cut: Cut = "auto",
    progress: StageProgress | None = None,
) -> Sources:
    """Read documents and index them.

    Args:
        path: Whatever `read_corpus` reads.
        folder: A new folder for the index.
        language: Questions are made from passages of this language; `auto` takes Chinese and English ones.
        seed: Draws the part of a large corpus.
        cut: How documents become passages; `auto` cuts files of text at headings and sentences, and keeps rows whole.

    Raises:
        DataError: Nothing to read, or nothing in the wanted language.
    """
    settings = IndexSettings(split=_split(path, cut))
    manifest = build_index(_said(read_corpus(path)), folder, settings=settings, progress=progress)
    index = Index(folder)
    order = list(range(len(index.store)))
    random.Random(f"{seed}/sources").shuffle(order)
    found: list[tuple[int, Passage, PromptLanguage]] = []
    for position in order:
        passage = index.store.at(position)
        spoken = _language(passage)
        if spoken is not None and language in ("auto", spoken) and _letters(passage.text) >= _SHORTEST:
            found.append((position, passage, spoken))
        if len(found) == MOST_SOURCES:
            break
    if not found:
        wanted = "Chinese or English" if language == "auto" else {"en": "English", "zh": "Chinese"}[language]
        raise DataError(f"{path}: none of {len(order)} passages is in {wanted} and says anything; check --lang")
    found.sort(key=lambda entry: entry[0])
    return Sources(
        passages=tuple(passage for _, passage, _ in found),
        languages=tuple(spoken for _, _, spoken in found),
        store=index.store,
        search=index.bm25(),
        corpus_hash=manifest.corpus_hash,
    )


def _split(path: Path, cut: Cut) -> SplitSettings:
    is_text = path.suffix.lower() in (".md", ".markdown", ".txt") or (path.is_dir() and not is_beir_folder(path))
    by = ("heading" if is_text else "none") if cut == "auto" else cut
    return SplitSettings(by=by, size=_LONGEST, overlap=0)


def _said(documents: Iterator[Passage]) -> Iterator[Passage]:
    """Documents without those that hold nothing at all, which an index would refuse to search."""
    return (document for document in documents if document.text.strip())


def _language(passage: Passage) -> PromptLanguage | None:
    spoken = detect_language(passage.text)
    return spoken if spoken in ("en", "zh") else None


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))
