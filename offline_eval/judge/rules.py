"""What needs no model: empty, contentless and refusing answers, missing passages and references are decided by rule.

A judge can be talked into passing ":"; a rule cannot. It also saves the calls.
"""

from offline_eval.core.evidence import Verdict
from offline_eval.core.records import Case, Response
from offline_eval.core.results import Status
from offline_eval.judge.rubric import Rubric
from offline_eval.text.contentless import is_contentless
from offline_eval.text.refusal import detect_refusal

_AGAINST_THE_PASSAGES = "faithfulness"
_AGAINST_THE_TRUTH = ("completeness", "correctness")
_OTHER = "other_answer"
_FIRST, _SECOND, _TIE = "A", "B", "C"  # labels of a rubric that compares, whatever their order


def decide(case: Case, response: Response, rubric: Rubric, *, other_answer: str | None = None) -> Verdict | None:
    """The verdict, if a rule settles it; None when a judge has to be asked.

    A rubric that compares two answers has rules of its own, see `decide_pair`; only a failed response fails there too.
    On one answer, the first rule that fits decides:

    1. A failed response fails on every dimension.
    2. A refusal of an unanswerable case is right, and no dimension applies.
    3. An unanswerable case has no complete or correct answer, and without a reference nothing is correct or wrong:
       those dimensions do not apply, whatever the answer.
    4. An answer without content gets the lowest level; nothing in it can be checked, so faithfulness does not apply.
    5. A refusal states nothing to check either. It gets the lowest level when the case is answerable; when nobody said
       which, the judge decides, on all dimensions but faithfulness.
    6. Without any passage text, nothing supports the answer: lowest faithfulness.

    Args:
        other_answer: The second answer, where the rubric compares two.
    """
    if response.error is not None:
        return _failed(f"system_error: {response.error}")
    if _OTHER in rubric.sees:
        return decide_pair(response.answer, other_answer, rubric)
    is_refusal = detect_refusal(response.answer).refused
    if is_refusal and case.answerable is False:
        return _not_applicable("correct_refusal")
    if case.answerable is False and rubric.dimension in _AGAINST_THE_TRUTH:
        return _not_applicable("unanswerable")
    if rubric.dimension == "correctness" and not (case.reference or "").strip():
        return _not_applicable("no_reference")
    contentless = is_contentless(response.answer)
    if rubric.dimension == _AGAINST_THE_PASSAGES:
        if contentless is not None or is_refusal:
            return _not_applicable("refusal" if is_refusal else "no_content")
        if not any(passage.text.strip() for passage in response.passages):
            return _lowest(rubric, "no passage has any text, so nothing supports the answer")
        return None
    if contentless is not None:
        return _lowest(rubric, f"the answer has no content ({contentless})")
    if is_refusal and case.answerable:
        return _lowest(rubric, "the answer declines an answerable question")
    return None


def decide_pair(first: str, second: str | None, rubric: Rubric) -> Verdict | None:
    """What a rule says about two answers: one without content loses to one with content, and two of them tie.

    Args:
        first: The answer that label A prefers.
        second: The answer that label B prefers; None when there is none, and nothing can be compared.
        rubric: Its label C is the tie. Where it lacks the label that a rule would give, the pair is not applicable.
    """
    if second is None:
        return _not_applicable("no_other_answer")
    is_empty = [is_contentless(answer) is not None for answer in (first, second)]
    if not any(is_empty):
        return None
    label, note = _TIE, "no answer has content"
    if not all(is_empty):
        label, note = (_SECOND if is_empty[0] else _FIRST), "the other answer has no content"
    return _preferred(label, note) if label in rubric.labels else _not_applicable("no_content")


def _preferred(label: str, note: str) -> Verdict:
    return Verdict(status=Status.SCORED, decided_by="rule", label=label, note=note)


def _lowest(rubric: Rubric, note: str) -> Verdict:
    level = rubric.lowest
    return Verdict(status=Status.SCORED, decided_by="rule", label=level.label, grade=level.grade, note=note)


def _not_applicable(reason: str) -> Verdict:
    return Verdict(status=Status.NOT_APPLICABLE, status_reason=reason, decided_by="rule")


def _failed(reason: str) -> Verdict:
    return Verdict(status=Status.FAILED, status_reason=reason, decided_by="rule")
