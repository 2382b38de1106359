"""Whether a judge can do the task at all: a dozen requests that any judge worth asking passes, made before it is used.

Why: a judge that always says the same, or never looks at the passages, still returns valid verdicts and tidy means.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Literal

from pydantic import Field

from offline_eval.core.evidence import Verdict
from offline_eval.core.hashing import digest
from offline_eval.core.protocols import Failure, GenerateRequest, Generation, TextEngine
from offline_eval.core.records import Case, Passage, Record, Response
from offline_eval.core.results import Status
from offline_eval.core.yaml_text import parse_yaml
from offline_eval.judge.prompt import Material, label_request, wording_hash
from offline_eval.judge.rubric import Rubric
from offline_eval.judge.verdicts import read_label

Outcome = Literal["pass", "warn", "refuse"]
VERSION = "1"

_RANK: dict[Outcome, int] = {"pass": 0, "warn": 1, "refuse": 2}
_SAME_LABEL_WARN = 0.8  # share of clean requests with one label; half good, half wrong answers were asked about
_LEAST_MOVE = 0.1  # on the rubric's scale stretched to 0..1; below, the judge hardly tells the two apart
_UNREACHABLE = 1e-6  # probability; a label that never gets more is never chosen
_RARE = 0.01


class SelfTestItem(Record):
    """A question with a right, a wrong and an unrelated answer."""

    query: str
    passage: str
    key_points: tuple[str, ...]
    good: str
    wrong: str
    aside: str


class Finding(Record):
    """One thing that was looked at.

    Attributes:
        name: `constant`, `tells_apart`, `reads_material`, `reads_rubric`, `labels_reachable` or `answers`.
        value: What was measured; None when it does not apply, with the reason in `text`.
        n: Requests it was measured on.
        text: In words, with the number and what is expected.
    """

    name: str
    outcome: Outcome
    value: float | None
    n: int = Field(ge=0)
    text: str


class SelfTest(Record):
    """What a judge's self-test on one rubric found.

    Attributes:
        key: Identity of judge, weights, rubric, wording and items; the same key gives the same result.
        outcome: The worst of the findings'.
        requests: Label requests that were made.
    """

    key: str
    judge: str
    rubric: str
    engine: str
    weights_hash: str
    outcome: Outcome
    findings: tuple[Finding, ...]
    requests: int

    def sentence(self) -> str:
        """What went wrong, for a warning; the measured numbers stand in it."""
        bad = [finding.text for finding in self.findings if finding.outcome != "pass"]
        verdict = {"pass": "passed", "warn": "is doubtful in", "refuse": "failed"}[self.outcome]
        head = f"judge {self.judge} {verdict} the self-test on {self.rubric}"
        return f"{head}: {'; '.join(bad)}" if bad else head


class _Asked(Record):
    """Verdicts of one kind of request, in the order of the items."""

    good: tuple[Verdict, ...]
    wrong: tuple[Verdict, ...]
    elsewhere: tuple[Verdict, ...]
    inverted: tuple[Verdict, ...]

    @property
    def all(self) -> tuple[Verdict, ...]:
        return (*self.good, *self.wrong, *self.elsewhere, *self.inverted)


@cache
def self_test_items(language: str) -> tuple[SelfTestItem, ...]:
    """The built-in items in Chinese, or in English for every other language."""
    data = parse_yaml(files(__package__).joinpath("self_test_items.yaml").read_bytes(), "self_test_items.yaml").data
    return tuple(SelfTestItem.model_validate(row) for row in data["zh" if language == "zh" else "en"])


def self_test_key(*, judge: str, weights_hash: str, engine: str, dtype: str, rubric: Rubric) -> str:
    """Identity of a self-test: whatever can change its result."""
    items = [item.content_hash() for item in self_test_items(rubric.language)]
    return digest(
        "SelfTest", [VERSION, judge, weights_hash, engine, dtype, rubric.content_hash(), wording_hash(), items]
    )


def run_self_test(
    engine: TextEngine, rubric: Rubric, *, judge: str, weights_hash: str, engine_name: str, key: str = ""
) -> SelfTest:
    """Ask a judge about the built-in items, four times each: right, wrong, with foreign material, by inverted levels.

    Args:
        engine: The judge's engine.
        rubric: What it is to judge by; its language decides the items'.
        judge: Registered name.
        weights_hash: Of the judge's weights.
        engine_name: Registered name of the engine.
        key: `self_test_key`.

    Returns:
        The findings; a request that fails is a finding, not an error.
    """
    items = self_test_items(rubric.language)
    turned = inverted(rubric)
    requests: list[GenerateRequest] = []
    for place, item in enumerate(items):
        other = items[(place + 1) % len(items)]
        requests += [
            _request(rubric, item, item.good),
            _request(rubric, item, _bad(rubric, item)),
            _request(rubric, other, item.good),
            _request(turned, item, item.good),
        ]
    asked = _read(rubric, engine.generate(requests))
    findings = _findings(rubric, asked)
    worst = max((finding.outcome for finding in findings), key=lambda outcome: _RANK[outcome])
    return SelfTest(
        key=key,
        judge=judge,
        rubric=rubric.id,
        engine=engine_name,
        weights_hash=weights_hash,
        outcome=worst,
        findings=findings,
        requests=len(requests),
    )


def inverted(rubric: Rubric) -> Rubric:
    """The same rubric with the meaning of its labels turned round, worked examples included."""
    labels = rubric.labels
    turned = dict(zip(labels, reversed(labels), strict=True))
    meanings = [(level.name, level.criterion) for level in reversed(rubric.levels)]
    levels = tuple(
        level.model_copy(update={"name": name, "criterion": criterion})
        for level, (name, criterion) in zip(rubric.levels, meanings, strict=True)
    )
    examples = tuple(example.model_copy(update={"label": turned[example.label]}) for example in rubric.examples)
    return rubric.model_copy(update={"levels": levels, "examples": examples})


def _bad(rubric: Rubric, item: SelfTestItem) -> str:
    """What deserves the lowest level: a wrong answer is still relevant, so relevance gets one beside the point."""
    return item.aside if rubric.dimension == "relevance" else item.wrong


def _request(rubric: Rubric, material_of: SelfTestItem, answer: str) -> GenerateRequest:
    case = Case(id="self-test", query=material_of.query, reference=material_of.good, key_points=material_of.key_points)
    passages = (Passage(id="p1", text=material_of.passage),)
    return label_request(Material(case, Response(case_id="self-test", answer=answer, passages=passages)), rubric)


def _read(rubric: Rubric, results: Sequence[Generation | Failure]) -> _Asked:
    verdicts = [read_label(rubric, result) for result in results]
    return _Asked(
        good=tuple(verdicts[0::4]),
        wrong=tuple(verdicts[1::4]),
        elsewhere=tuple(verdicts[2::4]),
        inverted=tuple(verdicts[3::4]),
    )


def _findings(rubric: Rubric, asked: _Asked) -> tuple[Finding, ...]:
    failed = [verdict for verdict in asked.all if verdict.status is not Status.SCORED]
    found = [_answers(asked, failed)]
    if len(failed) == len(asked.all):
        return tuple(found)
    found += [
        _constant(asked),
        _move(rubric, "tells_apart", asked.good, asked.wrong, "right answers over wrong ones"),
        _move(rubric, "reads_material", asked.good, asked.elsewhere, "right answers over the same ones elsewhere"),
        _move(rubric, "reads_rubric", asked.good, asked.inverted, "a right answer by the levels over inverted levels"),
        _reachable(rubric, asked),
    ]
    return tuple(found)


def _answers(asked: _Asked, failed: Sequence[Verdict]) -> Finding:
    n = len(asked.all)
    share = (n - len(failed)) / n
    outcome: Outcome = "pass" if not failed else "refuse" if len(failed) == n else "warn"
    why = f" ({failed[0].status_reason})" if failed else ""
    return Finding(
        name="answers", outcome=outcome, value=share, n=n, text=f"{len(failed)} of {n} requests had no verdict{why}"
    )


def _constant(asked: _Asked) -> Finding:
    labels = [verdict.label for verdict in (*asked.good, *asked.wrong) if verdict.label is not None]
    if not labels:
        return Finding(name="constant", outcome="warn", value=None, n=0, text="no clean request had a verdict")
    label, most = Counter(labels).most_common(1)[0]
    share = most / len(labels)
    outcome: Outcome = "refuse" if share == 1 else "warn" if share > _SAME_LABEL_WARN else "pass"
    text = f"{most} of {len(labels)} answers, half of them wrong, got the same label ({label})"
    return Finding(name="constant", outcome=outcome, value=share, n=len(labels), text=text)


def _move(rubric: Rubric, name: str, better: Sequence[Verdict], worse: Sequence[Verdict], what: str) -> Finding:
    """How much higher one kind of request is graded than the other, on the scale stretched to 0..1."""
    pairs = [
        (first, second)
        for first, second in zip(
            (_place(rubric, verdict) for verdict in better), (_place(rubric, verdict) for verdict in worse), strict=True
        )
        if first is not None and second is not None
    ]
    if not pairs:
        return Finding(name=name, outcome="warn", value=None, n=0, text=f"{name}: no pair of requests had a verdict")
    move = fmean(first - second for first, second in pairs)
    outcome: Outcome = "refuse" if move <= 0 else "warn" if move < _LEAST_MOVE else "pass"
    text = f"it grades {what} by {move:+.2f} of the scale over {len(pairs)} pairs ({_LEAST_MOVE} or more expected)"
    return Finding(name=name, outcome=outcome, value=move, n=len(pairs), text=text)


def _place(rubric: Rubric, verdict: Verdict) -> float | None:
    """The verdict's place between the lowest grade (0) and the highest (1)."""
    grade = verdict.expected_grade if verdict.expected_grade is not None else verdict.grade
    if grade is None:
        return None
    grades = [level.grade for level in rubric.levels if level.grade is not None]
    return (grade - min(grades)) / (max(grades) - min(grades))


def _reachable(rubric: Rubric, asked: _Asked) -> Finding:
    tables = [verdict.probabilities for verdict in asked.all if verdict.probabilities]
    if not tables:
        given = {verdict.label for verdict in asked.all}
        return Finding(
            name="labels_reachable",
            outcome="pass",
            value=None,
            n=len(asked.all),
            text=f"the engine gives no probabilities; {len(given & set(rubric.labels))} labels were seen",
        )
    best = {label: max(_share(table, label) for table in tables) for label in rubric.labels}
    label, most = min(best.items(), key=lambda item: item[1])
    outcome: Outcome = "refuse" if most < _UNREACHABLE else "warn" if most < _RARE else "pass"
    text = f"the rarest label ({label}) never has a probability above {most:.2g}"
    return Finding(name="labels_reachable", outcome=outcome, value=most, n=len(tables), text=text)


def _share(table: dict[str, float], label: str) -> float:
    mass = math.fsum(table.values())
    return table[label] / mass if mass > 0 else 0.0
