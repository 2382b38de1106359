"""What a reader should know before relying on an answer, found from signals, marks and conflicts; worded elsewhere."""

from collections.abc import Sequence
from datetime import date

from offline_eval.assess.instructions import order_in
from offline_eval.assess.policy import Policy
from offline_eval.assess.records import ClaimMark, Doubt, DoubtKind, KeptPassage, Mark
from offline_eval.assess.stages import date_of, is_old
from offline_eval.confidence.combine import Confidence
from offline_eval.confidence.signals import Signal, SignalStatus
from offline_eval.core.evidence import Conflict

# From the name of the signal that limits the confidence to the doubt that is told when nothing else names it.
_OF_SIGNAL: dict[str, DoubtKind] = {
    "consensus": "retrievers_disagree",
    "alignment": "off_topic",
    "grounding": "unsupported_claims",
    "answerability": "not_answerable",
    "citations": "bad_citations",
}
_DISAGREE_BELOW = 0.5
_WENT_WRONG = frozenset({SignalStatus.FAILED, SignalStatus.TIMED_OUT, SignalStatus.SKIPPED})


def find_doubts(
    signals: Sequence[Signal],
    confidence: Confidence,
    *,
    passages: Sequence[KeptPassage],
    claims: Sequence[ClaimMark],
    conflicts: Sequence[Conflict],
    policy: Policy,
    today: date,
) -> tuple[Doubt, ...]:
    """Find the doubts, the gravest first.

    Returns:
        Without texts. The limiting signal is always among them in some form, unless nothing limits the confidence.
    """
    named = {signal.name: signal for signal in signals}
    found = [
        *_of_search(named),
        *_of_conflicts(conflicts),
        *_of_claims(claims),
        *_of_passages(passages, policy, today),
        *_of_values(named, confidence),
    ]
    limiting = confidence.limiting
    if limiting is not None and limiting in _OF_SIGNAL and not any(doubt.signal == limiting for doubt in found):
        signal = named.get(limiting)
        if signal is not None and signal.value is not None and signal.value < 1:
            found.append(Doubt(kind=_OF_SIGNAL[limiting], signal=limiting))
    unchecked = tuple(
        signal.name
        for signal in signals
        if signal.status in _WENT_WRONG or (signal.name in confidence.missing and signal.value is None)
    )
    told = {"retrieval", "generation"} if any(d.kind in ("no_passages", "no_answer") for d in found) else set()
    items = tuple(name for name in unchecked if name not in told)
    if items and not _is_moot(found):
        found.append(Doubt(kind="not_checked", signal=items[0], items=items))
    return tuple(found)


def _is_moot(found: Sequence[Doubt]) -> bool:
    """Whether there was nothing to check."""
    return any(doubt.kind in ("no_passages", "not_answerable", "no_answer") for doubt in found)


def _of_search(named: dict[str, Signal]) -> list[Doubt]:
    found = []
    retrieval, generation = named.get("retrieval"), named.get("generation")
    if retrieval is not None and not retrieval.value and retrieval.status is not SignalStatus.NOT_APPLICABLE:
        found.append(Doubt(kind="no_passages", signal="retrieval"))
    elif generation is not None and generation.status in (SignalStatus.FAILED, SignalStatus.TIMED_OUT):
        found.append(Doubt(kind="no_answer", signal="generation"))
    elif generation is not None and generation.value == 0:
        found.append(Doubt(kind="not_answerable", signal="generation"))
    return found


def _of_conflicts(conflicts: Sequence[Conflict]) -> list[Doubt]:
    return [
        Doubt(kind="contradiction", signal="coherence", items=(c.first_id, c.first, c.second_id, c.second))
        for c in conflicts
    ]


def _of_claims(claims: Sequence[ClaimMark]) -> list[Doubt]:
    bad = tuple(claim.text for claim in claims if claim.mark in (Mark.UNSUPPORTED, Mark.CONTRADICTED))
    return [Doubt(kind="unsupported_claims", signal="grounding", items=bad)] if bad else []


def _of_passages(passages: Sequence[KeptPassage], policy: Policy, today: date) -> list[Doubt]:
    ordering = tuple(entry.passage.id for entry in passages if order_in(entry.passage) is not None)
    found = [Doubt(kind="instructions_in_passage", signal="instructions", items=ordering)] if ordering else []
    if policy.profile.oldest_days is None:
        return found
    shown = [entry.passage for entry in passages if entry.in_context]
    undated = tuple(passage.id for passage in shown if date_of(passage) is None)
    old = tuple(passage.id for passage in shown if passage.id not in undated and is_old(passage, policy, today=today))
    if old:
        found.append(Doubt(kind="old_source", signal="freshness", items=old))
    if undated:
        found.append(Doubt(kind="undated_source", signal="freshness", items=undated))
    return found


def _of_values(named: dict[str, Signal], confidence: Confidence) -> list[Doubt]:
    found = []
    vetoed = {veto.signal for veto in confidence.vetoes if veto.value is not None}
    if "answerability" in vetoed:
        found.append(Doubt(kind="not_answerable", signal="answerability"))
    if "alignment" in vetoed:
        found.append(Doubt(kind="off_topic", signal="alignment"))
    if "citations" in vetoed:
        found.append(Doubt(kind="bad_citations", signal="citations"))
    consensus = named.get("consensus")
    if consensus is not None and consensus.value is not None and consensus.value < _DISAGREE_BELOW:
        found.append(Doubt(kind="retrievers_disagree", signal="consensus"))
    coverage = named.get("coverage")
    if coverage is not None and coverage.value is not None and coverage.value < 1 and coverage.detail:
        found.append(Doubt(kind="missing_part", signal="coverage", items=tuple(coverage.detail.split(", "))))
    return found
