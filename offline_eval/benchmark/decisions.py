"""What a verdict says on the people's scale; the mapping is a stated rule, so that nobody has to guess at thresholds.

The label decides, the expected grade scores:

- binary: grades from `pass_from` on (2, "pass", by default) mean 1; score (expected grade - 1) / 2 on a 1-3 rubric.
- ordinal: the grade's place between the rubric's lowest and highest, on the people's scale, at the nearest level.
- pairwise: A, B or tie; score P(A) - P(B). With the order averaged, the two verdicts' common preference, else a tie.
"""

from collections.abc import Sequence

from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.core.evidence import Verdict
from offline_eval.core.results import Status
from offline_eval.judge.rubric import Rubric, load_rubric

PASS_FROM = 2.0
RULE = "grades 2 and 3 mean yes"
_PREFERENCE = {"A": 1.0, "B": -1.0, "C": 0.0}


def judged(
    row: LabelRow,
    judge: str,
    verdict: Verdict,
    *,
    swapped: Verdict | None = None,
    pass_from: float = PASS_FROM,
    tokens: tuple[int, int] = (0, 0),
) -> JudgedRow:
    """Read a verdict (and that on the answers in the other order) as a decision on a row.

    Args:
        judge: Registered name.
        pass_from: Lowest grade that counts as 1 on a binary row.
        tokens: Of the prompts and of the outputs.
    """
    known = [verdict] if swapped is None else [verdict, swapped]
    common = {
        "row_id": row.id,
        "judge": judge,
        "verdict": verdict,
        "swapped": swapped,
        "prompt_tokens": tokens[0],
        "output_tokens": tokens[1],
    }
    bad = next((found for found in known if found.status is not Status.SCORED), None)
    if bad is not None:
        return JudgedRow(status=bad.status, status_reason=bad.status_reason, **common)
    if row.kind == "pairwise":
        decision, score = _preference(known)
    else:
        decision, score = _graded(row, verdict, pass_from)
    return JudgedRow(decision=decision, score=score, **common)


def remapped(rows: Sequence[LabelRow], answers: Sequence[JudgedRow], *, pass_from: float) -> list[JudgedRow]:
    """The same verdicts under another threshold; encoders' and baselines' answers stay."""
    return [
        answer
        if answer.verdict is None
        else judged(
            row,
            answer.judge,
            answer.verdict,
            swapped=answer.swapped,
            pass_from=pass_from,
            tokens=(answer.prompt_tokens, answer.output_tokens),
        )
        for row, answer in zip(rows, answers, strict=True)
    ]


def from_share(row: LabelRow, share: float) -> tuple[float, float]:
    """Decision and score of a probability or share in [0, 1]: at .5 for binary, at the nearest level for ordinal."""
    if row.kind == "binary":
        return float(share >= 0.5), share
    if row.kind == "pairwise":
        return float((share > 0.5) - (share < 0.5)), 2 * share - 1
    low, high = row.scale[0], row.scale[-1]
    return nearest(row.scale, low + share * (high - low)), low + share * (high - low)


def nearest(levels: Sequence[float], value: float) -> float:
    """The level closest to a value, the lower of two equally close."""
    return min(levels, key=lambda level: (abs(level - value), level))


def _preference(verdicts: Sequence[Verdict]) -> tuple[float, float | None]:
    """The second verdict is about the answers in the other order, so its sign is turned."""
    turned = [1.0, -1.0]
    decisions = [sign * _PREFERENCE[found.label or "C"] for sign, found in zip(turned, verdicts, strict=False)]
    decision = decisions[0] if len(set(decisions)) == 1 else 0.0
    leads = [_lead(found) for found in verdicts]
    known = [sign * lead for sign, lead in zip(turned, leads, strict=False) if lead is not None]
    score = sum(known) / len(known) if len(known) == len(verdicts) else None
    return decision + 0.0, score


def _lead(verdict: Verdict) -> float | None:
    mass = sum(verdict.probabilities.values())
    if mass <= 0:
        return None
    return (verdict.probabilities["A"] - verdict.probabilities["B"]) / mass


def _graded(row: LabelRow, verdict: Verdict, pass_from: float) -> tuple[float, float | None]:
    rubric = load_rubric(row.dimension, row.spoken)
    place = _place(rubric, verdict.grade)
    expected = _place(rubric, verdict.expected_grade)
    if place is None:
        raise ValueError(f"rubric {rubric.id} has labels without grades; a {row.kind} row cannot be read from it")
    if row.kind == "binary":
        return float((verdict.grade or 0.0) >= pass_from), expected
    low, high = row.scale[0], row.scale[-1]
    decision = nearest(row.scale, low + place * (high - low))
    return decision, None if expected is None else low + expected * (high - low)


def _place(rubric: Rubric, grade: float | None) -> float | None:
    """A grade's place between the rubric's lowest (0) and highest (1)."""
    grades = [level.grade for level in rubric.levels if level.grade is not None]
    if grade is None or len(grades) < 2:
        return None
    return (grade - min(grades)) / (max(grades) - min(grades))
