"""Which number format is fast on this machine."""

from typing import NamedTuple

from offline_eval.airgap.probes import cpu_features, gpus
from offline_eval.models.config import Dtype

_FAST_FEATURE = "amx_bf16"


class NumberFormat(NamedTuple):
    """What was decided.

    Attributes:
        why: The reason, in words.
    """

    dtype: Dtype
    why: str


def fast_format() -> NumberFormat:
    """bfloat16 where the hardware computes in it, else float32.

    A processor without it has to emulate it: with AVX2 alone a judge took more than four times as long as in float32.
    """
    if gpus():
        return NumberFormat("bfloat16", "a GPU")
    if _FAST_FEATURE in cpu_features():
        return NumberFormat("bfloat16", "a processor with AMX for bfloat16")
    return NumberFormat("float32", "no GPU and no AMX for bfloat16")
