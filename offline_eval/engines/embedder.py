"""A local sentence embedder: texts to vectors of length 1; the only place that loads sentence-transformers for search.

A text longer than the model's window is not cut: it is embedded window by window, the vectors averaged by length.
"""

from collections.abc import Sequence
from typing import Any

from offline_eval.core.errors import EngineError, ModelError
from offline_eval.core.evidence import Guarantee
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import EngineInfo
from offline_eval.models.installed import InstalledModel, require_installed

_BATCH = 32
_MARGIN = 8
"""Tokens a window stays below the limit: cutting a text inside a word can change its tokens."""


class SentenceEmbedder:
    """Embeds texts with a model from a verified folder.

    Texts are sorted by length and cut into fixed batches, so the same texts give the same vectors whatever their order;
    vectors of one text can differ in the last bits between different sets of texts.

    Args:
        model: An installed model of kind `embedder`.
        device: `cpu`, `cuda`, …; the best local one unless given.
        dtype: `float32`, `bfloat16` or `float16`; the model config's unless given.

    Raises:
        ModelError: The model is no embedder.
        EngineError: It cannot be loaded.
    """

    def __init__(self, model: InstalledModel, *, device: str | None = None, dtype: str | None = None) -> None:
        if model.config.kind != "embedder":
            raise ModelError(
                f"{model.config.name} is of kind {model.config.kind}, not an embedder; choose another model"
            )
        import sentence_transformers
        import torch
        from transformers.utils import logging

        logging.disable_progress_bar()  # it would write over our own progress lines
        chosen = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            self._model = sentence_transformers.SentenceTransformer(
                str(model.folder),
                device=chosen,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": getattr(torch, dtype or model.config.dtype)},
            )
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise EngineError(f"{model.config.name} in {model.folder} cannot be loaded: {error}") from error
        self._model.eval()
        self.languages = model.config.languages
        self.dimension = int(self._model.get_embedding_dimension() or 0)
        self._window = min(int(self._model.max_seq_length or model.config.context_length), model.config.context_length)
        self._special = int(self._model.tokenizer.num_special_tokens_to_add())
        versions = {"torch": torch.__version__, "sentence-transformers": sentence_transformers.__version__}
        self.info = _engine_info(
            model, device=chosen, dtype=dtype or model.config.dtype, window=self._window, versions=versions
        )

    def embed(self, texts: Sequence[str]) -> Any:
        """Embed texts.

        Args:
            texts: Any number, of any length.

        Returns:
            Shape (n_texts, dimension), float32, rows of length 1, in the order of the texts.
        """
        import numpy as np

        windows = [self._windows(text) for text in texts]
        pieces = [piece for group in windows for piece, _ in group]
        if not pieces:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = self._encode(pieces)  # (n_pieces, dimension)
        weights = np.array([size for group in windows for _, size in group], dtype=np.float32)
        owner = np.repeat(np.arange(len(windows)), [len(group) for group in windows])
        sums = np.zeros((len(windows), self.dimension), dtype=np.float32)
        np.add.at(sums, owner, vectors * weights[:, None])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return sums / np.where(lengths > 0, lengths, 1.0)

    def close(self) -> None:
        """Forget the model."""
        del self._model

    def _encode(self, pieces: Sequence[str]) -> Any:
        # One text may occur often; identical texts must have identical vectors, so each is embedded once.
        unique = {text: place for place, text in enumerate(sorted(set(pieces), key=lambda text: (-len(text), text)))}
        vectors = self._model.encode(
            list(unique), batch_size=_BATCH, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return vectors[[unique[text] for text in pieces]].astype("float32")

    def _windows(self, text: str) -> list[tuple[str, int]]:
        """Pieces that fit the model, each with its length in tokens; the text itself when it fits."""
        limit = self._window - self._special
        if len(text.encode()) <= limit:  # a token is at least one byte
            return [(text, 1)]
        encoded = self._model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        offsets = encoded["offset_mapping"]
        if len(offsets) <= limit:
            return [(text, 1)]
        step = limit - _MARGIN
        starts = range(0, len(offsets), step)
        return [
            (text[offsets[start][0] : offsets[min(start + step, len(offsets)) - 1][1]], min(step, len(offsets) - start))
            for start in starts
        ]


def open_embedder(name_or_folder: str, *, device: str | None = None, dtype: str | None = None) -> SentenceEmbedder:
    """Load an installed embedder by name, or one in a folder.

    Args:
        name_or_folder: A registered name such as `all-minilm-l6-v2`, or a path.
        device: As for `SentenceEmbedder`.
        dtype: As for `SentenceEmbedder`.

    Raises:
        ModelError: Not installed, altered, unsafe or no embedder.
        UnknownNameError: No such model.
        EngineError: It cannot be loaded.
    """
    return SentenceEmbedder(require_installed(name_or_folder), device=device, dtype=dtype)


def embedding_identity(info: EngineInfo) -> str:
    """Hash of what decides whether two embedders' vectors can be compared: weights, tokenizer, dtype, window."""
    keys = ("weights_hash", "tokenizer_hash", "dtype", "context_length", "options")
    data = info.model_dump(mode="json")
    return digest("EmbeddingSpace", {key: data[key] for key in keys})


def _engine_info(
    model: InstalledModel, *, device: str, dtype: str, window: int, versions: dict[str, str]
) -> EngineInfo:
    return EngineInfo(
        engine="sentence-transformers",
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
        options={"long_text": "windows averaged by length", "window_margin": _MARGIN},
    )
