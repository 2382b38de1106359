"""Finds passages that contradict each other: numbers, dates and negation by rule, the rest by a local NLI encoder.

A generator that is given both versions picks one without saying so; the reader should know that there were two.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from offline_eval.checks._provenance import provenance
from offline_eval.checks._statements import SAME_SUBJECT, Rule, conflict_by_rule, overlap, statement_of
from offline_eval.checks._support import unspoken
from offline_eval.core.evidence import Conflict, ContradictionEvidence, Evidence
from offline_eval.core.protocols import EngineKind, Failure, Item, PairScorer
from offline_eval.text.sentences import split_sentences

CONTRADICTS = 0.5
"""Probability from which the model's contradiction counts; it has to hold in both directions."""

_DIGITS = 6


class ContradictionCheck:
    """The check."""

    name = "contradiction"
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

        The model is asked about sentences on the same subject that no rule decides; when it cannot be, rules stand
        alone and the evidence says why.
        """
        kept = [item for item in items if item.response.error is None]
        compared = [list(_comparisons(item)) for item in kept]
        open_pairs = [_open(found) for found in compared]
        reasons = [_unspoken(pairs, engine) for pairs in open_pairs]
        asked = [pair for pairs, reason in zip(open_pairs, reasons, strict=True) if reason is None for pair in pairs]
        answers = _ask(asked, engine)
        return [
            self._evidence(item, found, reason, answers=answers, engine=engine)
            for item, found, reason in zip(kept, compared, reasons, strict=True)
        ]

    def _evidence(
        self,
        item: Item,
        compared: Sequence["_Comparison"],
        reason: str | None,
        *,
        answers: Mapping[tuple[str, str], float | Failure | None],
        engine: PairScorer | None,
    ) -> ContradictionEvidence:
        conflicts = []
        for comparison in compared:
            answer = None if comparison.rule else answers.get(comparison.texts)
            if isinstance(answer, Failure):
                reason = f"{answer.reason}: {answer.detail}"
            elif comparison.rule is not None:
                conflicts.append(comparison.conflict(comparison.rule, None))
            elif answer is not None and answer >= CONTRADICTS:
                conflicts.append(comparison.conflict("nli", answer))
            elif reason is None and comparison.texts in answers and answer is None:
                reason = "the model does not tell contradictions apart"
        n = len(item.response.passages)
        return ContradictionEvidence(
            response_key=item.response.key,
            pairs=n * (n - 1) // 2,
            compared=len(compared),
            conflicts=tuple(conflicts),
            by_model=reason is None and engine is not None,
            model_reason=reason or (None if engine is not None else "no_engine"),
            provenance=provenance(self.name, self.version, engine=engine if reason is None else None),
        )


class _Comparison(NamedTuple):
    """Two sentences of two passages about the same thing."""

    first_id: str
    second_id: str
    texts: tuple[str, str]
    rule: Rule | None

    def conflict(self, by: Rule | Literal["nli"], probability: float | None) -> Conflict:
        return Conflict(
            first_id=self.first_id,
            second_id=self.second_id,
            first=self.texts[0],
            second=self.texts[1],
            by=by,
            probability=probability,
        )


def _comparisons(item: Item) -> Iterator[_Comparison]:
    passages = [
        (passage.id, [statement_of(sentence.text) for sentence in split_sentences(passage.text)])
        for passage in item.response.passages
    ]
    for (first_id, firsts), (second_id, seconds) in combinations(passages, 2):
        for first in firsts:
            for second in seconds:
                if overlap(first, second) >= SAME_SUBJECT and first.text != second.text:
                    yield _Comparison(first_id, second_id, (first.text, second.text), conflict_by_rule(first, second))


def _open(compared: Sequence[_Comparison]) -> list[tuple[str, str]]:
    return [comparison.texts for comparison in compared if comparison.rule is None]


def _unspoken(pairs: Sequence[tuple[str, str]], engine: PairScorer | None) -> str | None:
    language = unspoken((text for pair in pairs for text in pair), engine)
    return None if language is None else f"language: {language}"


def _ask(pairs: Sequence[tuple[str, str]], engine: PairScorer | None) -> dict[tuple[str, str], float | Failure | None]:
    """The smaller probability of a contradiction over both directions; None from a model that does not tell."""
    if engine is None or not pairs:
        return {}
    distinct = list(dict.fromkeys(pairs))
    answers = engine.score([pair for first, second in distinct for pair in ((first, second), (second, first))])
    return {pair: _smaller(answers[2 * place], answers[2 * place + 1]) for place, pair in enumerate(distinct)}


def _smaller(forward: dict[str, float] | Failure, backward: dict[str, float] | Failure) -> float | Failure | None:
    if isinstance(forward, Failure):
        return forward
    if isinstance(backward, Failure):
        return backward
    if "contradiction" not in forward or "contradiction" not in backward:
        return None
    return round(min(forward["contradiction"], backward["contradiction"]), _DIGITS)


CHECK = ContradictionCheck()
