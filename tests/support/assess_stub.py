"""A stand-in for the pipeline behind the service: its answers name the query they belong to, and it can be held up."""

import threading
import time
from collections.abc import Sequence
from typing import Any

from offline_eval.assess.protocols import StageCallback
from offline_eval.assess.records import Assessment, Stage, StageEvent, StageTiming
from offline_eval.confidence.combine import combine
from offline_eval.confidence.profile import load_profile
from offline_eval.confidence.signals import scored
from offline_eval.core.errors import UsageError


def stub_assessment(query: str, answer: str, *, language: str | None = None) -> Assessment:
    """A finished assessment of a supported answer."""
    signals = tuple(scored(name, 1.0) for name in ("consensus", "alignment", "grounding"))
    confidence = combine(signals, load_profile("general"))
    return Assessment(
        query=query,
        language=language or "en",
        profile="general",
        tier=confidence.tier,
        action="answer_with_doubt",
        confidence=confidence,
        signals=signals,
        answer=answer,
        text=answer,
        timings=(StageTiming(stage=Stage.GROUNDING, ms=1.0), StageTiming(stage=Stage.GENERATE, ms=4.0)),
        total_ms=6.0,
    )


class StubAssessor:
    """Answers `echo: QUERY`.

    Args:
        seconds: How long an assessment takes.
    """

    def __init__(self, *, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.hold = threading.Event()
        self.hold.set()
        self.begun = threading.Semaphore(0)
        self.deadlines: list[float | None] = []
        self.asked: list[str] = []

    def assess(
        self, query: str, *, language: str | None, deadline_s: float | None, on_stage: StageCallback | None
    ) -> Assessment:
        return self._work(query, f"echo: {query}", language, deadline_s, on_stage)

    def check(
        self,
        query: str,
        passages: Sequence[Any],
        answer: str,
        *,
        rankings: Any,
        citations: Sequence[str],
        language: str | None,
        deadline_s: float | None,
        on_stage: StageCallback | None,
    ) -> Assessment:
        if len({passage.id for passage in passages}) < len(passages):
            raise UsageError("passage ids must be distinct")
        return self._work(query, answer, language, deadline_s, on_stage)

    def _work(
        self,
        query: str,
        answer: str,
        language: str | None,
        deadline_s: float | None,
        on_stage: StageCallback | None,
    ) -> Assessment:
        self.deadlines.append(deadline_s)
        self.asked.append(query)
        self.begun.release()
        if query == "break":
            raise RuntimeError("secret text")
        if on_stage:
            on_stage(StageEvent(stage=Stage.GROUNDING, status="started"))
        time.sleep(self.seconds)
        if not self.hold.wait(30):
            raise TimeoutError("never let go")
        if on_stage:
            on_stage(StageEvent(stage=Stage.GROUNDING, status="finished", ms=1.0))
        return stub_assessment(query, answer, language=language)
