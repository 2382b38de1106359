"""Fine-tunes a local encoder on the user's labels: one part teaches, one says when to stop, one is reported on.

Why three: stopping on the part that is reported would choose the luckiest epoch and then praise it.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from offline_eval.core.errors import EngineError, UsageError
from offline_eval.core.records import Record
from offline_eval.models.installed import InstalledModel
from offline_eval.training.labels import Example, LabelledSet, Parts, cut
from offline_eval.training.lora import add_adapters, merge_adapters

Progress = Callable[[str], None]

_WARM_UP = 0.1
_BUCKET = 16  # batches that are sorted by length together
_EVALUATION_BATCH = 32
_LORA_ALPHA_PER_RANK = 2.0


class TrainSettings(Record):
    """How to train.

    Attributes:
        epochs: Most passes over the training part.
        patience: Epochs without a better loss on the stopping part before training ends.
        learning_rate: Peak; None for 3e-5, or 1e-3 with adapters.
        batch_size: Pairs a step.
        max_tokens: Longest pair; longer ones are left out and counted, never cut.
        lora_rank: 0 trains all weights; else adapters of this rank and the head.
    """

    epochs: int = Field(default=6, ge=1)
    patience: int = Field(default=2, ge=1)
    learning_rate: float | None = Field(default=None, gt=0)
    batch_size: int = Field(default=16, ge=1)
    max_tokens: int = Field(default=256, ge=8)
    lora_rank: int = Field(default=0, ge=0)
    seed: int = 0


class Trained(NamedTuple):
    """A trained encoder, not yet on disk.

    Attributes:
        network: An ordinary sequence classifier; adapters are merged.
        adapter: Adapters and head by name; empty after full training.
        losses: Mean loss on the stopping part before training and after each epoch.
        best_epoch: The epoch whose weights these are; 0 when training made it no better.
        report: The examples to report on, and the head's outputs for them, shape (n, n_outputs), probabilities.
        too_long: Pairs left out of each part because they exceed `max_tokens`.
    """

    network: Any
    tokenizer: Any
    adapter: dict[str, Any]
    losses: tuple[float, ...]
    best_epoch: int
    parts: Parts
    report: tuple[tuple[float, ...], ...]
    too_long: dict[str, int]


def train(data: LabelledSet, base: InstalledModel, *, settings: TrainSettings, progress: Progress) -> Trained:
    """Fine-tune `base` on labelled pairs.

    Args:
        data: The labels.
        base: Any installed encoder: an embedder gets a new head, a cross-encoder with as many outputs keeps its own.
        settings: How to train.
        progress: Called with one line an epoch.

    Raises:
        DataError: Too few labels to part.
        UsageError: No pair of some part fits `max_tokens`.
        EngineError: The base cannot be loaded as an encoder.
    """
    import torch

    torch.manual_seed(settings.seed)
    tokenizer, network = _load(data, base, settings)
    parts = cut(data.examples, seed=settings.seed)
    kept, too_long = _fitting(parts, tokenizer, settings.max_tokens)
    rank, alpha = settings.lora_rank, _LORA_ALPHA_PER_RANK * settings.lora_rank
    names = add_adapters(network, rank=rank, alpha=alpha, seed=settings.seed) if rank else []
    loop = _Loop(network, tokenizer, settings, one_logit=not data.classes)
    losses, best_epoch = loop.run(kept, progress)
    adapter = merge_adapters(network, names, rank=rank, alpha=alpha) if rank else {}
    report = tuple(loop.probabilities(kept.report))
    return Trained(network, tokenizer, adapter, losses, best_epoch, kept, report, too_long)


class _Loop:
    """One training run over a network."""

    def __init__(self, network: Any, tokenizer: Any, settings: TrainSettings, *, one_logit: bool) -> None:
        import torch

        self._torch = torch
        self._network = network
        self._tokenizer = tokenizer
        self._settings = settings
        self._one_logit = one_logit
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        network.to(self._device)

    def run(self, parts: Parts, progress: Progress) -> tuple[tuple[float, ...], int]:
        """Train with early stopping; the network ends with the best epoch's weights."""
        settings = self._settings
        steps = settings.epochs * -(-len(parts.train) // settings.batch_size)
        optimizer, schedule = self._optimizer(steps)
        losses = [self.loss(parts.stop)]
        best, best_epoch = self._snapshot(), 0
        for epoch in range(1, settings.epochs + 1):
            self._network.train()
            for batch in _batches(parts.train, settings.batch_size, seed=settings.seed * 1000 + epoch):
                loss = self._loss(self._logits(batch), batch)
                loss.backward()
                self._torch.nn.utils.clip_grad_norm_(self._trainable(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            losses.append(self.loss(parts.stop))
            progress(f"epoch {epoch} of at most {settings.epochs}: loss on the stopping part {losses[-1]:.4f}")
            if losses[-1] < min(losses[:-1]):
                best, best_epoch = self._snapshot(), epoch
            elif epoch - best_epoch >= settings.patience:
                break
        self._network.load_state_dict(best, strict=False)
        return tuple(losses), best_epoch

    def loss(self, examples: Sequence[Example]) -> float:
        """Mean loss, without dropout."""
        self._network.eval()
        total = 0.0
        with self._torch.inference_mode():
            for start in range(0, len(examples), _EVALUATION_BATCH):
                batch = examples[start : start + _EVALUATION_BATCH]
                total += float(self._loss(self._logits(batch), batch)) * len(batch)
        return total / len(examples)

    def probabilities(self, examples: Sequence[Example]) -> Iterator[tuple[float, ...]]:
        """The head's outputs as probabilities, one row an example."""
        self._network.eval()
        with self._torch.inference_mode():
            for start in range(0, len(examples), _EVALUATION_BATCH):
                logits = self._logits(examples[start : start + _EVALUATION_BATCH])
                values = self._torch.sigmoid(logits) if self._one_logit else self._torch.softmax(logits, dim=1)
                yield from (tuple(row) for row in values.tolist())

    def _logits(self, batch: Sequence[Example]) -> Any:
        inputs = self._tokenizer(
            [example.first for example in batch],
            [example.second for example in batch],
            padding=True,
            truncation=False,
            return_tensors="pt",
        )
        return self._network(**inputs.to(self._device)).logits.float()

    def _loss(self, logits: Any, batch: Sequence[Example]) -> Any:
        torch = self._torch
        labels = torch.tensor([example.label for example in batch], device=self._device)
        if self._one_logit:
            return torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], labels)
        return torch.nn.functional.cross_entropy(logits, labels.long())

    def _optimizer(self, steps: int) -> tuple[Any, Any]:
        torch, settings = self._torch, self._settings
        rate = settings.learning_rate or (1e-3 if settings.lora_rank else 3e-5)
        optimizer = torch.optim.AdamW(self._trainable(), lr=rate, weight_decay=0.01)
        warm = max(1, int(_WARM_UP * steps))

        def share(step: int) -> float:
            return min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))

        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, share)

    def _trainable(self) -> list[Any]:
        return [parameter for parameter in self._network.parameters() if parameter.requires_grad]

    def _snapshot(self) -> dict[str, Any]:
        return {
            name: parameter.detach().clone()
            for name, parameter in self._network.named_parameters()
            if parameter.requires_grad
        }


def _batches(examples: Sequence[Example], size: int, *, seed: int) -> Iterator[list[Example]]:
    """Shuffled batches of pairs of like length, so that little is padded."""
    import random

    draw = random.Random(seed)
    order = draw.sample(list(examples), len(examples))
    batches: list[list[Example]] = []
    for start in range(0, len(order), size * _BUCKET):
        bucket = sorted(order[start : start + size * _BUCKET], key=lambda pair: len(pair.first) + len(pair.second))
        batches += [bucket[at : at + size] for at in range(0, len(bucket), size)]
    draw.shuffle(batches)
    yield from batches


def _fitting(parts: Parts, tokenizer: Any, max_tokens: int) -> tuple[Parts, dict[str, int]]:
    kept: list[tuple[Example, ...]] = []
    too_long: dict[str, int] = {}
    for name, part in zip(Parts._fields, parts, strict=True):
        encoded = tokenizer([pair.first for pair in part], [pair.second for pair in part], verbose=False)["input_ids"]
        fitting = tuple(pair for pair, ids in zip(part, encoded, strict=True) if len(ids) <= max_tokens)
        too_long[name] = len(part) - len(fitting)
        if not fitting:
            raise UsageError(f"no pair of the {name} part fits {max_tokens} tokens; raise --max-tokens or cut passages")
        kept.append(fitting)
    return Parts(*kept), too_long


def _load(data: LabelledSet, base: InstalledModel, settings: TrainSettings) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    if settings.max_tokens > base.config.context_length:
        # An embedder's stated window may be below what its positions allow.
        limit = _positions(base.folder)
        if settings.max_tokens > limit:
            raise UsageError(f"--max-tokens {settings.max_tokens} exceeds the {limit} that the base can read")
    labels: dict[str, Any] = {"num_labels": 1}
    if data.classes:
        labels = {
            "num_labels": len(data.classes),
            "id2label": dict(enumerate(data.classes)),
            "label2id": {name: place for place, name in enumerate(data.classes)},
        }
    logging.disable_progress_bar()
    level = logging.get_verbosity()
    logging.set_verbosity_error()  # a new head is what is wanted here, not worth a warning
    try:
        tokenizer = AutoTokenizer.from_pretrained(base.folder, local_files_only=True, trust_remote_code=False)
        network = AutoModelForSequenceClassification.from_pretrained(
            base.folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            ignore_mismatched_sizes=True,
            **labels,
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise EngineError(f"{base.config.name} cannot be loaded as an encoder: {error}") from error
    finally:
        logging.set_verbosity(level)
    return tokenizer, network.float()


def _positions(folder: Path) -> int:
    import json

    return int(json.loads((folder / "config.json").read_bytes()).get("max_position_embeddings", 512))
