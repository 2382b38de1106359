"""A local cross-encoder: pairs to probabilities; NLI heads, answerability, alignment and reranking heads alike.

Pairs are counted in tokens before anything is computed, and one that does not fit is refused, never cut.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from offline_eval.core.errors import EngineError, ModelError
from offline_eval.core.evidence import Guarantee
from offline_eval.core.protocols import EngineInfo, Failure
from offline_eval.engines.first_token import read_first_token_only
from offline_eval.engines.inprocess import EngineSpec
from offline_eval.engines.pair_batches import CPU_TOKENS, GPU_TOKENS, PairBatches, score_in_batches
from offline_eval.engines.pair_encoding import EncodedPair, PairEncoder, head_relations, named_probabilities
from offline_eval.engines.process import ProcessScorer
from offline_eval.models.config import ModelConfig
from offline_eval.models.installed import InstalledModel, require_installed

KINDS = ("nli", "answerability", "alignment", "reranker")


class CrossEncoderScorer:
    """Scores pairs with a model from a verified folder.

    Distinct pairs are sorted by their tokens and cut into batches of about equal work, so the same pairs give the same
    scores whatever their order. In certified mode all arithmetic is float32 and every batch has one of a few fixed
    shapes, so that a pair's score does not depend on the pairs beside it either.

    Args:
        model: An installed model of one of `KINDS`.
        device: `cpu`, `cuda`, …; the best local one unless given.
        dtype: `float32`, `bfloat16` or `float16`; the model config's unless given.
        certified: Trade speed for scores that do not depend on batch mates.

    Raises:
        ModelError: The model is no cross-encoder, or its labels are not those of its config.
        EngineError: It cannot be loaded.
    """

    def __init__(
        self, model: InstalledModel, *, device: str | None = None, dtype: str | None = None, certified: bool = False
    ) -> None:
        config = model.config
        require_cross_encoder(config)
        import torch
        import transformers

        self._torch = torch
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        number_format = "float32" if certified else dtype or config.dtype
        self._tokenizer = load_tokenizer(model)
        self._model = load_network(model, number_format)
        self._model.eval().to(self._device)
        read_first_token_only(self._model)
        self._relations = head_relations(config, self._model.config)
        window = config.context_length  # a tokenizer's own limit may be below what relative positions allow
        self._encoder = PairEncoder(
            self._tokenizer,
            template=config.template_options.get("pair_text"),
            window=window,
            model=config.name,
        )
        self._batches = PairBatches(
            window=window, budget=CPU_TOKENS if self._device == "cpu" else GPU_TOKENS, certified=certified
        )
        self.languages = config.languages
        versions = {"torch": torch.__version__, "transformers": transformers.__version__}
        self.info = encoder_info(
            model,
            engine="cross-encoder",
            device=self._device,
            dtype=number_format,
            versions=versions,
            options={"certified": certified},
        )

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
        """Score pairs.

        Args:
            pairs: Premise and hypothesis; query and passage for answerability, alignment and reranking.

        Returns:
            In the pairs' order. NLI: probability of each relation the model knows, summing to 1 (a two-label model has
            no `contradiction`). One-logit heads: `score`, the logistic of the logit, in [0, 1]. A pair that exceeds
            the model's window is a `prompt_too_long` failure.
        """
        return score_in_batches(pairs, encoder=self._encoder, batches=self._batches, compute=self._compute)

    def close(self) -> None:
        """Forget the model."""
        del self._model

    def _compute(self, batch: Sequence[EncodedPair]) -> list[dict[str, float]]:
        torch = self._torch
        arrays = self._batches.arrays(batch, padding=self._tokenizer.pad_token_id or 0)
        inputs = {name: torch.from_numpy(array).to(self._device) for name, array in arrays.items()}
        with torch.inference_mode():
            logits = self._model(**inputs).logits[: len(batch)].float()  # (n_pairs, n_labels)
        return [named_probabilities(row, self._relations) for row in logits.tolist()]


def open_cross_encoder(
    name_or_folder: str, *, device: str | None = None, dtype: str | None = None, certified: bool = False
) -> CrossEncoderScorer:
    """Load an installed cross-encoder by name, or one in a folder.

    Args:
        name_or_folder: A registered name such as `bge-reranker-v2-m3`, or a path.
        device: As for `CrossEncoderScorer`.
        dtype: As for `CrossEncoderScorer`.
        certified: As for `CrossEncoderScorer`.

    Raises:
        ModelError: Not installed, altered, unsafe or no cross-encoder.
        UnknownNameError: No such model.
        EngineError: It cannot be loaded.
    """
    return CrossEncoderScorer(require_installed(name_or_folder), device=device, dtype=dtype, certified=certified)


def open_cross_encoder_process(
    model: InstalledModel,
    *,
    dtype: str | None = None,
    batch_size: int = 16,
    certified: bool = False,
    batch_limit_s: float = 3600.0,
    item_limit_s: float | None = None,
) -> ProcessScorer:
    """Load a cross-encoder into vLLM, in a process of its own; its scores are those of `CrossEncoderScorer`.

    Args:
        model: An installed model of one of `KINDS`.
        dtype: As for `CrossEncoderScorer`.
        batch_size: Pairs computed together; in certified mode each is computed alone.
        certified: As for `CrossEncoderScorer`.
        batch_limit_s: Longest time one call may take, in seconds.
        item_limit_s: Longest time a pair may take, in seconds; None for no limit but the call's.

    Raises:
        ModelError: The model is no cross-encoder, its labels are not those of its config, or vLLM does not know it.
        EngineError: It cannot be loaded.
    """
    config = model.config
    require_cross_encoder(config)
    from transformers import AutoConfig

    network = AutoConfig.from_pretrained(model.folder, local_files_only=True, trust_remote_code=False)
    spec = EngineSpec(
        engine="vllm_classify",
        model=config.name,
        family=config.family,
        folder=str(model.folder),
        weights_hash=model.weights_hash,
        tokenizer_hash=model.tokenizer_hash,
        template_hash=model.template_hash,
        dtype="float32" if certified else dtype or config.dtype,
        context_length=config.context_length,
        batch_size=batch_size,
        template_options=dict(config.template_options),
        options=dict(config.engine_options.get("vllm", {})),
        certified=certified,
        relations=head_relations(config, network),
    )
    scorer = ProcessScorer(spec, batch_limit_s=batch_limit_s, item_limit_s=item_limit_s)
    scorer.languages = config.languages
    return scorer


def require_cross_encoder(config: ModelConfig) -> None:
    """Refuse a model that scores no pairs.

    Raises:
        ModelError: It is of none of `KINDS`.
    """
    if config.kind not in KINDS:
        raise ModelError(f"{config.name} is of kind {config.kind}, not a cross-encoder; choose one of {KINDS}")


def load_tokenizer(model: InstalledModel) -> Any:
    """A model's own tokenizer.

    Raises:
        EngineError: It cannot be loaded.
    """
    from transformers import AutoTokenizer

    return _loaded(AutoTokenizer, model)


def load_network(model: InstalledModel, dtype: str) -> Any:
    """A model's network with its classification head.

    Args:
        dtype: `float32`, `bfloat16` or `float16`.

    Raises:
        EngineError: It cannot be loaded.
    """
    import torch
    from transformers import AutoModelForSequenceClassification
    from transformers.utils import logging

    logging.disable_progress_bar()  # it would write over our own progress lines
    return _loaded(AutoModelForSequenceClassification, model, dtype=getattr(torch, dtype), use_safetensors=True)


def _loaded(kind: Any, model: InstalledModel, **options: object) -> Any:
    try:
        return kind.from_pretrained(model.folder, local_files_only=True, trust_remote_code=False, **options)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise EngineError(f"{model.config.name} in {model.folder} cannot be loaded: {error}") from error


def encoder_info(
    model: InstalledModel,
    *,
    engine: str,
    device: str,
    dtype: str,
    versions: Mapping[str, str],
    options: Mapping[str, JsonValue],
) -> EngineInfo:
    """The identity of a cross-encoder on a backend of this process."""
    return EngineInfo(
        engine=engine,
        model=model.config.name,
        family=model.config.family,
        weights_hash=model.weights_hash,
        tokenizer_hash=model.tokenizer_hash,
        template_hash=model.template_hash,
        dtype=dtype,
        device=device,
        context_length=model.config.context_length,
        guarantee=Guarantee.NONE,
        grammar_backend="none",
        versions=dict(versions),
        options={**options, "long_pair": "refused"},
    )
