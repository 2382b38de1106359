"""The wording every step uses: data files in Chinese and English with a version, and how material is shown in a fence.

Why data: wording decides what a model writes, so it has to be seen, compared and hashed without reading code.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import Field, ValidationError

from offline_eval.core.errors import DataError
from offline_eval.core.protocols import GenerateRequest, LabelChoice, Message, ObjectTail
from offline_eval.core.records import Case, Passage, Record, Response
from offline_eval.core.yaml_text import parse_yaml
from offline_eval.judge.prompt import Material
from offline_eval.testset.draft import QuestionType

PromptLanguage = Literal["en", "zh"]
GRADES = ("1", "2", "3")


class StepPrompt(Record):
    """One step.

    Attributes:
        task: What is asked; `{angle}` stands for one of `Prompts.angles`.
        fields: Of the object that is written, in order: name to longest value, in characters.
    """

    task: str
    fields: dict[str, int] = Field(min_length=1)


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
        leaning: Regular expressions of wording that points at a text the reader does not have.
    """

    version: str
    language: PromptLanguage
    system: str
    format: str
    style: str
    close: str
    words: dict[str, str]
    steps: dict[str, StepPrompt]
    types: dict[QuestionType, StepPrompt]
    angles: tuple[str, ...] = Field(min_length=1)
    leaning: tuple[str, ...]
    critic: CriticPrompt

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

    Args:
        shown: Further blocks after the passages, named by keys of `Prompts.words`.
        examples: Questions whose style is wanted.
        angle: What a question should be about.
    """
    blocks = {name: text for name, text in (shown or {}).items() if text}
    if examples:
        blocks["examples"] = "\n".join(f"- {example}" for example in examples)
    keys = ", ".join(step.fields)
    task = [prompts.system, step.task.replace("{angle}", angle), prompts.format.replace("{keys}", keys)]
    if examples:
        task.append(prompts.style)
    return GenerateRequest(
        messages=(
            Message(role="system", content="\n".join(task)),
            Message(role="user", content=_fenced(prompts, passages, blocks) + "\n" + prompts.close),
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
