"""Resolves the citations of an answer and asks whether the cited passages support the statements that cite them.

Understood: `[1]`, `[1, 2]`, `[1-3]`, `【1】`, `[doc-7]`, `(doc-7)`; numbers are ids where a passage has that id, else
places counted from 1.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from offline_eval.checks._provenance import provenance
from offline_eval.checks._support import Pair, support_of, unspoken_language
from offline_eval.checks.claims import claims_of, states_nothing
from offline_eval.core.evidence import CitationsEvidence, CitedStatement, Evidence, Support
from offline_eval.core.protocols import EngineKind, Item, PairScorer
from offline_eval.core.records import Passage, Response
from offline_eval.core.results import Status
from offline_eval.text.sentences import split_sentences

_BRACKETS = re.compile(
    r"\[(?P<square>[^\[\]\n]{1,80})\]|【(?P<lenticular>[^【】\n]{1,80})】|[(（](?P<round>[^()（）\n]{1,80})[)）]"
)
_NAMED = re.compile(
    r"(?:docs?|document|passage|source|ref|reference|id|来源|文档|段落|资料|参考|出处|见)\s*[:：#]?\s*", re.IGNORECASE
)
_SEPARATOR = re.compile(r"\s*[,，、;；]\s*")
_RANGE = re.compile(r"\^?(\d{1,3})\s*[-–~]\s*\^?(\d{1,3})")
_NUMBER = re.compile(r"\^?(\d{1,3})(?:†.*)?")


class _Statement(NamedTuple):
    text: str
    cited: tuple[Passage, ...]
    unknown: tuple[str, ...]


class CitationsCheck:
    """The check."""

    name = "citations"
    version = "1"
    needs: tuple[str, ...] = ()
    engine: EngineKind | None = "nli"

    def run(
        self,
        items: Sequence[Item],
        *,
        evidence: Mapping[str, Sequence[Evidence]],
        engine: PairScorer | None = None,
    ) -> list[Evidence]:
        """One piece for every response that has an answer.

        A claim cites what is marked inside it, else what its sentence marks; an answer without any mark cites the
        response's `citations` throughout.
        """
        kept = [item for item in items if item.response.error is None]
        statements = [_statements(item.response) for item in kept]
        languages = [unspoken_language(_pairs(found), engine) for found in statements]
        asked = [
            pair for found, lang in zip(statements, languages, strict=True) if lang is None for pair in _pairs(found)
        ]
        cells = support_of(asked, engine)
        return [
            self._evidence(item, found, language, cells=cells, engine=engine)
            for item, found, language in zip(kept, statements, languages, strict=True)
        ]

    def _evidence(
        self,
        item: Item,
        statements: Sequence[_Statement],
        language: str | None,
        *,
        cells: Mapping[Pair, Support],
        engine: PairScorer | None,
    ) -> CitationsEvidence:
        return CitationsEvidence(
            response_key=item.response.key,
            status=Status.SCORED if language is None else Status.NOT_APPLICABLE,
            status_reason=None if language is None else f"language: {language}",
            statements=tuple(
                CitedStatement(
                    text=found.text,
                    cited=tuple(passage.id for passage in found.cited),
                    unknown=found.unknown,
                    support=tuple(cells[passage.text, found.text] for passage in found.cited)
                    if language is None
                    else (),
                )
                for found in statements
            ),
            none_because=None if statements else states_nothing(item.response.answer) or "no_statement",
            provenance=provenance(self.name, self.version, engine=engine),
        )


def find_citations(text: str, passages: Sequence[Passage]) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """Resolve the citation marks of a text.

    A number is the id of a passage that has it, else a place counted from 1; a name is a passage's id or a document's,
    which cites all its passages. Round brackets are prose unless they hold such a name.

    Args:
        text: A sentence or a part of one.
        passages: The response's, in their order.

    Returns:
        The cited passages, each once, in the order of the marks; and the marks that point to none.
    """
    cited: dict[int, Passage] = {}
    unknown: list[str] = []
    for bracket in _BRACKETS.finditer(text):
        for mark in _marks(bracket[bracket.lastgroup or 0]):
            places = _places(mark, passages, in_prose=bracket.lastgroup == "round")
            if places is None:
                continue
            if not places:
                unknown.append(mark)
            cited |= {place: passages[place] for place in places}
    return tuple(cited.values()), tuple(dict.fromkeys(unknown))


def _marks(inside: str) -> Iterator[str]:
    for part in _SEPARATOR.split(inside.strip()):
        span = _RANGE.fullmatch(part)
        if span and 0 < int(span[2]) - int(span[1]) < 50:
            yield from (str(number) for number in range(int(span[1]), int(span[2]) + 1))
        elif part:
            yield part


def _places(mark: str, passages: Sequence[Passage], *, in_prose: bool) -> list[int] | None:
    """Places of the passages a mark names; empty when it names none, None when it is no citation."""
    named = _NAMED.match(mark)
    names = {mark, mark[named.end() :]} if named else {mark}
    for attribute in ("id", "doc_id"):
        places = [place for place, passage in enumerate(passages) if getattr(passage, attribute) in names]
        if places:
            return places
    number = next((found for name in names if (found := _NUMBER.fullmatch(name))), None)
    if number is not None and (named or not in_prose):
        place = int(number[1]) - 1
        return [place] if 0 <= place < len(passages) else []
    return [] if named and any(map(str.isdigit, mark)) else None


def _statements(response: Response) -> list[_Statement]:
    """The answer's claims with what each cites."""
    answer, passages = response.answer, response.passages
    if states_nothing(answer):
        return []
    whole = find_citations(answer, passages)
    listed = tuple(passage for passage in passages if {passage.id, passage.doc_id} & set(response.citations))
    sentences = split_sentences(answer)
    found = []
    for claim in claims_of(answer):
        start = claim.start or 0
        cited, unknown = find_citations(answer[start : claim.end], passages)
        if not cited and not unknown:
            around = next((s.text for s in sentences if s.start <= start < s.end), "")
            cited, unknown = find_citations(around, passages)
        if whole == ((), ()):
            cited = listed
        found.append(_Statement(claim.text, cited, unknown))
    return found


def _pairs(statements: Sequence[_Statement]) -> list[Pair]:
    return [(passage.text, found.text) for found in statements for passage in found.cited]


CHECK = CitationsCheck()
