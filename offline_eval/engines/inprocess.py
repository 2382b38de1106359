"""What both in-process engines share: encoding, the length check before any work, and reading results back."""

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from offline_eval.core.errors import ModelError
from offline_eval.core.evidence import Guarantee
from offline_eval.core.protocols import EngineInfo, Failure, GenerateRequest, Generation, LabelChoice, ObjectTail
from offline_eval.core.records import Record
from offline_eval.engines.grammar import object_tail_grammar
from offline_eval.engines.prompt_tokens import NotEncodableError, PromptEncoder

_POSSIBLE_LABELS = string.digits + string.ascii_letters  # what a rubric may use


class EngineSpec(Record):
    """Everything a worker needs to load a model; travels as JSON.

    Attributes:
        engine: `vllm` or `transformers`; `vllm_classify` for a cross-encoder.
        folder: A local model folder with verified weights.
        context_length: Tokens of prompt and output together.
        batch_size: Requests computed together.
        options: Passed to the engine's constructor.
        certified: Whether kernels whose results do not depend on the batch are wanted where the device has them.
        relations: Of a cross-encoder: what each of its head's outputs means, in their order.
    """

    engine: str
    model: str
    family: str
    folder: str
    weights_hash: str
    tokenizer_hash: str
    template_hash: str
    dtype: str
    context_length: int
    batch_size: int = 16
    seed: int = 0
    template_options: dict[str, Any] = Field(default_factory=dict)
    options: dict[str, Any] = Field(default_factory=dict)
    certified: bool = False
    relations: tuple[str, ...] = ()


class Prepared(NamedTuple):
    """A request ready to run.

    Attributes:
        position: Index in the caller's sequence.
        prompt: Token ids.
        head: How many of them prompts of one kind have in common: those before the second message.
        label_ids: Label to token id, for label requests.
        regex: For grammar requests.
        budget: Output tokens that always suffice.
    """

    position: int
    prompt: list[int]
    head: int
    label_ids: dict[str, int]
    regex: str
    budget: int


class Preparer:
    """Encodes requests and refuses those that do not fit, before anything is computed.

    Attributes:
        end_id: The token that ends a turn.

    Raises:
        ModelError: The model has no usable chat template or no end token, or a label that a rubric may use cannot be
            reached.
    """

    def __init__(self, spec: EngineSpec) -> None:
        self._spec = spec
        self.encoder = PromptEncoder(Path(spec.folder), dict(spec.template_options))
        self.encoder.vocabulary.label_ids(_POSSIBLE_LABELS)
        if self.encoder.tokenizer.eos_token_id is None:
            raise ModelError(f"{spec.folder}: its tokenizer names no end token (eos_token in tokenizer_config.json)")
        self.end_id = int(self.encoder.tokenizer.eos_token_id)

    def prepare(self, requests: Sequence[GenerateRequest]) -> tuple[list[Prepared], dict[int, Failure]]:
        """Split requests into those that can run and failures by position."""
        ready: list[Prepared] = []
        failures: dict[int, Failure] = {}
        for position, request in enumerate(requests):
            try:
                prepared = self._prepare_one(position, request)
            except NotEncodableError as error:
                failures[position] = Failure(reason="not_encodable", detail=str(error))
                continue
            total = len(prepared.prompt) + prepared.budget
            if total <= self._spec.context_length:
                ready.append(prepared)
                continue
            failures[position] = Failure(
                reason="prompt_too_long",
                detail=f"prompt of {len(prepared.prompt)} tokens and budget of {prepared.budget} exceed the model's "
                f"{self._spec.context_length}",
            )
        return ready, failures

    def _prepare_one(self, position: int, request: GenerateRequest) -> Prepared:
        prompt, head = self.encoder.encode(request), self.encoder.head_length(request)
        if isinstance(request.constraint, LabelChoice):
            label_ids = self.encoder.vocabulary.label_ids(request.constraint.labels)
            return Prepared(position, prompt, head, label_ids, regex="", budget=1)
        grammar = object_tail_grammar(request.constraint.fields)
        return Prepared(position, prompt, head, {}, regex=grammar.regex, budget=grammar.budget)

    def read(self, prepared: Prepared, output_ids: Sequence[int], *, stopped: bool) -> Generation | Failure:
        """Turn a grammar request's output into its text, refusing one that did not end by itself."""
        text = self.encoder.vocabulary.decode(output_ids)
        if not stopped:
            return Failure(reason="cut_off", detail=f"no end within the budget of {prepared.budget} tokens", raw=text)
        return Generation(text=text, prompt_tokens=len(prepared.prompt), output_tokens=len(output_ids))


def choose(prepared: Prepared, logprobs: dict[str, float]) -> Generation:
    """The most probable label, the first one on a tie, with every label's unmasked log probability."""
    best = max(logprobs.values())
    label = next(label for label in prepared.label_ids if logprobs[label] == best)
    return Generation(text=label, label_logprobs=logprobs, prompt_tokens=len(prepared.prompt), output_tokens=1)


def engine_info(spec: EngineSpec, *, device: str, versions: dict[str, str]) -> EngineInfo:
    """The engine's identity for provenance and manifests."""
    from importlib.metadata import version

    return EngineInfo(
        engine=spec.engine,
        model=spec.model,
        family=spec.family,
        weights_hash=spec.weights_hash,
        tokenizer_hash=spec.tokenizer_hash,
        template_hash=spec.template_hash,
        dtype=spec.dtype,
        device=device,
        context_length=spec.context_length,
        guarantee=Guarantee.GRAMMAR,
        grammar_backend=f"outlines-core {version('outlines-core')} regex, llguidance {version('llguidance')} masks",
        versions=versions,
        options={"batch_size": spec.batch_size, "seed": spec.seed, **spec.options, **spec.template_options},
    )


__all__ = ["EngineSpec", "ObjectTail", "Prepared", "Preparer", "choose", "engine_info"]
