"""The wording every step uses: data files in Chinese and English with a version, and how material is shown in a fence.

Why data: wording decides what a model writes, so it has to be seen, compared and hashed without reading code.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from offline_eval.core.errors import DataError
from offline_eval.core.protocols import GenerateRequest, LabelChoice, Message, ObjectTail
from offline_eval.core.records import Case, Passage, Record, Response
from offline_eval.core.yaml_text import parse_yaml
from offline_eval.judge.prompt import Material
from offline_eval.testset.draft import QuestionType

PromptLanguage = Literal["en", "zh"]
GRADES = ("1", "2", "3")


class WorkedExample(Record):
    """A step done well, shown before the real material: a small model takes over its form.

    Attributes:
        passages: How many of `Prompts.example_passages` it is about.
        shown: Further blocks, as `step_request` takes them.
        angle: What its question is about; empty for what is no question.
        output: What is written: field to value.
    """

    passages: int = Field(default=1, ge=0)
    shown: dict[str, str] = Field(default_factory=dict)
    angle: str = ""
    output: dict[str, str]


class StepPrompt(Record):
    """One step.

    Attributes:
        fields: Of the object that is written, in order: name to longest value, in characters.
    """

    task: str
    fields: dict[str, int] = Field(min_length=1)
    example: WorkedExample

    @model_validator(mode="after")
    def _example_fits(self) -> Self:
        if list(self.example.output) != list(self.fields):
            raise ValueError("the example's output has other fields than the step")
        too_long = [name for name, limit in self.fields.items() if len(self.example.output[name]) > limit]
        if too_long:
            raise ValueError(f"the example's {too_long[0]} is longer than the step allows")
        return self


class Dimension(Record):
    """What the critic grades, with questions whose grade is known.

    Attributes:
        levels: Grade to its meaning, worst first.
        good: Questions that deserve the best grade.
        bad: Questions that deserve the worst.
    """

    ask: str
    levels: dict[str, str]
    good: tuple[str, ...] = Field(min_length=2)
    bad: tuple[str, ...] = Field(min_length=2)


class CriticPrompt(Record):
    """The critic's wording."""

    task: str
    format: str
    dimensions: dict[str, Dimension]


class Prompts(Record):
    """Everything that is said to a judge in one language.

    Attributes:
        about: Says what a question is to be about; `{angle}` stands for one of `angles`.
        example_passages: What the worked examples are about.
        leaning: Regular expressions of wording that points at a text the reader does not have.
    """

    version: str
    language: PromptLanguage
    system: str
    format: str
    style: str
    about: str
    close: str
    words: dict[str, str]
    example_passages: tuple[str, ...]
    steps: dict[str, StepPrompt]
    types: dict[QuestionType, StepPrompt]
    angles: tuple[str, ...] = Field(min_length=1)
    leaning: tuple[str, ...]
    critic: CriticPrompt

    @property
    def example_questions(self) -> tuple[str, ...]:
        """What the worked examples ask; a copy of one is no question about the user's documents."""
        return tuple(step.example.output["question"] for step in self.types.values())

    @property
    def id(self) -> str:
        """`language@version`."""
        return f"{self.language}@{self.version}"


@cache
def load_prompts(language: PromptLanguage) -> Prompts:
    """Read the shipped wording.

    Raises:
        DataError: The file does not fit.
    """
    name = f"{language}.yaml"
    text = files(__package__).joinpath("prompts", name).read_bytes()
    try:
        return Prompts.model_validate(parse_yaml(text, name).data)
    except ValidationError as error:
        raise DataError([f"{name}: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]) from error


def step_request(
    prompts: Prompts,
    step: StepPrompt,
    *,
    passages: Sequence[Passage] = (),
    shown: Mapping[str, str] | None = None,
    examples: Sequence[str] = (),
    angle: str = "",
) -> GenerateRequest:
    """Ask for one object of bounded strings about fenced material.

    The task and the worked example come first and are the same for all material, so that a prefix cache computes them
    once.

    Args:
        shown: Further blocks after the passages, named by keys of `Prompts.words`.
        examples: Questions whose style is wanted.
        angle: What a question should be about.
    """
    blocks = {name: text for name, text in (shown or {}).items() if text}
    if examples:
        blocks["examples"] = "\n".join(f"- {example}" for example in examples)
    task = [prompts.system, step.task, prompts.format.replace("{keys}", ", ".join(step.fields))]
    if examples:
        task.append(prompts.style)
    worked = step.example
    given = [Passage(id=str(n), text=text) for n, text in enumerate(prompts.example_passages[: worked.passages])]
    return GenerateRequest(
        messages=(
            Message(role="system", content="\n".join(task)),
            Message(role="user", content=_asked(prompts, given, worked.shown, worked.angle)),
            Message(role="assistant", content=json.dumps(worked.output, ensure_ascii=False, separators=(",", ":"))),
            Message(role="user", content=_asked(prompts, passages, blocks, angle)),
        ),
        prefill="{",
        constraint=ObjectTail(fields=step.fields),
    )


def critic_request(prompts: Prompts, dimension: str, question: str) -> GenerateRequest:
    """Ask for one grade of a question, as a single token whose probability is read before any mask."""
    critic = prompts.critic
    asked = critic.dimensions[dimension]
    levels = [f"{grade}: {meaning}" for grade, meaning in asked.levels.items()]
    task = [critic.task, asked.ask, *levels, critic.format.replace("{labels}", ", ".join(GRADES))]
    return GenerateRequest(
        messages=(
            Message(role="system", content="\n".join(task)),
            Message(role="user", content=_fenced(prompts, (), {"question": question}) + "\n" + prompts.close),
        ),
        prefill='{"grade":',
        constraint=LabelChoice(labels=GRADES),
    )


def _asked(prompts: Prompts, passages: Sequence[Passage], blocks: Mapping[str, str], angle: str) -> str:
    """One turn of whoever asks: the material, what the question is to be about, and the closing line."""
    lines = [_fenced(prompts, passages, blocks), prompts.close]
    if angle:
        lines.insert(1, prompts.about.replace("{angle}", angle))
    return "\n".join(lines)


def _fenced(prompts: Prompts, passages: Sequence[Passage], blocks: Mapping[str, str]) -> str:
    """Blocks between lines with a mark that none of them contains."""
    material = Material(
        Case(id="material", query="\n".join(blocks.values())), Response(case_id="material", passages=tuple(passages))
    )
    fence, words = material.fence, prompts.words
    found = {"passages": material.blocks["passages"], **blocks}
    lines = [
        f"=== {fence} {words[name]} ===\n{text}\n=== {fence} {words['end']} ===" for name, text in found.items() if text
    ]
    return "\n".join(lines)
