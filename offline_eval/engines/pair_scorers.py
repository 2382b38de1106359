"""From a name to a loaded pair scorer: one of the shipped defaults, or an installed cross-encoder."""

from offline_eval.core.protocols import PairScorer
from offline_eval.engines.feature_scorer import DEFAULT_SCORERS


def open_pair_scorer(
    name_or_folder: str, *, device: str | None = None, dtype: str | None = None, certified: bool = False
) -> PairScorer:
    """Load a pair scorer.

    Args:
        name_or_folder: `default-support`, `default-answerability`, a registered model's name, or a folder.
        device: `cpu`, `cuda`, …; the best local one unless given.
        dtype: `float32`, `bfloat16` or `float16`; unless given, a cross-encoder takes its model config's, a default
            float32.
        certified: As for `CrossEncoderScorer`.

    Raises:
        ModelError: Not installed, altered, unsafe or no cross-encoder.
        UnknownNameError: No such model.
        EngineError: It cannot be loaded.
    """
    if name_or_folder in DEFAULT_SCORERS:
        from offline_eval.engines.feature_scorer import open_default_scorer

        return open_default_scorer(name_or_folder, device=device, dtype="float32" if certified else dtype)
    from offline_eval.engines.cross_encoder import open_cross_encoder

    return open_cross_encoder(name_or_folder, device=device, dtype=dtype, certified=certified)
