"""Says who made a piece of evidence, in the same words for every check."""

from typing import Any

from offline_eval.core.evidence import Provenance
from offline_eval.core.hashing import digest


def provenance(name: str, version: str, *, engine: Any = None, parameters: Any = None) -> Provenance:
    """Provenance of a check's output.

    Args:
        engine: The engine that was asked; None when rules decided everything.
        parameters: What the check was set to, as JSON data.
    """
    return Provenance(
        producer=name,
        version=version,
        parameters_hash=digest(name, [version, parameters]),
        engine_fingerprint=None if engine is None else engine.info.fingerprint,
    )
