"""The encoders as the pipeline uses them: behind queues, with contained failures, and with their routing."""

from offline_eval.assess.batching import BatchingEmbedder, BatchingScorer
from offline_eval.assess.policy import Policy
from offline_eval.assess.protocols import Encoders
from offline_eval.assess.state import State
from offline_eval.core.protocols import Embedder, PairScorer
from offline_eval.pipeline.contain import ContainedScorer
from offline_eval.text.words import words

CHEAP = "the cheap route was taken"
CANNOT_TELL = "the model does not tell contradictions apart"
_CHINESE = "年假"
_PROBE = ("The shop is open on Sundays.", "The shop is closed on Sundays.")


class Fronts:
    """Queues in front of encoders; one encoder in two roles gets one queue.

    Args:
        checks: An encoder that is None stays None.
    """

    def __init__(self, checks: Encoders) -> None:
        self.support = _front(checks.support)
        same = checks.answerability is checks.support
        self.answerability = self.support if same else _front(checks.answerability)
        self.embedder: Embedder | None = None if checks.embedder is None else BatchingEmbedder(checks.embedder)
        words(_CHINESE)  # its dictionary takes a second to load, which the first reader should not wait for
        self._tells = self.support is not None and _tells_contradictions(self.support)

    @property
    def versions(self) -> dict[str, str]:
        """Role to the encoder's model and fingerprint."""
        roles = {"support": self.support, "answerability": self.answerability, "embedder": self.embedder}
        return {
            f"encoder.{role}": "none" if engine is None else f"{engine.info.model}@{engine.info.fingerprint[:12]}"
            for role, engine in roles.items()
        }

    def contradiction_scorer(self, policy: Policy, state: State) -> tuple[PairScorer | None, str | None]:
        """Whom to ask about contradictions that rules cannot see, or nobody and why.

        The cheap route is for queries whose passages clearly answer and on which the retrievers agree.
        """
        if self.support is None:
            return None, "no_engine"
        if not self._tells:
            return None, CANNOT_TELL
        if policy.profile.always_deep or policy.route == "deep":
            return self.support, None
        values = (state.value("answerability"), state.value("consensus"))
        is_clear = all(value is not None and value >= policy.cheap_from for value in values)
        return (None, CHEAP) if policy.route == "cheap" or is_clear else (self.support, None)

    def close(self) -> None:
        """Close every queue and its encoder, each once."""
        engines = {id(engine): engine for engine in (self.support, self.answerability, self.embedder) if engine}
        for engine in engines.values():
            engine.close()


def _front(scorer: PairScorer | None) -> BatchingScorer | None:
    if scorer is None or isinstance(scorer, BatchingScorer):
        return scorer
    return BatchingScorer(ContainedScorer(scorer))


def _tells_contradictions(scorer: BatchingScorer) -> bool:
    """Whether its answers name a contradiction; one that fails now may do so later, and is asked then."""
    answer = scorer.score([_PROBE])[0]
    return not isinstance(answer, dict) or "contradiction" in answer
