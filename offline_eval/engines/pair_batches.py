"""How distinct pairs become padded batches of about equal work; one way for every cross-encoder backend that pads."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from offline_eval.core.protocols import Failure
from offline_eval.engines.pair_encoding import EncodedPair, PairEncoder

CPU_TOKENS = 1024  # what fits a processor's caches is faster than a wide batch
GPU_TOKENS = 65_536

_LARGEST_BATCH = 256
_CERTIFIED_BATCH = 16
_CERTIFIED_STEP = 32  # tokens


class PairBatches:
    """Cuts sorted pairs into batches and pads each to its longest pair.

    Args:
        window: Tokens the model reads at most.
        budget: Tokens of a batch, padding included.
        certified: Whether every batch has one of a few fixed shapes, so that a pair's score does not depend on the
            pairs beside it.
    """

    def __init__(self, *, window: int, budget: int, certified: bool = False) -> None:
        self._window = window
        self._budget = budget
        self._certified = certified

    def cut(self, pairs: Sequence[EncodedPair]) -> Iterator[list[EncodedPair]]:
        """Batches in the order of the pairs, which are sorted by their tokens."""
        batch: list[EncodedPair] = []
        for pair in pairs:
            width = self._padded(len(pair.ids))
            full = self._size(width) <= len(batch)
            # A fixed shape holds one width only.
            if batch and (full or (self._certified and width != self._padded(len(batch[0].ids)))):
                yield batch
                batch = []
            batch.append(pair)
        if batch:
            yield batch

    def arrays(self, batch: Sequence[EncodedPair], *, padding: int) -> dict[str, npt.NDArray[np.int64]]:
        """What a network reads.

        Args:
            padding: Token id of what is filled up.

        Returns:
            `input_ids`, `attention_mask` and, where the model has segments, `token_type_ids`, each (n_rows, n_tokens);
            a fixed shape has more rows than pairs, copies of the last one.
        """
        width = self._padded(max(len(pair.ids) for pair in batch))
        height = _CERTIFIED_BATCH if self._certified else len(batch)
        ids = np.full((height, width), padding, dtype=np.int64)
        types, mask = (np.zeros((height, width), dtype=np.int64) for _ in range(2))
        for row in range(height):
            pair = batch[min(row, len(batch) - 1)]
            ids[row, : len(pair.ids)] = pair.ids
            types[row, : len(pair.types)] = pair.types
            mask[row, : len(pair.ids)] = 1
        found = {"input_ids": ids, "attention_mask": mask}
        return found | {"token_type_ids": types} if batch[0].types else found

    def _padded(self, length: int) -> int:
        if not self._certified:
            return length
        return min(self._window, -(-length // _CERTIFIED_STEP) * _CERTIFIED_STEP)

    def _size(self, width: int) -> int:
        if self._certified:
            return _CERTIFIED_BATCH
        return min(_LARGEST_BATCH, max(1, self._budget // width))


def score_in_batches(
    pairs: Sequence[tuple[str, str]],
    *,
    encoder: PairEncoder,
    batches: PairBatches,
    compute: Callable[[Sequence[EncodedPair]], Sequence[dict[str, float]]],
) -> list[dict[str, float] | Failure]:
    """Score every distinct pair that fits once.

    Args:
        compute: Scores of a batch, in its order.

    Returns:
        In the pairs' order; a pair that exceeds the model's window is a `prompt_too_long` failure.
    """
    encoded = encoder.encode(pairs)
    rows: dict[EncodedPair, dict[str, float]] = {}
    for batch in batches.cut(encoder.fitting(encoded)):
        rows.update(zip(batch, compute(batch), strict=True))
    return [rows[pair] if pair in rows else encoder.too_long(pair) for pair in encoded]
