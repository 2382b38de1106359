"""Templates in the reader's language, shipped and overridable key by key; text in, text out."""

from collections.abc import Mapping
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.core.yaml_text import parse_yaml, read_yaml

LANGUAGES = ("en", "zh")


class Wording:
    """One language's templates.

    Args:
        texts: Key to template.
        source: What messages call it.

    Raises:
        DataError: A template that cannot be read; all faults are listed.
    """

    def __init__(self, texts: Mapping[str, str], *, source: str) -> None:
        environment = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        faults, self._templates = [], {}
        for key, text in texts.items():
            try:
                self._templates[key] = environment.from_string(text)
            except TemplateError as error:
                faults.append(f"{source}: {key}: {error}; see the shipped file for the form")
        if faults:
            raise DataError(faults)
        self._texts = dict(texts)
        self._source = source

    @cached_property
    def version(self) -> str:
        """Hash of every word."""
        return digest("wording", self._texts)[:12]

    def text(self, key: str, **values: Any) -> str:
        """A template filled in; what is filled in is never read as a template.

        Raises:
            DataError: A template that names something it is not given.
        """
        try:
            return self._templates[key].render(**values).strip("\n")
        except TemplateError as error:
            raise DataError(f"{self._source}: {key}: {error}; see the shipped file for the names it may use") from None


def load_wording(language: str, own: str | None = None) -> Wording:
    """The templates of a language; English for a language without any.

    Args:
        own: A folder with `en.yaml` or `zh.yaml`, or one file for both; their keys replace the shipped ones.

    Raises:
        DataError: A file that cannot be read, or has keys that do not exist.
    """
    language = language if language in LANGUAGES else LANGUAGES[0]
    name = f"{language}.yaml"
    shipped: dict[str, str] = parse_yaml((files("offline_eval.assess") / "wordings" / name).read_bytes(), name).data
    if own is None:
        return Wording(shipped, source=name)
    path = Path(own) / name if Path(own).is_dir() else Path(own)
    if Path(own).is_dir() and not path.is_file():
        return Wording(shipped, source=name)
    replaced = read_yaml(path).data
    if not isinstance(replaced, dict) or not all(isinstance(text, str) for text in replaced.values()):
        raise DataError(f"{path}: expected keys with texts, as in the shipped {name}")
    unknown = sorted(set(map(str, replaced)) - set(shipped))
    if unknown:
        raise DataError(f"{path}: {', '.join(unknown)}: no such text; the shipped {name} lists them all")
    return Wording(shipped | replaced, source=str(path))
