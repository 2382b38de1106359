"""Documents into passages by heading and sentence, verbatim, with ids that stay the same when run again."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, Self

from pydantic import Field, model_validator

from offline_eval.core.records import Passage, Record
from offline_eval.text.sentences import split_sentences

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_SOFT_CUT = re.compile(r"[\s,，、;；:：]")
_LOOK_BACK = 0.2  # share of `size` in which a too long sentence is cut at a mark rather than inside a word


class SplitSettings(Record):
    """How documents become passages.

    Attributes:
        by: `none` keeps documents whole; `sentence` packs sentences; `heading` starts anew at Markdown headings too
            and puts them into the title.
        size: Longest passage, in characters.
        overlap: Sentences of at most this many characters are repeated at the start of the next passage.
    """

    by: Literal["none", "sentence", "heading"] = "none"
    size: int = Field(default=1000, ge=50)
    overlap: int = Field(default=100, ge=0)

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> Self:
        if self.overlap * 2 > self.size:
            raise ValueError(f"overlap {self.overlap} must be at most half of size {self.size}")
        return self


class _Section(NamedTuple):
    start: int
    end: int
    heading: str


def split_documents(documents: Iterable[Passage], settings: SplitSettings) -> Iterator[Passage]:
    """Split a stream of documents.

    Args:
        documents: Whole documents.
        settings: How.

    Yields:
        Passages. A document that stays whole keeps its id; the parts of a split one are `id#1`, `id#2` …, with the
        document's id as `doc_id` and their place in its text as `metadata["start"]` and `["end"]`.
    """
    for document in documents:
        if settings.by == "none":
            yield document
        else:
            yield from _parts(document, settings)


def _parts(document: Passage, settings: SplitSettings) -> Iterator[Passage]:
    text = document.text
    sections = _sections(text) if settings.by == "heading" else [_Section(0, len(text), "")]
    number = 0
    for section in sections:
        for start, end in _spans(text[section.start : section.end], settings):
            number += 1
            begin, stop = section.start + start, section.start + end
            yield document.model_copy(
                update={
                    "id": f"{document.id}#{number}",
                    "doc_id": document.doc_id or document.id,
                    "text": text[begin:stop],
                    "title": _title(document.title, section.heading),
                    "metadata": {**document.metadata, "start": begin, "end": stop},
                }
            )
    if number == 0:  # nothing but white space; the document stays findable by its title
        yield document


def _title(title: str | None, heading: str) -> str | None:
    if not heading or heading == title:
        return title
    return f"{title} › {heading}" if title else heading


def _sections(text: str) -> list[_Section]:
    """From each Markdown heading to the next; `#` inside a fenced block is no heading."""
    fences = [match.start() for match in _FENCE.finditer(text)]
    sections: list[_Section] = []
    start, path = 0, [""] * 6
    heading = ""
    for match in _HEADING.finditer(text):
        if sum(fence < match.start() for fence in fences) % 2:
            continue
        sections.append(_Section(start, match.start(), heading))
        level = len(match[1])
        path[level - 1 :] = [match[2].strip(), *[""] * (6 - level)]
        # A single top heading is the document's title already.
        heading = " › ".join(part for part in path[1:] if part) or path[0]
        start = match.start()
    sections.append(_Section(start, len(text), heading))
    return sections


def _spans(text: str, settings: SplitSettings) -> Iterator[tuple[int, int]]:
    """Sentences packed up to `size`, with whole sentences repeated up to `overlap`."""
    sentences = [
        piece for sentence in split_sentences(text) for piece in _pieces(text, sentence.start, sentence.end, settings)
    ]
    first = 0
    while first < len(sentences):
        last = first
        while last + 1 < len(sentences) and sentences[last + 1][1] - sentences[first][0] <= settings.size:
            last += 1
        yield sentences[first][0], sentences[last][1]
        if last + 1 == len(sentences):
            return
        after = last + 1
        # Step back over whole sentences, but only so far that the next new one still fits.
        while (
            after - 1 > first
            and sentences[last][1] - sentences[after - 1][0] <= settings.overlap
            and sentences[last + 1][1] - sentences[after - 1][0] <= settings.size
        ):
            after -= 1
        first = after


def _pieces(text: str, start: int, end: int, settings: SplitSettings) -> Iterator[tuple[int, int]]:
    """A sentence, cut where it is longer than a passage may be."""
    while end - start > settings.size:
        cut = start + settings.size
        marks = list(_SOFT_CUT.finditer(text, cut - int(settings.size * _LOOK_BACK), cut))
        stop = marks[-1].end() if marks else cut
        yield start, start + len(text[start:stop].rstrip())
        start = stop + len(text[stop:end]) - len(text[stop:end].lstrip())
    if start < end:
        yield start, end
