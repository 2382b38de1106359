"""A local cross-encoder: pairs to probabilities; NLI heads, answerability, alignment and reranking heads alike.

Pairs are counted in tokens before anything is computed, and one that does not fit is refused, never cut.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from offline_eval.core.errors import EngineError, ModelError
from offline_eval.core.evidence import Guarantee
from offline_eval.core.protocols import EngineInfo, Failure
from offline_eval.engines.first_token import read_first_token_only
from offline_eval.engines.inprocess import EngineSpec
from offline_eval.engines.pair_encoding import EncodedPair, PairEncoder, head_relations, named_probabilities
from offline_eval.engines.process import ProcessScorer
from offline_eval.models.config import ModelConfig
from offline_eval.models.installed import InstalledModel, require_installed

KINDS = ("nli", "answerability", "alignment", "reranker")

_BATCH_TOKENS = 1024  # on a CPU: what fits its caches is faster than a wide batch
_BATCH_TOKENS_GPU = 65_536
_LARGEST_BATCH = 256
_CERTIFIED_BATCH = 16
_CERTIFIED_STEP = 32  # tokens


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
        _require_cross_encoder(config)
        import torch
        import transformers

        self._torch = torch
        self._certified = certified
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        number_format = "float32" if certified else dtype or config.dtype
        self._tokenizer, self._model = _load(model, number_format)
        self._model.eval().to(self._device)
        read_first_token_only(self._model)
        self._relations = head_relations(config, self._model.config)
        self._window = config.context_length  # a tokenizer's own limit may be below what relative positions allow
        self._encoder = PairEncoder(
            self._tokenizer,
            template=config.template_options.get("pair_text"),
            window=self._window,
            model=config.name,
        )
        self._budget = _BATCH_TOKENS if self._device == "cpu" else _BATCH_TOKENS_GPU
        self.languages = config.languages
        versions = {"torch": torch.__version__, "transformers": transformers.__version__}
        self.info = _engine_info(
            model, device=self._device, dtype=number_format, window=self._window, versions=versions, certified=certified
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
        encoded = self._encoder.encode(pairs)
        rows: dict[EncodedPair, dict[str, float]] = {}
        for batch in self._batches(self._encoder.fitting(encoded)):
            rows.update(zip(batch, self._compute(batch), strict=True))
        return [rows[pair] if pair in rows else self._encoder.too_long(pair) for pair in encoded]

    def close(self) -> None:
        """Forget the model."""
        del self._model

    def _batches(self, pairs: Sequence[EncodedPair]) -> Iterator[list[EncodedPair]]:
        batch: list[EncodedPair] = []
        for pair in pairs:
            width = self._padded(len(pair.ids))
            full = self._batch_size(width) <= len(batch)
            # A fixed shape holds one width only.
            if batch and (full or (self._certified and width != self._padded(len(batch[0].ids)))):
                yield batch
                batch = []
            batch.append(pair)
        if batch:
            yield batch

    def _padded(self, length: int) -> int:
        if not self._certified:
            return length
        return min(self._window, -(-length // _CERTIFIED_STEP) * _CERTIFIED_STEP)

    def _batch_size(self, width: int) -> int:
        if self._certified:
            return _CERTIFIED_BATCH
        return min(_LARGEST_BATCH, max(1, self._budget // width))

    def _compute(self, batch: Sequence[EncodedPair]) -> list[dict[str, float]]:
        torch = self._torch
        width = self._padded(max(len(pair.ids) for pair in batch))
        height = _CERTIFIED_BATCH if self._certified else len(batch)
        ids = torch.full((height, width), self._tokenizer.pad_token_id or 0, dtype=torch.long)
        types = torch.zeros((height, width), dtype=torch.long)
        mask = torch.zeros((height, width), dtype=torch.long)
        for row in range(height):
            pair = batch[min(row, len(batch) - 1)]  # a fixed shape is filled up with copies of the last pair
            ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
            types[row, : len(pair.types)] = torch.tensor(pair.types, dtype=torch.long)
            mask[row, : len(pair.ids)] = 1
        inputs = {"input_ids": ids.to(self._device), "attention_mask": mask.to(self._device)}
        if batch[0].types:
            inputs["token_type_ids"] = types.to(self._device)
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
    _require_cross_encoder(config)
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


def _require_cross_encoder(config: ModelConfig) -> None:
    if config.kind not in KINDS:
        raise ModelError(f"{config.name} is of kind {config.kind}, not a cross-encoder; choose one of {KINDS}")


def _load(model: InstalledModel, dtype: str) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # it would write over our own progress lines
    try:
        tokenizer = AutoTokenizer.from_pretrained(model.folder, local_files_only=True, trust_remote_code=False)
        encoder = AutoModelForSequenceClassification.from_pretrained(
            model.folder,
            dtype=getattr(torch, dtype),
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise EngineError(f"{model.config.name} in {model.folder} cannot be loaded: {error}") from error
    return tokenizer, encoder


def _engine_info(
    model: InstalledModel, *, device: str, dtype: str, window: int, versions: dict[str, str], certified: bool
) -> EngineInfo:
    return EngineInfo(
        engine="cross-encoder",
        model=model.config.name,
        family=model.config.family,
        weights_hash=model.weights_hash,
        tokenizer_hash=model.tokenizer_hash,
        template_hash=model.template_hash,
        dtype=dtype,
        device=device,
        context_length=window,
        guarantee=Guarantee.NONE,
        grammar_backend="none",
        versions=versions,
        options={"certified": certified, "long_pair": "refused"},
    )
