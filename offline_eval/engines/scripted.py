"""A judge, a cross-encoder and an embedder that follow a script: for tests of what is around a model, and dry runs."""

from collections.abc import Callable, Sequence
from typing import Any

from offline_eval.core.evidence import Guarantee
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation, LabelChoice
from offline_eval.text.words import words

Script = Callable[[GenerateRequest], Generation | Failure]


class ScriptedEngine:
    """Answers every request by calling a function; an exception becomes that item's failure.

    Args:
        script: Request to answer; by default a label drawn from the request's hash and a fixed reason.
        guarantee: What the engine claims about its output.
    """

    def __init__(
        self, script: Script | None = None, *, model: str = "scripted", guarantee: Guarantee = Guarantee.GRAMMAR
    ) -> None:
        self._script = script or by_hash
        self.requests_seen = 0
        self.info = EngineInfo(
            engine="scripted",
            model=model,
            family="scripted",
            weights_hash=digest("scripted", model),
            tokenizer_hash="none",
            template_hash="none",
            dtype="none",
            device="none",
            context_length=1 << 20,
            guarantee=guarantee,
            grammar_backend="none",
        )

    def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation | Failure]:
        """Answer every request, in order."""
        self.requests_seen += len(requests)
        return [self._one(request) for request in requests]

    def close(self) -> None:
        """Nothing to give back."""

    def _one(self, request: GenerateRequest) -> Generation | Failure:
        try:
            return self._script(request)
        except Exception as error:  # noqa: BLE001 - the engine's edge: a script's trouble is that item's
            return Failure(reason="engine_error", detail=f"{type(error).__name__}: {error}")


def by_hash(request: GenerateRequest) -> Generation:
    """A label that depends on nothing but the request, and an object of fixed text."""
    if isinstance(request.constraint, LabelChoice):
        labels = request.constraint.labels
        number = int(digest("script", request.model_dump(mode="json"))[:8], 16)
        return pick(request, labels[number % len(labels)])
    fields = ",".join(f'"{name}":"scripted"' for name in request.constraint.fields)
    return Generation(text=fields + "}", prompt_tokens=0, output_tokens=1)


def pick(request: GenerateRequest, label: str, *, probability: float = 0.9) -> Generation:
    """A generation that chose `label` with the given probability and shares the rest out evenly."""
    import math

    if not isinstance(request.constraint, LabelChoice):
        raise ValueError("only a label request can be answered with a label")
    others = len(request.constraint.labels) - 1
    share = (1 - probability) / others
    logprobs = {name: math.log(probability if name == label else share) for name in request.constraint.labels}
    return Generation(text=label, label_logprobs=logprobs, prompt_tokens=0, output_tokens=1)


PairScript = Callable[[str, str], "dict[str, float] | float | Failure"]


class ScriptedScorer:
    """A cross-encoder that follows a script.

    Args:
        script: Premise and hypothesis to probabilities, or to the one of entailment; by default the share of the
            hypothesis' words that the premise has.
        languages: What it claims to have been made for.
        context_length: What it claims to read, in tokens; a longer pair (by words) fails as `pair_too_long`.
    """

    def __init__(
        self, script: PairScript | None = None, *, languages: Sequence[str] = ("*",), context_length: int = 1 << 20
    ) -> None:
        self._script = script or word_share
        self.languages = tuple(languages)
        self.pairs_seen: list[tuple[str, str]] = []
        self.info = ScriptedEngine(model="scripted-scorer").info.model_copy(
            update={"context_length": context_length, "guarantee": Guarantee.NONE}
        )

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
        """Score every pair, in order."""
        self.pairs_seen += pairs
        return [self._one(first, second) for first, second in pairs]

    def close(self) -> None:
        """Nothing to give back."""

    def _one(self, first: str, second: str) -> dict[str, float] | Failure:
        n = len(words(first)) + len(words(second))
        if n > self.info.context_length:
            detail = f"{n} tokens, the model takes {self.info.context_length}"
            return Failure(reason="pair_too_long", detail=detail)
        try:
            answer = self._script(first, second)
        except Exception as error:  # noqa: BLE001 - the engine's edge: a script's trouble is that item's
            return Failure(reason="engine_error", detail=f"{type(error).__name__}: {error}")
        return {"score": float(answer)} if isinstance(answer, int | float) else answer


def word_share(premise: str, hypothesis: str) -> float:
    """Share of the hypothesis' words that stand in the premise, in [0, 1]."""
    wanted = set(words(hypothesis))
    return len(wanted & set(words(premise))) / len(wanted) if wanted else 0.0


class ScriptedEmbedder:
    """An embedder whose vectors count words: the same words give the same vector, no common word a cosine near 0.

    Args:
        languages: What it claims to have been made for.
    """

    dimension = 4096

    def __init__(self, *, languages: Sequence[str] = ("*",)) -> None:
        self.languages = tuple(languages)
        self.texts_seen: list[str] = []
        self.info = ScriptedEngine(model="scripted-embedder").info.model_copy(update={"guarantee": Guarantee.NONE})

    def embed(self, texts: Sequence[str]) -> Any:
        """Embed texts.

        Returns:
            Shape (n_texts, 4096), float32, rows of length 1; a text without words points along the first axis.
        """
        import numpy as np

        self.texts_seen += texts
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, int(digest("word", word)[:8], 16) % self.dimension] += 1.0
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def close(self) -> None:
        """Nothing to give back."""
