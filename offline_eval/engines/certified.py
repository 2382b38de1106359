"""When certified mode is on and which number format it takes, decided before any model is loaded.

It is on by itself where somebody who takes float32 on a CPU wants it: there its price is that labels are computed one
by one. Elsewhere the price is higher (two to five times the time of bfloat16 on a CPU, slower kernels on a GPU), so
there it is asked for.
"""

from collections.abc import Sequence
from typing import NamedTuple

from offline_eval.airgap.probes import gpus
from offline_eval.engines.number_format import fast_format
from offline_eval.models.installed import require_installed

IN_PROCESS = ("vllm", "transformers")


class CertifiedSetting(NamedTuple):
    """What was decided.

    Attributes:
        dtype: The number format to run with; None takes the model config's.
        why: The reason, in words.
    """

    on: bool
    dtype: str | None
    why: str


def certified_setting(
    wanted: bool | None, *, engine: str, judges: Sequence[str], dtype: str | None
) -> CertifiedSetting:
    """Decide.

    Args:
        wanted: What the user said; None for nothing.
        dtype: What the user asked for; None for nothing, `auto` for `fast_format`, which gives way to certified mode's
            own on a CPU.

    Raises:
        ModelError: A judge is not installed.
    """
    if dtype == "auto":
        is_free = engine in IN_PROCESS and judges and not wanted
        dtype = fast_format().dtype if is_free else None
    if engine not in IN_PROCESS or not judges:
        return CertifiedSetting(bool(wanted), dtype, "asked for" if wanted else "this engine is tested when asked")
    has_gpu = bool(gpus())
    if wanted:
        return CertifiedSetting(True, dtype or (None if has_gpu else "float32"), "asked for")
    if wanted is False:
        return CertifiedSetting(False, dtype, "--no-certified")
    if has_gpu:
        return CertifiedSetting(False, dtype, "batch-invariant kernels are slower; --certified takes them")
    formats = sorted({dtype or require_installed(name).config.dtype for name in judges})
    if formats == ["float32"]:
        return CertifiedSetting(True, dtype, "float32 on a CPU")
    return CertifiedSetting(False, dtype, f"{', '.join(formats)} on a CPU; --certified takes float32")
