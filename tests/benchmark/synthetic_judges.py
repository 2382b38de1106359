"""Judges whose bias and noise are known, so that what a probe or a correction finds can be held against the truth."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.core.evidence import Verdict
from offline_eval.core.hashing import digest
from offline_eval.core.records import Passage
from offline_eval.core.results import Status

QUERIES = {"en": "How many days of leave does the handbook give, number {n}?", "zh": "第{n}条规定的年假有几天？"}
ANSWERS = {
    "en": "The handbook gives {n} days of leave. They expire in March.",
    "zh": "手册规定年假为{n}天。假期三月底失效。",
}


def generator(*key: object) -> np.random.Generator:
    """Randomness that depends on what was asked alone, as a judge at temperature 0 does."""
    return np.random.default_rng(int(digest("synthetic", [str(part) for part in key])[:15], 16))


def pairwise_rows(n: int, *, languages: Sequence[str] = ("en", "zh"), **fields: object) -> list[LabelRow]:
    rows = []
    for number in range(n):
        language = languages[number % len(languages)]
        rows.append(
            LabelRow(
                id=f"pair{number}",
                kind="pairwise",
                dimension="preference",
                query=QUERIES[language].format(n=number),
                answer_a=ANSWERS[language].format(n=number),
                answer_b=ANSWERS[language].format(n=number + 1000),
                labels={"anna": "AB"[number % 3 > 0]},
                language=language,
                **fields,
            )
        )
    return rows


def graded_rows(
    n: int, *, kind: str = "ordinal", languages: Sequence[str] = ("en", "zh"), dimension: str = "faithfulness"
) -> list[LabelRow]:
    rows = []
    for number in range(n):
        language = languages[number % len(languages)]
        label = number % 2 if kind == "binary" else 1 + number % 3
        rows.append(
            LabelRow(
                id=f"row{number}",
                kind=kind,
                dimension=dimension,
                query=QUERIES[language].format(n=number),
                passages=(Passage(id="p1", text=ANSWERS[language].format(n=number)),),
                answer=ANSWERS[language].format(n=number),
                labels={"anna": label},
                scale=(1.0, 2.0, 3.0) if kind == "ordinal" else (),
                language=language,
            )
        )
    return rows


class Synthetic:
    """A judge that follows a rule.

    Args:
        decide: Row to decision and score; None for a failure.
    """

    def __init__(self, decide: Callable[[LabelRow], tuple[float, float] | None]) -> None:
        self._decide = decide
        self.asked: list[LabelRow] = []
        self.extras: list[Mapping[str, str]] = []

    def __call__(self, rows: Sequence[LabelRow], *, extra: Mapping[str, str] | None = None) -> list[JudgedRow]:
        self.asked += rows
        self.extras.append(extra or {})
        return [self._one(row) for row in rows]

    def _one(self, row: LabelRow) -> JudgedRow:
        found = self._decide(row)
        if found is None:
            return JudgedRow(row_id=row.id, judge="synthetic", status=Status.FAILED, status_reason="time_limit: slow")
        return JudgedRow(row_id=row.id, judge="synthetic", decision=found[0], score=found[1])


def prefers_first(share: float, *, draw: int = 0) -> Synthetic:
    """Picks the first answer this often, whatever it says; another draw is another such judge."""

    def decide(row: LabelRow) -> tuple[float, float]:
        is_first = generator("order", draw, row.answer_a, row.answer_b).random() < share
        return (1.0, 2 * share - 1) if is_first else (-1.0, 2 * share - 1)

    return Synthetic(decide)


def adds_for_length(per_100: float, *, noise: float = 0.1, draw: int = 0) -> Synthetic:
    """Grades a base of 1.2 and this much more for every hundred characters, with noise; draws are different judges."""

    def decide(row: LabelRow) -> tuple[float, float]:
        score = 1.2 + per_100 * len(row.answer) / 100 + noise * float(generator("length", draw, row.answer).normal())
        return (float(min(3, max(1, round(score)))), score)

    return Synthetic(decide)


def graded_verdict(label: int, probabilities: Sequence[float]) -> Verdict:
    """A verdict on three levels."""
    expected = sum(grade * share for grade, share in zip((1, 2, 3), probabilities, strict=True))
    return Verdict(
        status=Status.SCORED,
        decided_by="judge",
        label=str(label),
        grade=float(label),
        probabilities=dict(zip("123", probabilities, strict=True)),
        expected_grade=expected,
        off_label_mass=0.0,
        margin=0.1,
    )
