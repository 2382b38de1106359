"""Which number format and which backend a run's encoders take, decided before any model is loaded.

bfloat16 is faster where the hardware computes in it and moves scores little, so it is taken there: on 300 clapnq pairs
`default-answerability` moved by .0054 at most, .00078 on average, and no score changed sides of .5
(`scripts/measure_encoder_dtype.py`). Certified mode promises scores that nothing moves, and so always takes float32.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from offline_eval.airgap.probes import cpu_features, gpus
from offline_eval.core.errors import UsageError
from offline_eval.engines.feature_scorer import DEFAULT_SCORERS, load_scorer_data
from offline_eval.engines.select import EncoderDtype, EncoderEngine, pick_engine, refuse_certified_int8
from offline_eval.models.config import Dtype
from offline_eval.models.installed import find_installed

ENCODER_DTYPES = ("auto", "float32", "bfloat16", "float16")
_FAST_FEATURE = "amx_bf16"


class EncoderFormat(NamedTuple):
    """What was decided.

    Attributes:
        why: The reason, in words.
    """

    dtype: EncoderDtype
    why: str


def encoder_format(
    wanted: str, *, certified: bool, encoders: Iterable[str], engine: EncoderEngine = "transformers"
) -> EncoderFormat:
    """Decide on a number format.

    Args:
        wanted: One of `ENCODER_DTYPES`.
        certified: Whether the run is.
        encoders: The run's; without one that has a network the answer does not depend on the machine.
        engine: What runs cross-encoders; ONNX Runtime computes in int8 alone.

    Raises:
        UsageError: Another format than float32 for a certified run, one that the engine does not compute in, or an
            unknown one.
    """
    formats: dict[str, Dtype] = {"float32": "float32", "bfloat16": "bfloat16", "float16": "float16"}
    if wanted not in ENCODER_DTYPES:
        raise UsageError(f"unknown number format {wanted!r}; known: {', '.join(ENCODER_DTYPES)}")
    if engine == "onnx":
        if wanted != "auto":
            raise UsageError(f"--encoder-engine onnx computes in int8; leave --encoder-dtype {wanted} out")
        refuse_certified_int8(certified=certified)
        return EncoderFormat("int8", "ONNX Runtime")
    if certified and wanted not in ("auto", "float32"):
        raise UsageError(
            f"certified mode computes encoders in float32; leave --encoder-dtype {wanted} out, or add --no-certified"
        )
    if wanted != "auto":
        return EncoderFormat(formats[wanted], "asked for")
    if certified:
        return EncoderFormat("float32", "certified mode")
    if not any(_has_network(name) for name in encoders):
        return EncoderFormat("float32", "no network is asked")
    if gpus():
        return EncoderFormat("bfloat16", "a GPU")
    if _FAST_FEATURE in cpu_features():
        return EncoderFormat("bfloat16", "a processor with AMX for bfloat16")
    return EncoderFormat("float32", "no GPU and no AMX for bfloat16")


def _has_network(name: str) -> bool:
    """Whether anything of an encoder is computed in the chosen format; a default scorer may read words alone."""
    if name not in DEFAULT_SCORERS:
        return True
    base = load_scorer_data(name).base_embedder
    return base is not None and find_installed(base) is not None


def require_encoder_engine(wanted: EncoderEngine, encoders: Iterable[str]) -> None:
    """Refuse a backend that would run none of the encoders, or is not here, before a run exists.

    Args:
        encoders: The run's `nli` and `answerability` models.

    Raises:
        UsageError: vLLM or ONNX Runtime is asked for, and is not installed or has no classification head to run.
    """
    if wanted == "transformers":
        return
    names = sorted(set(encoders))
    if all(name in DEFAULT_SCORERS for name in names):
        found = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} none" if names else "none is asked"
        raise UsageError(
            f"--encoder-engine {wanted} runs classification heads, {found}; name one with --nli or --answerability"
        )
    if wanted == "onnx":
        from offline_eval.engines.onnx_classify import require_onnx

        require_onnx()
    else:
        pick_engine(wanted)


__all__: Sequence[str] = ["ENCODER_DTYPES", "EncoderFormat", "encoder_format", "require_encoder_engine"]
