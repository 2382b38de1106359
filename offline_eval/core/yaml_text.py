"""Reads YAML that a person wrote or somebody sent: plain values only, and one clear message for everything else.

Why not `yaml.safe_load` alone: names for parts (`*name`) let a few lines stand for gigabytes, deep nesting exhausts the
interpreter, and numbers or dates that cannot be raise whatever they like.
"""

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from offline_eval.core.errors import DataError

_LARGEST = 8 << 20  # bytes
# What PyYAML's constructors raise for values such as `!!int ""`, `!!timestamp x` or 2026-13-45.
_REFUSED = (yaml.YAMLError, ValueError, RecursionError, OverflowError, AttributeError, LookupError, TypeError)


class YamlDocument(NamedTuple):
    """A document.

    Attributes:
        data: Mappings, lists, texts, numbers, truth values, dates and None.
        root: The same as nodes that know their lines; None for an empty document.
    """

    data: Any
    root: yaml.Node | None


def read_yaml(path: Path) -> YamlDocument:
    """Read one YAML file.

    Raises:
        DataError: Not readable or not plain YAML, as `file:line: …`.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    return parse_yaml(raw, str(path))


def parse_yaml(text: bytes | str, source: str) -> YamlDocument:
    """Read YAML text.

    Args:
        text: UTF-8 when it is bytes, with or without a byte order mark.
        source: What messages call it.

    Raises:
        DataError: Not plain YAML.
    """
    if len(text) > _LARGEST:
        raise DataError(f"{source}:1: has more than {_LARGEST >> 20} MiB; is it the right file?")
    try:
        loader = _PlainLoader(text.decode("utf-8-sig") if isinstance(text, bytes) else text)
        try:
            root = loader.get_single_node()
            return YamlDocument(None if root is None else loader.construct_document(root), root)
        finally:
            loader.dispose()
    except UnicodeDecodeError as error:
        raise DataError(f"{source}:1: not valid YAML (byte {error.start} is not UTF-8); save it as UTF-8") from None
    except RecursionError:
        raise DataError(f"{source}:1: not valid YAML (nested too deeply)") from None
    except _REFUSED as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{source}:{mark.line + 1 if mark else 1}: not valid YAML ({what})") from None


class _PlainLoader(yaml.SafeLoader):
    """Refuses aliases."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(
                problem=f"*{event.anchor} repeats another part; write it out", problem_mark=event.start_mark
            )
        node: yaml.Node | None = super().compose_node(parent, index)
        return node
