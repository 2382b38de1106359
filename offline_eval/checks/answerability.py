"""Asks a local encoder whether the passages hold an answer to the query: each alone, and all together.

A query that nothing retrieved can answer should be declined, whatever the generator would like to say.
"""

from collections.abc import Mapping, Sequence

from offline_eval.checks._provenance import provenance
from offline_eval.checks._support import Pair, support_of, unspoken_language
from offline_eval.core.evidence import AnswerabilityEvidence, Evidence, Support
from offline_eval.core.protocols import EngineKind, Item, PairScorer
from offline_eval.core.records import query_of
from offline_eval.core.results import Status

_JOIN = "\n\n"


class AnswerabilityCheck:
    """The check."""

    name = "answerability"
    version = "1"
    needs: tuple[str, ...] = ()
    engine: EngineKind | None = "answerability"

    def run(
        self,
        items: Sequence[Item],
        *,
        evidence: Mapping[str, Sequence[Evidence]],
        engine: PairScorer | None = None,
    ) -> list[Evidence]:
        """One piece for every response that has an answer; empty passages answer nothing, by rule."""
        kept = [item for item in items if item.response.error is None]
        languages = [unspoken_language(_pairs(item), engine, relation="answers") for item in kept]
        asked = (
            pair for item, language in zip(kept, languages, strict=True) if language is None for pair in _pairs(item)
        )
        cells = support_of(asked, engine, relation="answers")
        return [self._evidence(item, language, cells, engine) for item, language in zip(kept, languages, strict=True)]

    def _evidence(
        self, item: Item, language: str | None, cells: Mapping[Pair, Support], engine: PairScorer | None
    ) -> AnswerabilityEvidence:
        *alone, together = _pairs(item)
        return AnswerabilityEvidence(
            response_key=item.response.key,
            status=Status.SCORED if language is None else Status.NOT_APPLICABLE,
            status_reason=None if language is None else f"language: {language}",
            passage_ids=tuple(passage.id for passage in item.response.passages),
            passages=tuple(cells[pair] for pair in alone) if language is None else (),
            together=cells[together] if language is None else None,
            provenance=provenance(self.name, self.version, engine=engine),
        )


def _pairs(item: Item) -> list[Pair]:
    """Each passage with the query, and last all passages as one text."""
    query = query_of(item.case, item.response)
    texts = [passage.text for passage in item.response.passages]
    return [(text, query) for text in [*texts, _JOIN.join(texts)]]


CHECK = AnswerabilityCheck()
