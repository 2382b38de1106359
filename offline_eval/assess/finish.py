"""The last steps, which need no model: signals → confidence, marks and doubts → the assessment a caller gets."""

from collections.abc import Mapping
from datetime import date

from offline_eval.assess.claims import mark_claims
from offline_eval.assess.compose import Composed, compose
from offline_eval.assess.doubts import find_doubts
from offline_eval.assess.policy import Policy
from offline_eval.assess.records import Assessment, ClaimMark, Stage
from offline_eval.assess.stages import claims_and_matrix
from offline_eval.assess.state import State, Timekeeper
from offline_eval.assess.wording import Wording
from offline_eval.confidence.combine import Confidence, combine
from offline_eval.confidence.signals import SignalStatus

_WENT_WRONG = (SignalStatus.FAILED, SignalStatus.TIMED_OUT)


def finish(
    state: State,
    keeper: Timekeeper,
    *,
    policy: Policy,
    wording: Wording,
    today: date,
    versions: Mapping[str, str],
) -> Assessment:
    """Combine, mark, and word.

    Args:
        state: After the last stage that ran.
        versions: Kept with the result.
    """
    begin = keeper.now_ms()
    confidence = combine(state.signals, policy.profile, calibration=policy.calibration)
    keeper.ended(Stage.CONFIDENCE, SignalStatus.SCORED, keeper.now_ms() - begin)
    begin = keeper.now_ms()
    claims = _claims(state, policy)
    composed = _composed(state, confidence, claims, policy=policy, wording=wording, today=today)
    keeper.ended(Stage.WORDING, SignalStatus.SCORED, keeper.now_ms() - begin)
    return Assessment(
        query=state.query,
        language=state.language,
        profile=policy.profile.name,
        tier=confidence.tier,
        action=composed.action,
        confidence=confidence,
        signals=state.signals,
        limiting=confidence.limiting,
        answer=state.answer,
        text=composed.text,
        claims=claims,
        contradictions=state.conflicts,
        doubts=composed.doubts,
        passages=state.passages,
        rankings=state.rankings,
        clarify=composed.terms,
        early_exit=state.early_exit,
        degraded=_is_degraded(state),
        timings=keeper.timings,
        total_ms=keeper.total_ms,
        versions=dict(versions),
    )


def _claims(state: State, policy: Policy) -> tuple[ClaimMark, ...]:
    grounding = next((signal for signal in state.signals if signal.name == "grounding"), None)
    return mark_claims(
        claims_and_matrix(state.answer, state.evidence),
        supported_from=policy.supported_from,
        not_checked=(grounding.reason if grounding else None) or "not checked",
    )


def _composed(
    state: State,
    confidence: Confidence,
    claims: tuple[ClaimMark, ...],
    *,
    policy: Policy,
    wording: Wording,
    today: date,
) -> Composed:
    doubts = find_doubts(
        state.signals,
        confidence,
        passages=state.passages,
        claims=claims,
        conflicts=state.conflicts,
        policy=policy,
        today=today,
    )
    return compose(
        state.query,
        state.answer,
        tier=confidence.tier,
        claims=claims,
        doubts=doubts,
        passages=state.passages,
        policy=policy,
        wording=wording,
    )


def _is_degraded(state: State) -> bool:
    """Whether something was tried and went wrong; one of several retrievers is enough."""
    partly = 0 < (state.value("retrieval") or 0) < 1
    return partly or any(signal.status in _WENT_WRONG for signal in state.signals)
