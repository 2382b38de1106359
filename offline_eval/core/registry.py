"""Names of things that live one to a file: the file's stem is the name, and listing imports nothing."""

from functools import cached_property
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from offline_eval.core.errors import UnknownNameError


class Registry:
    """The modules below a package, by file stem.

    Args:
        kind: What they are, for messages ("metric").
        package: Dotted package; its sub-packages are searched too.
        attribute: What each module provides under this name.
    """

    def __init__(self, kind: str, package: str, attribute: str) -> None:
        self._kind = kind
        self._package = package
        self._attribute = attribute

    def names(self) -> list[str]:
        """All registered names, sorted."""
        return sorted(self._modules)

    def load(self, name: str) -> Any:
        """Import one and return what it provides.

        Raises:
            UnknownNameError: No such file; the message offers the nearest name.
        """
        return getattr(import_module(self.module(name)), self._attribute)

    def module(self, name: str) -> str:
        """Dotted name of the module that provides it.

        Raises:
            UnknownNameError: No such file.
        """
        modules = self._modules
        if name not in modules:
            raise UnknownNameError(self._kind, name, list(modules))
        return modules[name]

    @cached_property
    def _modules(self) -> dict[str, str]:
        """Listed once: reports look up metrics thousands of times, and files do not come and go."""
        found: dict[str, str] = {}
        pending: list[tuple[Traversable, str]] = [(files(self._package), self._package)]
        while pending:
            folder, dotted = pending.pop()
            for entry in folder.iterdir():
                if entry.is_dir() and (entry / "__init__.py").is_file():
                    pending.append((entry, f"{dotted}.{entry.name}"))
                elif entry.name.endswith(".py") and not entry.name.startswith("_"):
                    stem = entry.name.removesuffix(".py")
                    found[stem] = f"{dotted}.{stem}"
        return found
