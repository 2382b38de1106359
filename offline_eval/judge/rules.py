"""What needs no model: empty, contentless and refusing answers, missing passages and references are decided by rule.

A judge can be talked into passing ":"; a rule cannot. It also saves the calls.
"""

from offline_eval.core.evidence import Verdict
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Status
from offline_eval.judge.rubric import Rubric
from offline_eval.text.contentless import is_contentless
from offline_eval.text.refusal import detect_refusal

_CONTENT_OF_ANSWER = "faithfulness"


def decide(case: Case, response: Response, rubric: Rubric) -> Verdict | None:
    """The verdict, if a rule settles it; None when a judge has to be asked.

    - A failed response fails on every dimension.
    - An answer without content gets the lowest level; nothing in it can be checked, so faithfulness does not apply.
    - A refusal states nothing to check (faithfulness does not apply). It is right when the case is unanswerable, and
      then no content dimension applies; it gets the lowest level when the case is answerable; when nobody said which,
      the judge decides.
    - Without any passage text, nothing supports the answer: lowest faithfulness.
    - Without a reference, correctness does not apply.
    - An unanswerable case has no complete or correct answer: those dimensions do not apply.
    """
    if response.error is not None:
        return _failed(f"system_error: {response.error}")
    contentless = is_contentless(response.answer)
    if contentless is not None:
        return _without_content(rubric, f"the answer has no content ({contentless})", reason="no_content")
    if detect_refusal(response.answer).refused and case.answerable is not None:
        if case.answerable:
            return _without_content(rubric, "the answer declines an answerable question", reason="refusal")
        return _not_applicable("correct_refusal")
    return _without_material(case, response, rubric)


def _without_material(case: Case, response: Response, rubric: Rubric) -> Verdict | None:
    if rubric.dimension == _CONTENT_OF_ANSWER and not any(passage.text.strip() for passage in response.passages):
        return _lowest(rubric, "no passage has any text, so nothing supports the answer")
    if case.answerable is False and rubric.dimension in ("completeness", "correctness"):
        return _not_applicable("unanswerable")
    if rubric.dimension == "correctness" and not case.reference:
        return _not_applicable("no_reference")
    return None


def _without_content(rubric: Rubric, note: str, *, reason: str) -> Verdict:
    if rubric.dimension == _CONTENT_OF_ANSWER:
        return _not_applicable(reason)
    return _lowest(rubric, note)


def _lowest(rubric: Rubric, note: str) -> Verdict:
    level = rubric.lowest
    return Verdict(status=Status.SCORED, decided_by="rule", label=level.label, grade=level.grade, note=note)


def _not_applicable(reason: str) -> Verdict:
    return Verdict(status=Status.NOT_APPLICABLE, status_reason=reason, decided_by="rule")


def _failed(reason: str) -> Verdict:
    return Verdict(status=Status.FAILED, status_reason=reason, decided_by="rule")
