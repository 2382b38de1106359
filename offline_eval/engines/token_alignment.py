"""How well each token of a claim finds a partner in a text, by a local embedder's token vectors.

Why: a swapped name or verb leaves the sentence's own vector almost unmoved, but the swapped token finds no partner.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from offline_eval.core.errors import EngineError, ModelError
from offline_eval.engines.support_features import best_sentence
from offline_eval.models.installed import InstalledModel
from offline_eval.text.sentences import split_sentences

ALIGNMENT = ("token_mean", "token_least", "token_low_quarter", "cosine", "cosine_best_sentence")
"""Names of the features: mean, least and mean of the lowest quarter of each claim token's best cosine in the text;
largest cosine of the claim with a window of the text; cosine with the best sentence. All in [-1, 1]."""

_BATCH_TOKENS = 2048
_LARGEST_BATCH = 64
_PAIRS_AT_ONCE = 256  # so that memory does not grow with the number of pairs
_WINDOW_CHARACTERS = 900  # of whole sentences, well inside 256 tokens of English
_FUNCTION = """
    the a an of to in and or is are was were be been it its this that for on at by with as from has have had he she they
    his her their do does did what which who when where how
"""
_FUNCTION_WORDS = frozenset(_FUNCTION.split())


class _States(NamedTuple):
    """One encoded text.

    Attributes:
        tokens: Shape (n_tokens, dimension), rows of length 1, function words and marks left out.
        mean: Shape (dimension,), length 1.
    """

    tokens: Any
    mean: Any


class TokenAligner:
    """Token vectors of an embedder from a verified folder.

    Args:
        model: An installed model of kind `embedder` with mean pooling.
        device: `cpu`, `cuda`, …; the best local one unless given.
        dtype: `bfloat16` is faster on processors and cards made for it; it moves a cosine by about 0.005.

    Raises:
        ModelError: The model is no embedder.
        EngineError: It cannot be loaded.
    """

    def __init__(self, model: InstalledModel, *, device: str | None = None, dtype: str = "float32") -> None:
        if model.config.kind != "embedder":
            raise ModelError(f"{model.config.name} is of kind {model.config.kind}, not an embedder")
        import torch
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        self._torch = torch
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model
        self.dtype = dtype
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(model.folder, local_files_only=True)
            self._network = AutoModel.from_pretrained(
                model.folder,
                dtype=getattr(torch, dtype),
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
            )
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise EngineError(f"{model.config.name} in {model.folder} cannot be loaded: {error}") from error
        self._network.eval().to(self.device)
        self._window = model.config.context_length

    def features(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, ...]]:
        """Compare claims with texts.

        Args:
            pairs: Text and claim; a text of any length, it is read in windows of whole sentences.

        Returns:
            One number for each name of `ALIGNMENT` and each pair, in order.
        """
        rows: list[tuple[float, ...]] = []
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            rows += self._features(pairs[start : start + _PAIRS_AT_ONCE])
        return rows

    def windows(self, text: str) -> list[str]:
        """Windows of whole sentences that fit the model; a sentence too long for it is cut at its tokens."""
        pieces: list[str] = []
        for sentence in split_sentences(text):
            for part in self._fitting(sentence.text):
                if pieces and len(pieces[-1]) + len(part) < _WINDOW_CHARACTERS:
                    pieces[-1] += f" {part}"
                else:
                    pieces.append(part)
        return [part for piece in pieces for part in self._fitting(piece)] or [""]

    def token_ids(self, text: str) -> list[int]:
        """The text as the model reads it, with its special tokens; nothing is cut."""
        ids: list[int] = self._tokenizer(text, truncation=False, verbose=False)["input_ids"]
        return ids

    def close(self) -> None:
        """Forget the model."""
        del self._network

    def _features(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, ...]]:
        windows = {text: self.windows(text) for text, _ in pairs}
        sentences = [best_sentence(text, claim) for text, claim in pairs]
        wanted = {piece for pieces in windows.values() for piece in pieces}
        claims = {claim: self.windows(claim) for _, claim in pairs}
        wanted |= {piece for pieces in claims.values() for piece in pieces}
        wanted |= {piece for sentence in sentences for piece in self.windows(sentence)[:1]}
        states = self._encode(sorted(wanted))
        rows = []
        for (text, claim), sentence in zip(pairs, sentences, strict=True):
            whole = [states[piece] for piece in windows[text]]
            parts = [states[piece] for piece in claims[claim]]
            rows.append(self._compare(parts, whole, states[self.windows(sentence)[0]]))
        return rows

    def _compare(self, claim: Sequence[_States], text: Sequence[_States], sentence: _States) -> tuple[float, ...]:
        torch = self._torch
        tokens = torch.cat([part.tokens for part in claim])
        others = torch.cat([part.tokens for part in text])
        found = (tokens @ others.T).max(dim=1).values.sort().values  # (n_claim_tokens,)
        mean = torch.nn.functional.normalize(torch.stack([part.mean for part in claim]).sum(dim=0), dim=0)
        cosine = max(float(mean @ part.mean) for part in text)
        quarter = found[: max(1, len(found) // 4)]
        values = (float(found.mean()), float(found[0]), float(quarter.mean()), cosine, float(mean @ sentence.mean))
        return tuple(min(1.0, max(-1.0, value)) for value in values)

    def _encode(self, texts: Sequence[str]) -> dict[str, _States]:
        torch = self._torch
        encoded = [self.token_ids(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda at: (len(encoded[at]), texts[at]))
        states: dict[str, _States] = {}
        while order:
            # The longest come last; a batch holds about the same number of tokens.
            size = min(_LARGEST_BATCH, max(1, _BATCH_TOKENS // len(encoded[order[:_LARGEST_BATCH][-1]])))
            batch, order = order[:size], order[size:]
            width = max(len(encoded[at]) for at in batch)
            ids = torch.zeros((len(batch), width), dtype=torch.long)
            mask = torch.zeros((len(batch), width), dtype=torch.long)
            for row, at in enumerate(batch):
                ids[row, : len(encoded[at])] = torch.tensor(encoded[at])
                mask[row, : len(encoded[at])] = 1
            with torch.inference_mode():
                hidden = (
                    self._network(input_ids=ids.to(self.device), attention_mask=mask.to(self.device))
                    .last_hidden_state.float()
                    .cpu()
                )
            for row, at in enumerate(batch):
                states[texts[at]] = self._states(hidden[row, : len(encoded[at])], encoded[at])
        return states

    def _states(self, hidden: Any, ids: Sequence[int]) -> _States:
        normalize = self._torch.nn.functional.normalize
        words = self._tokenizer.convert_ids_to_tokens(list(ids))
        special = set(self._tokenizer.all_special_tokens)
        kept = [
            at
            for at, word in enumerate(words)
            if word not in special and word not in _FUNCTION_WORDS and any(map(str.isalnum, word))
        ]
        return _States(tokens=normalize(hidden[kept or [0]], dim=1), mean=normalize(hidden.mean(dim=0), dim=0))

    def _fitting(self, text: str) -> list[str]:
        limit = self._window - 2
        if len(text.encode()) <= limit:
            return [text]
        offsets = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)[
            "offset_mapping"
        ]
        step = limit - 8  # cutting inside a word can change its tokens
        if len(offsets) <= limit:
            return [text]
        return [
            text[offsets[at][0] : offsets[min(at + step, len(offsets)) - 1][1]] for at in range(0, len(offsets), step)
        ]
