"""Rubrics are versioned data files, one a dimension and language: what is judged, by which levels, with examples."""

from functools import cache
from importlib.resources import files
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from offline_eval.core.errors import DataError, UnknownNameError
from offline_eval.core.records import Record
from offline_eval.core.yaml_text import parse_yaml

Block = Literal["passages", "query", "answer", "other_answer", "reference", "key_points"]
RUBRIC_LANGUAGES = ("en", "zh")


class Level(Record):
    """One label of a rubric.

    Attributes:
        label: What the judge writes: ASCII, a single token in every usual vocabulary.
        grade: Its place on the scale; None for a label without an order.
        name: Display name in the rubric's language.
        criterion: When this level is right.
    """

    label: str = Field(pattern=r"^[A-Za-z0-9]$")
    grade: float | None
    name: str
    criterion: str


class Example(Record):
    """A worked example: the material, the right label, and the evidence and reason that belong to it."""

    material: dict[Block, str]
    label: str
    evidence: str
    reason: str


class Rubric(Record):
    """How one dimension is judged in one language.

    Attributes:
        key: The verdict object's first key, `grade` or `preference`.
        sees: What the judge is shown; each examiner sees only what its dimension needs.
    """

    name: str
    language: str
    version: int = Field(ge=1)
    dimension: str
    key: str = "grade"
    sees: tuple[Block, ...]
    role: str
    task: str
    levels: tuple[Level, ...] = Field(min_length=2)
    examples: tuple[Example, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _examples_fit(self) -> Self:
        labels = self.labels
        if len(set(labels)) != len(labels):
            raise ValueError("two levels have the same label")
        for example in self.examples:
            if example.label not in labels:
                raise ValueError(f"an example has the label {example.label!r}, which is no level")
            unseen = set(example.material) - set(self.sees)
            if unseen:
                raise ValueError(f"an example shows {', '.join(sorted(unseen))}, which this rubric does not see")
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, in the order of the levels."""
        return tuple(level.label for level in self.levels)

    @property
    def id(self) -> str:
        """`name.language@version`."""
        return f"{self.name}.{self.language}@{self.version}"

    def level(self, label: str) -> Level:
        """The level of a label."""
        return next(level for level in self.levels if level.label == label)

    @property
    def lowest(self) -> Level:
        """The level of the lowest grade."""
        return min(self.levels, key=lambda level: level.grade if level.grade is not None else float("inf"))


def rubric_names() -> list[str]:
    """Names of the shipped rubrics, without language."""
    stems = {entry.name.split(".")[0] for entry in files(__package__).joinpath("rubrics").iterdir()}
    return sorted(stem for stem in stems if stem)


@cache
def load_rubric(name: str, language: str) -> Rubric:
    """Read a shipped rubric.

    Raises:
        UnknownNameError: No rubric of that name.
        DataError: The file does not fit; the message names it.
    """
    if name not in rubric_names():
        raise UnknownNameError("rubric", name, rubric_names())
    wanted = language if language in RUBRIC_LANGUAGES else "en"
    file_name = f"{name}.{wanted}.yaml"
    text = files(__package__).joinpath("rubrics", file_name).read_bytes()
    return parse_rubric(text, file_name)


def parse_rubric(text: str | bytes, source: str) -> Rubric:
    """Read a rubric from YAML text.

    Raises:
        DataError: Not YAML, or not a rubric; every problem with `source` in front.
    """
    try:
        return Rubric.model_validate(parse_yaml(text, source).data)
    except ValidationError as error:
        problems = [
            f"{source}: {'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()
        ]
        raise DataError(problems) from error
