"""Looks for the names, codes, numbers and dates of an answer and of a reference in the passages; needs no model."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from offline_eval.checks._provenance import provenance
from offline_eval.checks.claims import no_reference
from offline_eval.core.evidence import EntitiesEvidence, EntityFound, Evidence
from offline_eval.core.protocols import EngineKind, Item
from offline_eval.core.records import Passage
from offline_eval.core.results import Status
from offline_eval.text.claims import strip_citations
from offline_eval.text.entities import Entity, find_entities
from offline_eval.text.normalize import contains_verbatim


class EntitiesCheck:
    """The check."""

    name = "entities"
    version = "1"
    needs: tuple[str, ...] = ()
    engine: EngineKind | None = None

    def run(
        self, items: Sequence[Item], *, evidence: Mapping[str, Sequence[Evidence]], engine: Any = None
    ) -> list[Evidence]:
        """Entities of the answer and of the reference, each with the first passage that has it.

        Spellings that mean the same are equal: "Paris" and "paris", 12月3日 and "December 3".
        """
        found: list[Evidence] = []
        for item in items:
            if item.response.error is None:
                passages = [(passage, _keys(passage)) for passage in item.response.passages]
                found.append(self._one(item, "answer", item.response.answer, passages=passages, missing=None))
                missing = no_reference(item)
                text = "" if missing else item.case.reference or ""
                found.append(self._one(item, "reference", text, passages=passages, missing=missing))
        return found

    def _one(
        self,
        item: Item,
        source: Literal["answer", "reference"],
        text: str,
        *,
        passages: Sequence[tuple[Passage, set[str]]],
        missing: str | None,
    ) -> EntitiesEvidence:
        distinct = {entity.key: entity for entity in reversed(find_entities(strip_citations(text)))}
        entities = sorted(distinct.values(), key=lambda entity: entity.start)
        return EntitiesEvidence(
            response_key=item.response.key,
            source=source,
            status=Status.NOT_APPLICABLE if missing else Status.SCORED,
            status_reason=missing,
            entities=tuple(
                EntityFound(text=entity.text, passage_id=_first_with(entity, passages)) for entity in entities
            ),
            provenance=provenance(self.name, self.version),
        )


def _keys(passage: Passage) -> set[str]:
    return {entity.key for entity in find_entities(passage.text)}


def _first_with(entity: Entity, passages: Sequence[tuple[Passage, set[str]]]) -> str | None:
    for passage, keys in passages:
        if entity.key in keys or (entity.kind != "quantity" and contains_verbatim(entity.key, passage.text)):
            return passage.id
    return None


CHECK = EntitiesCheck()
