"""What a test set shares with texts that are no corpus: worked examples in prompts, and labels somebody trained on."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from offline_eval.core.records import Case
from offline_eval.formats.problems import Problems, refuse
from offline_eval.formats.rows import read_rows
from offline_eval.judge.rubric import RUBRIC_LANGUAGES, load_rubric, rubric_names
from offline_eval.testset.leakage import DEFAULT_LIMITS, Leak, Limits, cut, wordings
from offline_eval.testset.misspelt import Misspelt
from offline_eval.testset.prompts import Prompts, WorkedExample, load_prompts
from offline_eval.testset.questions import Questions, is_whole_question
from offline_eval.testset.shared_runs import SharedRuns

_QUESTION_COLUMNS = ("query", "question", "user_input", "input")
_ANSWER_COLUMNS = (
    "reference",
    "answer",
    "response",
    "claim",
    "hypothesis",
    "statement",
    "ground_truth",
    "expected_output",
)


_EXAMPLE_FIELDS = (("question", True), ("paraphrase", True), ("colloquial", True), ("lengthened", True),
                   ("reference", False))  # fmt: skip


class Other(NamedTuple):
    """A text that a test set must not hold.

    Attributes:
        where: File and line, or the rubric.
        text: A question or an answer.
        is_question: Which of them.
    """

    where: str
    text: str
    is_question: bool


def rubric_examples() -> list[Other]:
    """The questions and answers shown to judges as worked examples, in every shipped rubric."""
    found: dict[tuple[str, bool], Other] = {}
    for name in rubric_names():
        for language in RUBRIC_LANGUAGES:
            rubric = load_rubric(name, language)
            for number, example in enumerate(rubric.examples, start=1):
                where = f"rubric {rubric.id}, example {number}"
                for block, is_question in (("query", True), ("answer", False), ("reference", False)):
                    text = example.material.get(block)  # type: ignore[call-overload]
                    if text:
                        found.setdefault((text, is_question), Other(where, text, is_question))
    return list(found.values())


def prompt_examples() -> list[Other]:
    """The questions and answers that a writer of questions is shown as worked examples, in every language."""
    found: dict[tuple[str, bool], Other] = {}
    for prompts in (load_prompts("en"), load_prompts("zh")):
        for name, example in _worked(prompts):
            for field, is_question in _EXAMPLE_FIELDS:
                for text in filter(None, (example.shown.get(field), example.output.get(field))):
                    found.setdefault((text, is_question), Other(f"prompt {prompts.id}, {name}", text, is_question))
    return list(found.values())


def _worked(prompts: Prompts) -> Iterator[tuple[str, WorkedExample]]:
    yield from ((kind, step.example) for kind, step in prompts.types.items())
    yield from ((name, step.example) for name, step in prompts.steps.items())


def texts_of(source: Path) -> list[Other]:
    """The questions and answers of any table: labels, examples, another test set.

    Raises:
        DataError: Rows that cannot be read, or without any column that holds a question or an answer.
    """
    problems = Problems(str(source))
    found: list[Other] = []
    for row in read_rows(source, problems):
        texts = list(_texts(row.values, f"{source}:{row.line}"))
        if not texts:
            columns = ", ".join(row.values) or "none"
            problems.add(row.line, f"no question or answer, expected one of query, question, reference, answer, claim; "
                                   f"columns here: {columns}")  # fmt: skip
        found += texts
    refuse([problems])
    return found


def leaks_elsewhere(
    cases: Sequence[Case],
    others: Sequence[Other],
    *,
    kind: Literal["example", "training"],
    limits: Limits = DEFAULT_LIMITS,
    tell: Callable[[int, int], None] | None = None,
) -> list[Leak]:
    """Compare every question with every question of the others, misspelt ones too, and long answers with answers.

    Returns:
        One leak a case and place, the likest; in the order of the others.
    """
    compare = _Comparison(cases, kind, limits)
    found: dict[tuple[str, str], Leak] = {}
    for number, other in enumerate(others, start=1):
        for leak in compare.with_question(other) if other.is_question else compare.with_answer(other):
            known = found.get((leak.case, leak.where))
            if known is None or leak.likeness > known.likeness:
                found[leak.case, leak.where] = leak
        if tell is not None:
            tell(number, len(others))
    return list(found.values())


class _Comparison:
    """Everything that other texts are compared with."""

    def __init__(self, cases: Sequence[Case], kind: Literal["example", "training"], limits: Limits) -> None:
        self._cases = cases
        self._kind = kind
        self._limits = limits
        self._asked = wordings(cases)
        texts = {key: item.text for key, item in self._asked.items()}
        self._words = Questions(texts, least=limits.words)
        self._letters = Misspelt(texts, least=limits.letters)
        self._runs = SharedRuns(texts, run=limits.run)
        self._answers = SharedRuns({str(n): case.reference or "" for n, case in enumerate(cases)}, run=limits.run)

    def with_answer(self, other: Other) -> Iterator[Leak]:
        """Long answers that stand in it."""
        for shared in self._answers.search(other.text):
            if shared.share >= self._limits.share:
                case = self._cases[int(shared.key)]
                yield Leak(
                    kind=self._kind, method="run", case=case.id, field="reference", where=other.where,
                    likeness=shared.share, text=cut(case.reference or ""), found=cut(other.text),
                )  # fmt: skip

    def with_question(self, other: Other) -> Iterator[Leak]:
        """Questions that it asks, in other words' order or misspelt too."""
        alike: list[tuple[Literal["run", "words", "letters"], str, float]] = [
            *(("words", item.key, item.likeness) for item in self._words.alike(other.text)),
            *(("letters", item.key, item.likeness) for item in self._letters.alike(other.text)),
            *(
                ("run", item.key, item.share)
                for item in self._runs.search(other.text)
                if is_whole_question(item, least=self._limits.share)
            ),
        ]
        for method, key, likeness in alike:
            item = self._asked[key]
            yield Leak(
                kind=self._kind, method=method, case=item.case.id, field=item.field, where=other.where,
                likeness=min(1.0, likeness), text=cut(item.text), found=cut(other.text),
            )  # fmt: skip


def _texts(values: dict[str, Any], where: str) -> Iterator[Other]:
    for columns, is_question in ((_QUESTION_COLUMNS, True), (_ANSWER_COLUMNS, False)):
        for name in columns:
            value = values.get(name)
            if isinstance(value, str) and value.strip():
                yield Other(where, value, is_question)
