"""How a pair becomes tokens and a head's logits become named probabilities; one way for every cross-encoder backend.

Two backends are interchangeable only if both read the same tokens, refuse the same pairs and name the same labels.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from offline_eval.core.errors import ModelError
from offline_eval.core.protocols import Failure
from offline_eval.models.config import ModelConfig


class EncodedPair(NamedTuple):
    """One distinct pair.

    Attributes:
        ids: Token ids with special tokens.
        types: Segment of each token; empty where the model has none.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]


class PairEncoder:
    """Encodes pairs and refuses those that do not fit; nothing is ever cut.

    Args:
        tokenizer: The model's own.
        template: How a pair becomes one text, with `{premise}` and `{hypothesis}`; None for two segments.
        window: Tokens the model reads at most.
        model: Its name, for messages.
    """

    def __init__(self, tokenizer: Any, *, template: object, window: int, model: str) -> None:
        self._tokenizer = tokenizer
        self._template = template
        self._window = window
        self._model = model

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[EncodedPair]:
        """Tokens of every pair, in order."""
        if not pairs:
            return []
        if isinstance(self._template, str):
            texts = [fill_template(self._template, premise, hypothesis) for premise, hypothesis in pairs]
            encoded = self._tokenizer(texts, truncation=False, verbose=False)
        else:
            first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            encoded = self._tokenizer(first, second, truncation=False, verbose=False)
        types = encoded.get("token_type_ids") or [()] * len(pairs)
        return [EncodedPair(tuple(ids), tuple(kinds)) for ids, kinds in zip(encoded["input_ids"], types, strict=True)]

    def fitting(self, pairs: Sequence[EncodedPair]) -> list[EncodedPair]:
        """The distinct pairs that fit, shortest first, so that a caller's order cannot move a score."""
        fitting = {pair for pair in pairs if len(pair.ids) <= self._window}
        return sorted(fitting, key=lambda pair: (len(pair.ids), pair))

    def too_long(self, pair: EncodedPair) -> Failure:
        """Why a pair that does not fit has no score."""
        return Failure(
            reason="prompt_too_long",
            detail=f"the pair has {len(pair.ids)} tokens, {self._model} reads {self._window}; cut the premise",
        )


def fill_template(template: str, premise: str, hypothesis: str) -> str:
    """Put a pair into a model's own input format; braces in the texts stay as they are."""
    before, found, after = template.partition("{premise}")
    if not found or "{hypothesis}" not in before + after:
        raise ModelError("pair_text needs {premise} and {hypothesis}; correct the model's config")
    before, after = (part.replace("{hypothesis}", hypothesis) for part in (before, after))
    return f"{before}{premise}{after}"


def head_relations(config: ModelConfig, network: Any) -> tuple[str, ...]:
    """What each of the head's labels means, in the order of its logits; `score` alone for a one-logit head.

    Args:
        network: The model's own config with `num_labels` and `id2label`.

    Raises:
        ModelError: A label that the config's label_map does not explain, or an nli model with one output.
    """
    labels = [str(network.id2label[place]) for place in range(network.num_labels)]
    if len(labels) == 1:
        if config.kind == "nli":
            raise ModelError(f"{config.name} has one output, an nli model needs two or three; state another kind")
        return ("score",)
    unknown = [label for label in labels if label not in config.label_map]
    if unknown:
        raise ModelError(
            f"{config.name}: label_map does not say what {', '.join(unknown)} means; add it to the model's config"
        )
    return tuple(config.label_map[label] for label in labels)


def named_probabilities(logits: Sequence[float], relations: Sequence[str]) -> dict[str, float]:
    """A row of logits as probabilities: the softmax by relation, or the logistic of the only logit.

    Args:
        logits: One for each relation.
        relations: Some may share a name; their probabilities are added.
    """
    if len(relations) == 1:
        return {relations[0]: 0.5 * (1 + math.tanh(logits[0] / 2))}
    highest = max(logits)
    shares = [math.exp(value - highest) for value in logits]
    total = math.fsum(shares)
    found: dict[str, float] = {}
    for relation, share in zip(relations, shares, strict=True):
        found[relation] = found.get(relation, 0.0) + share / total
    return found
