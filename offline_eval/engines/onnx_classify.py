"""Cross-encoders on ONNX Runtime with 8-bit weights: faster on a processor, near the float scores, not equal to them.

Reading a pair, refusing a long one and naming the probabilities is the code of the Transformers backend.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from offline_eval.core.errors import UsageError
from offline_eval.core.protocols import Failure, ProgressCallback
from offline_eval.engines.cross_encoder import encoder_info, load_tokenizer, require_cross_encoder
from offline_eval.engines.onnx_export import MADE_BY, Inputs, made_by, open_session, quantized_model
from offline_eval.engines.pair_batches import CPU_TOKENS, PairBatches, score_in_batches
from offline_eval.engines.pair_encoding import EncodedPair, PairEncoder, head_relations, named_probabilities
from offline_eval.models.installed import InstalledModel


class OnnxScorer:
    """Scores pairs as `CrossEncoderScorer` does, in 8-bit integers on the processor.

    The network is converted once and kept (`quantized_model`). The same pairs give the same scores whatever their
    order; a pair's score moves a little with the pairs computed beside it, since a batch shares its scales.

    Args:
        model: An installed model of one of `cross_encoder.KINDS`.
        announce: Called with a line about a conversion that begins.
        progress: Called with the conversion's steps done and in all.

    Raises:
        UsageError: The packages for it are not installed.
        ModelError: The model is no cross-encoder, or its labels are not those of its config.
        EngineError: It cannot be loaded or converted.
    """

    def __init__(
        self,
        model: InstalledModel,
        *,
        announce: Callable[[str], None] = lambda line: None,
        progress: ProgressCallback = lambda done, total: None,
    ) -> None:
        config = model.config
        require_onnx()
        require_cross_encoder(config)
        from transformers import AutoConfig

        network = AutoConfig.from_pretrained(model.folder, local_files_only=True, trust_remote_code=False)
        self._relations = head_relations(config, network)
        tokenizer = load_tokenizer(model)
        self._encoder = PairEncoder(
            tokenizer,
            template=config.template_options.get("pair_text"),
            window=config.context_length,
            model=config.name,
        )
        (example,) = self._encoder.encode([("a", "b")])
        inputs = Inputs(segments=bool(example.types), padding=tokenizer.pad_token_id or 0)
        self._padding = inputs.padding
        self._batches = PairBatches(window=config.context_length, budget=CPU_TOKENS)
        self._session = open_session(quantized_model(model, inputs, announce=announce, progress=progress))
        self.languages = config.languages
        self.info = encoder_info(
            model,
            engine="onnx",
            device="cpu",
            dtype="int8",
            versions=made_by(),
            options={"certified": False},
        )

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float] | Failure]:
        """Score pairs, as `CrossEncoderScorer.score` does."""
        return score_in_batches(pairs, encoder=self._encoder, batches=self._batches, compute=self._compute)

    def close(self) -> None:
        """Forget the model."""
        del self._session

    def _compute(self, batch: Sequence[EncodedPair]) -> list[dict[str, float]]:
        (logits,) = self._session.run(None, self._batches.arrays(batch, padding=self._padding))  # (n_pairs, n_labels)
        return [named_probabilities(row, self._relations) for row in logits.tolist()]


def require_onnx() -> None:
    """Refuse where a package is missing.

    Raises:
        UsageError: It names them and the extra that brings them.
    """
    missing = [name for name in MADE_BY if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"--encoder-engine onnx needs {', '.join(missing)}, not installed here; pip install 'offline-eval[onnx]'"
        )
