"""A judge's passport: what is known about one judge on one rubric and label set, in one file that runs can require.

It belongs to exactly one judge, weights, rubric version, language and label set; any other combination needs its own.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field, JsonValue

from offline_eval.benchmark.agreement_table import ceiling, judge_line
from offline_eval.benchmark.calibrate import CalibrationResult, calibrate, human_threshold
from offline_eval.benchmark.decisions import PASS_FROM
from offline_eval.benchmark.judges import rubric_of
from offline_eval.benchmark.labels import JudgedRow, LabelRow, LabelSet
from offline_eval.benchmark.probes import ProbeReport
from offline_eval.benchmark.self_test import SelfTest
from offline_eval.benchmark.table_records import JudgeLine
from offline_eval.core.errors import DataError
from offline_eval.core.hashing import digest
from offline_eval.core.records import Record
from offline_eval.core.results import Status
from offline_eval.core.summary import ErrorRates
from offline_eval.judge.rubric import Rubric
from offline_eval.stats.intervals import RESAMPLES, mean_interval
from offline_eval.stats.measured import Measured, measured
from offline_eval.stats.thresholds import Target
from offline_eval.stats.undefined import Undefined

FORMAT = "offline-eval passport 1"
DEFAULT_TARGETS = (
    Target(aim="precision", at_least=0.9),
    Target(aim="recall", at_least=0.9),
    Target(aim="cost"),
)
_NAME_HASH = 8
_ODD = re.compile(r"[^A-Za-z0-9._@-]+")


class JudgeIdentity(Record):
    """Who was asked, and how."""

    judge: str
    family: str = "unknown"
    engine: str
    dtype: str = "config"
    weights_hash: str


class Passport(Record):
    """What is known about a judge.

    Attributes:
        rubric: `name.language@version`.
        labels_hash: Of the rows of this language.
        pass_from: Lowest grade that counts as a pass.
        measures: Agreement with people, each with interval and count; failed rows count as wrong.
        ceiling: How well people agree among themselves, by the same measures; with the reason where it is unknown.
        sensitivity: Share of people's passes that the judge passed; None for pairs.
        specificity: Share of people's failures that the judge failed; None for pairs.
        error_rates: The counts behind both, for correcting a run's rates.
        calibration: Of the label probabilities, with maps fitted on one part and reported on the other.
        determinism: The result of a determinism test, where one was given.
        date: When it was made, ISO 8601.
    """

    format: Literal["offline-eval passport 1"] = "offline-eval passport 1"
    judge: str
    family: str = "unknown"
    engine: str
    dtype: str = "config"
    weights_hash: str
    rubric: str
    rubric_hash: str
    language: str
    dimension: str
    kind: str
    labels: str
    labels_hash: str
    n_rows: int = Field(ge=0)
    n_settled: int = Field(ge=0)
    n_failed: int = Field(ge=0)
    raters: int = Field(ge=0)
    pass_from: float
    measures: dict[str, Measured]
    decisions: dict[str, int]
    ceiling: dict[str, Measured] = Field(default_factory=dict)
    ceiling_reason: str | None = None
    sensitivity: Measured | None = None
    specificity: Measured | None = None
    error_rates: ErrorRates | None = None
    calibration: CalibrationResult | None = None
    self_test: SelfTest | None = None
    probes: ProbeReport | None = None
    determinism: dict[str, JsonValue] | None = None
    warnings: tuple[str, ...] = ()
    seed: int
    date: str

    @property
    def name(self) -> str:
        """File name without ending: judge, rubric, and the beginnings of the two hashes."""
        parts = (
            self.judge,
            self.rubric,
            self.labels_hash[:_NAME_HASH],
            digest("weights", self.weights_hash)[:_NAME_HASH],
        )
        return _ODD.sub("-", "__".join(parts)).strip(".")

    def measure(self, name: str) -> Measured | None:
        """A measure by its name, sensitivity and specificity included."""
        return {"sensitivity": self.sensitivity, "specificity": self.specificity, **self.measures}.get(name)


def make_passport(
    label_set: LabelSet,
    answers: Sequence[JudgedRow],
    identity: JudgeIdentity,
    *,
    date: str,
    self_test: SelfTest | None = None,
    probes: ProbeReport | None = None,
    determinism: Mapping[str, JsonValue] | None = None,
    targets: Sequence[Target] = DEFAULT_TARGETS,
    pass_from: float = PASS_FROM,
    seed: int,
    resamples: int = RESAMPLES,
) -> Passport:
    """Put a passport together.

    Args:
        label_set: Rows of one language (see `by_language`).
        answers: The judge's answers to the rows, in their order.
        identity: The judge.
        date: ISO 8601.
        self_test: Of this judge on this rubric.
        probes: Of this judge on these rows.
        determinism: What a determinism test found, as JSON data.
        targets: What thresholds are wanted for.
        pass_from: Lowest grade that counts as a pass.
        seed: Of splits and intervals.
        resamples: Of the intervals.

    Raises:
        DataError: Rows of several rubrics, or answers that do not belong to them.
    """
    rubric = _only_rubric(label_set)
    line = judge_line(label_set, identity.judge, answers, seed=seed, resamples=resamples)
    return Passport(
        **identity.model_dump(),
        **_scope(label_set, rubric, pass_from),
        **_agreement(line, ceiling(label_set, seed=seed, resamples=resamples)),
        **_rates_measured(label_set, answers, pass_from, seed),
        error_rates=_error_rates(label_set, answers, identity, rubric.id, pass_from=pass_from, date=date),
        calibration=calibrate(
            label_set.rows, answers, judge=identity.judge, targets=targets, pass_from=pass_from, seed=seed
        ),
        self_test=self_test,
        probes=probes,
        determinism=None if determinism is None else dict(determinism),
        warnings=(*line.warnings, *_self_test_warning(self_test)),
        seed=seed,
        date=date,
    )


def by_language(label_set: LabelSet) -> list[LabelSet]:
    """A set's rows by the language of the rubric they are judged with: Chinese, and English for everything else."""
    parts: dict[str, list[LabelRow]] = {}
    for row in label_set.rows:
        parts.setdefault(rubric_of(row).language, []).append(row)
    return [label_set.model_copy(update={"rows": tuple(rows)}) for rows in parts.values()]


def _only_rubric(label_set: LabelSet) -> Rubric:
    """The rubric that all rows are judged by.

    Raises:
        DataError: There are several.
    """
    rubrics = {rubric.id: rubric for rubric in map(rubric_of, label_set.rows)}
    if len(rubrics) > 1:
        raise DataError(f"{label_set.name}: rows for {', '.join(sorted(rubrics))}; a passport is for one rubric")
    return next(iter(rubrics.values()))


def _scope(label_set: LabelSet, rubric: Rubric, pass_from: float) -> dict[str, Any]:
    """The passport's fields that say what it holds for."""
    return {
        "rubric": rubric.id,
        "rubric_hash": rubric.content_hash(),
        "language": rubric.language,
        "dimension": label_set.dimension,
        "kind": label_set.kind,
        "labels": label_set.name,
        "labels_hash": label_set.labels_hash,
        "n_rows": len(label_set.rows),
        "raters": len(label_set.raters),
        "pass_from": pass_from,
    }


def _agreement(line: JudgeLine, people: dict[str, Measured] | Undefined) -> dict[str, Any]:
    """The passport's fields on how well judge and people agree, and people among themselves."""
    return {
        "n_settled": line.n,
        "n_failed": line.n_failed,
        "measures": line.measures,
        "decisions": line.decisions,
        "ceiling": {} if isinstance(people, Undefined) else people,
        "ceiling_reason": people.reason if isinstance(people, Undefined) else None,
    }


def _self_test_warning(self_test: SelfTest | None) -> list[str]:
    if self_test is None or self_test.outcome == "pass":
        return []
    return [self_test.sentence()]


def _error_rates(
    label_set: LabelSet,
    answers: Sequence[JudgedRow],
    identity: JudgeIdentity,
    rubric: str,
    *,
    pass_from: float,
    date: str,
) -> ErrorRates | None:
    """Counts of right and wrong passes; None for pairs, which have none."""
    if label_set.kind == "pairwise":
        return None
    judged = _passes(label_set.rows, answers, pass_from)
    positives = [passed for passed, human, _ in judged if human]
    negatives = [passed for passed, human, _ in judged if not human]
    return ErrorRates(
        judge=identity.judge,
        weights_hash=identity.weights_hash,
        rubric=rubric,
        pass_from=pass_from,
        true_positive=sum(positives),
        n_positive=len(positives),
        true_negative=len(negatives) - sum(negatives),
        n_negative=len(negatives),
        labels=label_set.name,
        labels_hash=label_set.labels_hash,
        date=date,
    )


def _rates_measured(label_set: LabelSet, answers: Sequence[JudgedRow], pass_from: float, seed: int) -> dict[str, Any]:
    """The passport's fields sensitivity and specificity; none for pairs."""
    if label_set.kind == "pairwise":
        return {}
    judged = _passes(label_set.rows, answers, pass_from)
    right = [(passed == human, human, cluster) for passed, human, cluster in judged]
    found = []
    for wanted, word in ((True, "pass"), (False, "failure")):
        part = [(float(is_right), cluster) for is_right, human, cluster in right if human is wanted]
        missing = Undefined(reason=f"no row is a {word} by people's labels")
        if not part:
            found.append(measured(missing, missing, n=0))
            continue
        values = np.array([value for value, _ in part])
        interval = mean_interval(values, low=0.0, high=1.0, clusters=[name for _, name in part], seed=seed)
        found.append(measured(float(values.mean()), interval, n=values.size))
    return {"sensitivity": found[0], "specificity": found[1]}


def _passes(rows: Sequence[LabelRow], answers: Sequence[JudgedRow], pass_from: float) -> list[tuple[bool, bool, str]]:
    """The judge's pass, the people's and the cluster, of every settled row the judge itself graded.

    Rules' verdicts are left out, as they are in a run's corrected rates; a failed verdict counts as not passed, as it
    does there.
    """
    found = []
    for row, answer in zip(rows, answers, strict=True):
        if row.human is None or answer.status is Status.NOT_APPLICABLE:
            continue
        if answer.verdict is not None and answer.verdict.decided_by == "rule":
            continue
        threshold = 1.0 if row.kind == "binary" else human_threshold(row, pass_from)
        grade = answer.verdict.grade if answer.verdict is not None else None
        found.append(((grade or 0.0) >= pass_from, row.human >= threshold, row.cluster_name))
    return found
