"""A RAG pipeline that knows when it does not know: checks around somebody's retrievers and generator."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offline_eval.assess.pipeline import SelfAssessingRag
    from offline_eval.assess.policy import Policy
    from offline_eval.assess.records import Assessment

__all__ = ["Assessment", "Policy", "SelfAssessingRag"]

_MODULES = {"Assessment": "records", "Policy": "policy", "SelfAssessingRag": "pipeline"}


def __getattr__(name: str) -> Any:
    """Import on first use, so that the command line's help stays quick."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
