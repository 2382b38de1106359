"""Human labels as records: what a person was shown, what each rater said, and what a judge said about the same row.

Why codes: agreement is computed on numbers, so every kind of label has one fixed number a value, whoever gave it.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Literal, Self

from pydantic import Field, model_validator

from offline_eval.core.evidence import Verdict
from offline_eval.core.hashing import digest
from offline_eval.core.records import Case, Passage, Record, Response
from offline_eval.core.results import Status
from offline_eval.stats.raters import majority
from offline_eval.stats.undefined import Undefined
from offline_eval.text.language import detect_language

Kind = Literal["binary", "ordinal", "pairwise"]
Label = int | float | str

PREFERENCES: Mapping[str, float] = {"B": -1.0, "tie": 0.0, "A": 1.0}
"""Code of each pairwise label: which way the preference goes."""


class LabelRow(Record):
    """One thing that people labelled.

    Attributes:
        dimension: `faithfulness`, `relevance`, `completeness`, `correctness`, `preference`, `answerability`, …
        answer: What was labelled, of a binary or ordinal row; empty for answerability, which labels the passages.
        answer_a: The first of two answers, of a pairwise row.
        answer_b: The second.
        scale: An ordinal row's levels, ascending. A pairwise row may have one too: how strongly the first answer is
            preferred, below 0 for the second.
        labels: Rater to label: 0 or 1 (binary), a level of the scale (ordinal), `A`, `B` or `tie` (pairwise), or a
            level where a pairwise row has a scale. A rater who did not label this row is left out.
        slices: Name to value, for tables of parts of the set.
        cluster: What resampling keeps together; the query when None.
        response_key: The labelled response inside a run, `Response.key`.
        run_id: That run.
    """

    id: str = Field(min_length=1)
    kind: Kind
    dimension: str = Field(min_length=1)
    query: str = ""
    passages: tuple[Passage, ...] = ()
    reference: str | None = None
    key_points: tuple[str, ...] = ()
    answer: str = ""
    answer_a: str | None = None
    answer_b: str | None = None
    scale: tuple[float, ...] = ()
    labels: dict[str, Label] = Field(min_length=1)
    slices: dict[str, str] = Field(default_factory=dict)
    cluster: str | None = None
    language: str | None = None
    response_key: str | None = None
    run_id: str | None = None

    @model_validator(mode="after")
    def _labels_fit_kind(self) -> Self:
        if self.kind == "pairwise" and (self.answer_a is None or self.answer_b is None):
            raise ValueError("a pairwise row needs answer_a and answer_b")
        if self.kind == "binary" and self.scale:
            raise ValueError("a binary row has no scale; its labels are 0 and 1")
        is_scale = len(self.scale) >= 2 and list(self.scale) == sorted(set(self.scale))
        if not is_scale and (self.kind == "ordinal" or self.scale):
            raise ValueError("a scale has two levels or more, ascending; an ordinal row needs one")
        for rater, label in self.labels.items():
            if label not in self.values:
                allowed = ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in self.values)
                raise ValueError(f"the label {label!r} of rater {rater!r} is not one of {allowed}")
        return self

    @property
    def values(self) -> tuple[Label, ...]:
        """Every label a rater may give, lowest code first."""
        if self.scale:
            return self.scale
        return tuple(PREFERENCES) if self.kind == "pairwise" else (0, 1)

    @property
    def codes(self) -> dict[str, float]:
        """Rater to the label's number: 0 or 1, the level, or -1 (B), 0 (tie), 1 (A)."""
        return {rater: code_of(label) for rater, label in self.labels.items()}

    @property
    def classes(self) -> dict[str, float]:
        """Rater to what is compared with a decision: the code, of a graded preference its sign."""
        if self.kind != "pairwise":
            return self.codes
        return {rater: float((code > 0) - (code < 0)) for rater, code in self.codes.items()}

    @property
    def human(self) -> float | None:
        """What the people decided: their median on an ordinal scale, else what most of them said.

        None where they do not settle it: the leading labels tie, or the median falls between two levels.
        """
        codes = list(self.classes.values())
        if self.kind == "ordinal":
            middle = float(median(codes))
            return middle if middle in self.scale else None
        most = majority([f"{code:g}" for code in codes])
        return None if isinstance(most, Undefined) or most.label is None else float(most.label)

    @property
    def human_mean(self) -> float:
        """Mean of the raters' codes, which also tells where they disagree."""
        return fmean(self.codes.values())

    @property
    def cluster_name(self) -> str:
        """What resampling keeps together."""
        return self.cluster or self.query or self.id

    @property
    def spoken(self) -> str:
        """Language code: the stated one, else that of the query or answer."""
        return self.language or detect_language(self.query or self.answer or (self.answer_a or ""))

    def case(self) -> Case:
        """The row's question as a case."""
        return Case(
            id=self.id, query=self.query, language=self.spoken, reference=self.reference, key_points=self.key_points
        )

    def response(self) -> Response:
        """The labelled answer as a response; of a pairwise row the first answer."""
        answer = self.answer if self.answer_a is None else self.answer_a
        return Response(case_id=self.id, system="labelled", answer=answer, passages=self.passages)


class LabelSet(Record):
    """Rows of one kind, dimension and scale: what one table is about."""

    name: str
    kind: Kind
    dimension: str
    scale: tuple[float, ...] = ()
    rows: tuple[LabelRow, ...] = Field(min_length=1)

    @property
    def levels(self) -> tuple[float, ...]:
        """What a judge can decide, ascending."""
        if self.kind == "pairwise":
            return tuple(PREFERENCES.values())
        return (0.0, 1.0) if self.kind == "binary" else self.scale

    @property
    def raters(self) -> tuple[str, ...]:
        """Everybody who labelled a row, sorted."""
        return tuple(sorted({rater for row in self.rows for rater in row.labels}))

    @property
    def labels_hash(self) -> str:
        """Hash of all rows, whatever their order."""
        return digest("LabelSet", sorted(row.content_hash() for row in self.rows))


class JudgedRow(Record):
    """What one judge, encoder or baseline said about one row.

    Attributes:
        row_id: `LabelRow.id`.
        decision: A code of the set's levels; None unless scored.
        score: The continuous answer, higher for higher codes: expected grade, probability of support, probability of A
            less that of B; None where there is none.
        verdict: The judge's own verdict, with its probabilities; None for encoders and baselines.
        swapped: The verdict with the two answers exchanged, when the order was averaged.
    """

    row_id: str
    judge: str
    status: Status = Status.SCORED
    status_reason: str | None = None
    decision: float | None = None
    score: float | None = None
    verdict: Verdict | None = None
    swapped: Verdict | None = None
    prompt_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _decision_matches_status(self) -> Self:
        if (self.decision is not None) != (self.status is Status.SCORED):
            raise ValueError("a judged row has a decision if and only if its status is 'scored'")
        if self.status is not Status.SCORED and not self.status_reason:
            raise ValueError(f"a judged row with status {self.status!r} needs a reason")
        return self


def code_of(label: Label) -> float:
    """A label's number."""
    return PREFERENCES[label] if isinstance(label, str) else float(label)


def label_sets(rows: Sequence[LabelRow], name: str) -> list[LabelSet]:
    """Part rows by kind, dimension and scale.

    Args:
        name: Of the file; with the dimension behind it when the file holds several sets.

    Returns:
        In the order of each set's first row.
    """
    parts: dict[tuple[Kind, str, tuple[float, ...]], list[LabelRow]] = {}
    for row in rows:
        parts.setdefault((row.kind, row.dimension, row.scale), []).append(row)
    several = len(parts) > 1
    return [
        LabelSet(
            name=f"{name} {_described(kind, dimension, scale)}" if several else name,
            kind=kind,
            dimension=dimension,
            scale=scale,
            rows=tuple(found),
        )
        for (kind, dimension, scale), found in parts.items()
    ]


def _described(kind: Kind, dimension: str, scale: Sequence[float]) -> str:
    levels = f", {'/'.join(f'{level:g}' for level in scale)}" if scale else ""
    return f"{dimension} ({kind}{levels})"
