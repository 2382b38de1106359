"""Retrieval runs and relevance judgements, because formats read them, retrievers make them and metrics score them.

One tie rule holds everywhere: score descending, then id ascending (by code point).
"""

from collections.abc import Mapping

from offline_eval.core.records import Record

Qrels = dict[str, dict[str, int]]
"""Query id to passage (or document) id to relevance grade; 0 means judged and not relevant."""

TIE_RULE = "score descending, then id ascending"


class RetrievalRun(Record):
    """What one retriever returned for many queries.

    Attributes:
        name: The retriever or the file it came from.
        scores: Query id to passage id to score; higher is better. A query with an empty mapping was asked and
            nothing came back.
    """

    name: str
    scores: dict[str, dict[str, float]]

    def ranking(self, query_id: str) -> list[str]:
        """Passage ids of one query, best first; empty for a query the run lacks."""
        return ranked(self.scores.get(query_id, {}))


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Ids by score descending, then id ascending."""
    return sorted(scores, key=lambda item: (-scores[item], item))
