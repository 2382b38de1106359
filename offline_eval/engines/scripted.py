"""A judge that follows a script: for tests of everything around a model, and for dry runs."""

from collections.abc import Callable, Sequence

from offline_eval.core.evidence import Guarantee
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation, LabelChoice

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
