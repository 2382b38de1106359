"""Keeps what goes wrong inside an engine of this process with the item it goes wrong for.

A worker's engine does this itself; this is for endpoints, scripts and encoders, whose exceptions would end the run.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from offline_eval.core.errors import OfflineEvalError
from offline_eval.core.protocols import (
    Embedder,
    EngineInfo,
    Failure,
    GenerateRequest,
    Generation,
    PairScorer,
    TextEngine,
)
from offline_eval.engines.isolate import BatchFailedError, Incident, is_memory_error, isolate

R = TypeVar("R")
A = TypeVar("A")


class _Contained:
    """What both kinds share; everything else is the engine's own.

    Attributes:
        incidents: What was survived so far.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.incidents: list[Incident] = []

    @property
    def info(self) -> EngineInfo:
        """The engine's."""
        info: EngineInfo = self._engine.info
        return info

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()

    def _answer(self, requests: Sequence[R], ask: Callable[[Sequence[R]], list[A]]) -> list[A | Failure]:
        def at_once(part: Sequence[R]) -> list[A]:
            try:
                return ask(part)
            except OfflineEvalError:
                raise  # the engine itself is at fault, and says so
            except Exception as error:  # the engine's edge: an item's trouble is data
                kind = type(error).__name__
                reason = "out_of_memory" if is_memory_error(kind, str(error)) else "engine_error"
                raise BatchFailedError(reason, f"{kind}: {error}") from error

        try:
            return [*at_once(requests)]
        except BatchFailedError as error:
            found = isolate(requests, at_once, first=error)
            self.incidents.append(
                Incident(
                    kind="isolated" if found.largest_part is None else "smaller_batch",
                    reason=error.reason,
                    detail=str(error),
                    requests=len(requests),
                    at_fault=len(found.at_fault),
                    batch_size=found.largest_part or len(requests) - len(found.at_fault),
                )
            )
            return found.answers


class ContainedEngine(_Contained):
    """A language model."""

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order; the items that raise fail."""
        return self._answer(requests, self._engine.generate)


class ContainedScorer(_Contained):
    """A cross-encoder."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
        """Score every pair, in order; the pairs that raise fail."""
        return self._answer(pairs, self._engine.score)


def contained_judge(engine: TextEngine) -> TextEngine:
    """A language model whose exceptions fail items; one that keeps count of incidents does so itself."""
    return engine if hasattr(engine, "incidents") else ContainedEngine(engine)


def contained_encoder(encoder: PairScorer | Embedder) -> PairScorer | Embedder:
    """A cross-encoder whose exceptions fail pairs; one that keeps count of incidents does so itself.

    An embedder comes back as it is: its answers have no place for a failure.
    """
    return ContainedScorer(encoder) if hasattr(encoder, "score") and not hasattr(encoder, "incidents") else encoder
