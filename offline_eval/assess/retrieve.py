"""Asks all retrievers at the same time and joins what they found into one ranking; who failed is part of the result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from offline_eval.assess.protocols import PassageRetriever
from offline_eval.assess.records import KeptPassage
from offline_eval.assess.timed import Call, Outcome, TimedCalls
from offline_eval.confidence.signals import Signal, SignalStatus, missing, scored
from offline_eval.core.protocols import Hit
from offline_eval.core.ranking import ranked
from offline_eval.core.records import Passage
from offline_eval.retrieval.fusion import FusionSettings, reciprocal_rank_fusion

RETRIEVAL = "retrieval"


@dataclass(frozen=True)
class Retrieved:
    """What the retrievers brought.

    Attributes:
        passages: Joined by reciprocal ranks, best first.
        rankings: Retriever to ids, of those that answered.
        signal: Share of the retrievers that answered.
        ms: Until the last one answered or was given up.
    """

    passages: tuple[KeptPassage, ...]
    rankings: dict[str, tuple[str, ...]]
    signal: Signal
    ms: float = 0.0


def retrieve(
    retrievers: Sequence[PassageRetriever], query: str, *, k: int, most: int, timed: TimedCalls, limit_s: float
) -> Retrieved:
    """Ask every retriever.

    Args:
        k: Passages asked of each.
        most: Passages kept of the joined ranking.
        limit_s: Seconds for all of them.
    """
    calls = {retriever.name: Call(_asking(retriever, query, k), limit_s) for retriever in retrievers}
    outcomes = timed.run(calls)
    found = {name: _distinct(outcome.value) for name, outcome in outcomes.items() if outcome.value is not None}
    texts: dict[str, Passage] = {}
    for passages in found.values():
        for passage in passages:
            texts.setdefault(passage.id, passage)
    return Retrieved(
        passages=tuple(
            KeptPassage(
                passage=texts[id_], retrievers=tuple(n for n, p in found.items() if any(q.id == id_ for q in p))
            )
            for id_ in _fused(found)[:most]
        ),
        rankings={name: tuple(passage.id for passage in passages) for name, passages in found.items()},
        signal=_signal(outcomes, anything=bool(texts)),
        ms=max((outcome.ms for outcome in outcomes.values()), default=0.0),
    )


def _asking(retriever: PassageRetriever, query: str, k: int) -> Callable[[], Sequence[Passage]]:
    return lambda: retriever.retrieve(query, k=k)


def _distinct(passages: Sequence[Passage]) -> list[Passage]:
    return list({passage.id: passage for passage in reversed(passages)}.values())[::-1]


def _fused(found: Mapping[str, Sequence[Passage]]) -> list[str]:
    rankings = [[Hit(passage_id=passage.id, score=0.0) for passage in passages] for passages in found.values()]
    return ranked(reciprocal_rank_fusion(rankings, [1.0] * len(rankings), constant=FusionSettings().constant))


def _signal(outcomes: Mapping[str, Outcome[Sequence[Passage]]], *, anything: bool) -> Signal:
    wrong = {name: outcome for name, outcome in outcomes.items() if outcome.value is None}
    told = "; ".join(f"{name}: {outcome.reason}" for name, outcome in wrong.items()) or None
    if len(wrong) == len(outcomes):
        late = all(outcome.status is SignalStatus.TIMED_OUT for outcome in wrong.values())
        return missing(RETRIEVAL, SignalStatus.TIMED_OUT if late else SignalStatus.FAILED, told or "no retriever")
    answered = len(outcomes) - len(wrong)
    if not anything:
        return scored(RETRIEVAL, 0.0, detail="no passages", reason=told or "no_passages")
    return scored(RETRIEVAL, answered / len(outcomes), detail=f"{answered} of {len(outcomes)} retrievers", reason=told)
