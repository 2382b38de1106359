"""What a test set shares with texts that are no corpus: worked examples in prompts, and labels somebody trained on."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from offline_eval.core.records import Case
from offline_eval.formats.problems import Problems, refuse
from offline_eval.formats.rows import read_rows
from offline_eval.judge.rubric import RUBRIC_LANGUAGES, load_rubric, rubric_names
from offline_eval.testset.leakage import DEFAULT_LIMITS, Leak, Limits, cut, wordings
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
    """Compare every question with every question of the others, and long answers with answers.

    Returns:
        One leak a case and place, the likest; in the order of the others.
    """
    asked = wordings(cases)
    questions = Questions({key: item.text for key, item in asked.items()}, least=limits.words)
    question_runs = SharedRuns({key: item.text for key, item in asked.items()}, run=limits.run)
    answers = SharedRuns({str(n): case.reference or "" for n, case in enumerate(cases)}, run=limits.run)
    found: dict[tuple[str, str], Leak] = {}
    for number, other in enumerate(others, start=1):
        for leak in _compared(other, cases, kind, limits, asked, questions, question_runs, answers):
            known = found.get((leak.case, leak.where))
            if known is None or leak.likeness > known.likeness:
                found[leak.case, leak.where] = leak
        if tell is not None:
            tell(number, len(others))
    return list(found.values())


def _compared(
    other: Other,
    cases: Sequence[Case],
    kind: Literal["example", "training"],
    limits: Limits,
    asked: dict[str, Any],
    questions: Questions,
    question_runs: SharedRuns,
    answers: SharedRuns,
) -> Iterator[Leak]:
    if not other.is_question:
        for shared in answers.search(other.text):
            if shared.share >= limits.share:
                case = cases[int(shared.key)]
                yield Leak(
                    kind=kind, method="run", case=case.id, field="reference", where=other.where,
                    likeness=shared.share, text=cut(case.reference or ""), found=cut(other.text),
                )  # fmt: skip
        return
    alike = [("words", item.key, item.likeness) for item in questions.alike(other.text)]
    alike += [
        ("run", item.key, item.share)
        for item in question_runs.search(other.text)
        if is_whole_question(item, least=limits.share)
    ]
    for method, key, likeness in alike:
        item = asked[key]
        yield Leak(
            kind=kind, method=method, case=item.case.id, field=item.field, where=other.where,
            likeness=min(1.0, likeness), text=cut(item.text), found=cut(other.text),
        )  # fmt: skip


def _texts(values: dict[str, Any], where: str) -> Iterator[Other]:
    for columns, is_question in ((_QUESTION_COLUMNS, True), (_ANSWER_COLUMNS, False)):
        for name in columns:
            value = values.get(name)
            if isinstance(value, str) and value.strip():
                yield Other(where, value, is_question)
