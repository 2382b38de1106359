"""The words around the tables and lines of the test set commands, in English and Chinese.

Why data: codes in JSON and CSV stay what they are, and what people read is translated in one place.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from pydantic import Field, JsonValue, ValidationError

from offline_eval.core.errors import DataError
from offline_eval.core.records import Record
from offline_eval.core.yaml_text import parse_yaml

Language = Literal["en", "zh"]


class Note(NamedTuple):
    """A line that is put into words later.

    Attributes:
        key: Of `Printed.lines`.
        values: What stands in its places.
    """

    key: str
    values: Mapping[str, object] = {}


class Printed(Record):
    """One language.

    Attributes:
        lines: Key to a line with places for values.
        headings: Column to its heading; one that is missing stays as it is.
        values: Column to code to word; likewise.
    """

    lines: dict[str, str]
    headings: dict[str, str] = Field(default_factory=dict)
    values: dict[str, dict[str, str]] = Field(default_factory=dict)

    def line(self, key: str, **values: object) -> str:
        """A line with its values, whole numbers with thousands marked."""
        shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()}
        return self.lines[key].format(**shown)

    def note(self, note: Note) -> str:
        """A note as a line."""
        return self.line(note.key, **note.values)

    def word(self, column: str, code: str) -> str:
        """What a code in a column means."""
        return self.values.get(column, {}).get(code, code)

    def heading(self, column: str) -> str:
        """What a column is called."""
        return self.headings.get(column, column)

    def rows(self, rows: Sequence[Mapping[str, JsonValue]], columns: Sequence[str]) -> list[dict[str, JsonValue]]:
        """Rows with their headings and codes in words, columns in the given order."""
        return [{self.heading(name): self._cell(name, row.get(name)) for name in columns} for row in rows]

    def _cell(self, column: str, value: JsonValue) -> JsonValue:
        return self.word(column, value) if isinstance(value, str) else value


@cache
def printed(language: Language) -> Printed:
    """Read the shipped words.

    Raises:
        DataError: The file does not fit.
    """
    name = f"printed.{language}.yaml"
    text = files(__package__).joinpath("wordings", name).read_bytes()
    try:
        return Printed.model_validate(parse_yaml(text, name).data)
    except ValidationError as error:
        raise DataError([f"{name}: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]) from error
