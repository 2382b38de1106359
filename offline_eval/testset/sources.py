"""The passages questions are made from: read, cut where needed, indexed once for looking up what else answers."""

import random
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import Literal, NamedTuple, Self

from offline_eval.core.errors import DataError
from offline_eval.core.protocols import Retriever
from offline_eval.core.records import Passage
from offline_eval.formats.beir import is_beir_folder
from offline_eval.formats.corpus import read_corpus
from offline_eval.retrieval.index import Index, StageProgress, build_index
from offline_eval.retrieval.manifest import MANIFEST, IndexSettings
from offline_eval.retrieval.passage_store import PassageStore
from offline_eval.retrieval.splitter import SplitSettings
from offline_eval.testset.prompts import PromptLanguage
from offline_eval.text.language import detect_language
from offline_eval.text.normalize import normalize_for_quote

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
        twins: Id of each of `passages` that stands in the corpus more than once to the other passages with its text.
    """

    passages: tuple[Passage, ...]
    languages: tuple[PromptLanguage, ...]
    store: PassageStore
    search: Retriever
    corpus_hash: str
    twins: Mapping[str, tuple[str, ...]]


class StagedFolder:
    """A folder that is filled beside the place it is for, so that a command that is refused leaves no trace.

    Args:
        target: A new folder, or an older index, which `put_in_place` replaces.

    Raises:
        DataError: The target holds something else, or nothing can be written beside it.
    """

    def __init__(self, target: Path) -> None:
        if target.exists() and not (target / MANIFEST).is_file() and (not target.is_dir() or any(target.iterdir())):
            raise DataError(f"{target}: exists and is no index; choose another folder")
        self._target = target
        self._made = [folder for folder in target.parents if not folder.exists()]
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self.path = Path(mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        except OSError as error:
            raise DataError(f"{target.parent}: cannot be written ({error.strerror or error})") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        for folder in self._made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def put_in_place(self) -> None:
        """Let the folder take the target's place; what is open in it stays open."""
        if self._target.exists():
            shutil.rmtree(self._target)
        self.path.rename(self._target)


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
    settings = IndexSettings(split=split_settings(path, cut))
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
    passages = tuple(passage for _, passage, _ in found)
    return Sources(
        passages=passages,
        languages=tuple(spoken for _, _, spoken in found),
        store=index.store,
        search=index.bm25(),
        corpus_hash=manifest.corpus_hash,
        twins=_twins(passages, index.store),
    )


def _twins(passages: Sequence[Passage], store: PassageStore) -> dict[str, tuple[str, ...]]:
    holders: dict[str, list[str]] = defaultdict(list)
    wanted = {normalize_for_quote(passage.text) for passage in passages}
    for passage in store:
        text = normalize_for_quote(passage.text)
        if text in wanted:
            holders[text].append(passage.id)
    found = {}
    for passage in passages:
        others = tuple(name for name in holders[normalize_for_quote(passage.text)] if name != passage.id)
        if others:
            found[passage.id] = others
    return found


def split_settings(path: Path, cut: Cut) -> SplitSettings:
    """How the documents of a path are cut into passages that questions are made from."""
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
