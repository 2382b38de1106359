"""Generations → verdicts and reasons: probabilities, expected grade, margin, and the checks on what was written."""

import json
import math
from collections.abc import Sequence

from offline_eval.core.evidence import Verdict
from offline_eval.core.protocols import Failure, Generation
from offline_eval.core.results import Status
from offline_eval.judge.prompt import EVIDENCE_LIMIT, REASON_LIMIT, Material, whole_verdict
from offline_eval.judge.rubric import Rubric
from offline_eval.text.normalize import contains_verbatim

_STORED_DIGITS = 6  # of probabilities: float32 arithmetic moves the seventh between batches


def read_label(rubric: Rubric, result: Generation | Failure, *, window: tuple[int, int] | None = None) -> Verdict:
    """Turn the answer to a label request into a verdict.

    Probabilities are the model's own, before any mask; the mass outside the labels is what they leave. Expected grade
    and margin are over the labels alone, renormalised.
    """
    if isinstance(result, Failure):
        return failed_verdict(result)
    if result.text not in rubric.labels:
        return Verdict(
            status=Status.FAILED, status_reason="off_menu: not one of the labels", decided_by="judge", raw=result.text
        )
    level = rubric.level(result.text)
    verdict = Verdict(status=Status.SCORED, decided_by="judge", label=level.label, grade=level.grade, window=window)
    if result.label_logprobs is None:
        return verdict
    return verdict.model_copy(update=_distribution(rubric, result.label_logprobs))


def _distribution(rubric: Rubric, logprobs: dict[str, float]) -> dict[str, object]:
    probabilities = {label: math.exp(logprobs[label]) for label in rubric.labels}
    mass = math.fsum(probabilities.values())
    stored = {label: round(value, _STORED_DIGITS) for label, value in probabilities.items()}
    if mass <= 0.0:
        return {"probabilities": stored, "off_label_mass": 1.0}
    ranked = sorted(probabilities.values(), reverse=True)
    grades = [rubric.level(label).grade for label in rubric.labels]
    expected = None
    if all(grade is not None for grade in grades):
        weighted = [probabilities[level.label] * (level.grade or 0.0) for level in rubric.levels]
        expected = math.fsum(weighted) / mass
    return {
        "probabilities": stored,
        "off_label_mass": round(min(1.0, max(0.0, 1.0 - mass)), _STORED_DIGITS),
        "expected_grade": None if expected is None else round(expected, _STORED_DIGITS),
        "margin": round((ranked[0] - ranked[1]) / mass, _STORED_DIGITS),
    }


def failed_verdict(failure: Failure) -> Verdict:
    """The verdict of an item whose judge call failed; never a grade."""
    return Verdict(
        status=Status.FAILED, status_reason=f"{failure.reason}: {failure.detail}", decided_by="judge", raw=failure.raw
    )


def best_window(verdicts: Sequence[Verdict]) -> int:
    """Which window of a long material counts: the one that supports the answer best; the first of equals.

    An answer drawn from many passages is supported if some window supports it, so the highest expected grade (the
    grade, without probabilities) is taken. A window that failed fails the verdict, since what it holds was not judged.
    """

    def worth(verdict: Verdict) -> float:
        if verdict.status is not Status.SCORED:
            return math.inf
        if verdict.expected_grade is not None:
            return verdict.expected_grade
        return verdict.grade if verdict.grade is not None else -math.inf

    return max(range(len(verdicts)), key=lambda position: (worth(verdicts[position]), -position))


def read_reason(rubric: Rubric, material: Material, *, label: str, result: Generation | Failure) -> dict[str, object]:
    """Turn the answer to a reason request into the fields of `ReasonEvidence`.

    The whole verdict is parsed as JSON and checked against the form, although the grammar promises it: a miss is a
    failed reason, not a wrong one.
    """
    if isinstance(result, Failure):
        return {"status": Status.FAILED, "status_reason": f"{result.reason}: {result.detail}", "raw": result.raw}
    whole = whole_verdict(rubric, label, tail=result.text)
    problem = _problem(whole, rubric, label)
    if problem is not None:
        return {"status": Status.FAILED, "status_reason": f"off_menu: {problem}", "raw": result.text}
    verdict = json.loads(whole)
    quote = verdict["evidence"].strip()
    shown = "\n".join(material.blocks[block] for block in rubric.sees)
    return {
        "status": Status.SCORED,
        "quote": quote,
        "quote_verbatim": contains_verbatim(quote, shown) if quote else None,
        "reason": verdict["reason"].strip(),
        "whole": whole,
    }


def _problem(whole: str, rubric: Rubric, label: str) -> str | None:
    try:
        value = json.loads(whole)
    except ValueError as error:
        return f"not JSON ({error})"
    if not isinstance(value, dict) or list(value) != [rubric.key, "evidence", "reason"]:
        return "the object's keys are not the verdict's"
    if str(value[rubric.key]) != label:
        return f"the label is not {label}"
    limits = {"evidence": EVIDENCE_LIMIT, "reason": REASON_LIMIT}
    for name, limit in limits.items():
        if not isinstance(value[name], str) or len(value[name]) > limit:
            return f"{name} is not a string of at most {limit} characters"
    return None
