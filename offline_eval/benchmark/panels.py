"""Several judges as one: what most of them decide, and the mean of their scores."""

from collections.abc import Mapping, Sequence

from offline_eval.benchmark.decisions import nearest
from offline_eval.benchmark.labels import JudgedRow, LabelSet
from offline_eval.core.results import Status
from offline_eval.stats.raters import majority
from offline_eval.stats.undefined import Undefined


def panel_answers(label_set: LabelSet, name: str, members: Mapping[str, Sequence[JudgedRow]]) -> list[JudgedRow]:
    """Join the members' answers row by row.

    A member without a decision does not vote. Where votes tie, the mean of the voters' scores decides, at the nearest
    level; without scores the mean of their decisions.

    Args:
        name: Of the panel.
        members: Judge to its answers, one a row of the set.

    Returns:
        One answer a row; failed where no member decided, not applicable where it applies to none.
    """
    return [
        _joined(label_set, name, [answers[at] for answers in members.values()]) for at in range(len(label_set.rows))
    ]


def _joined(label_set: LabelSet, name: str, answers: Sequence[JudgedRow]) -> JudgedRow:
    voters = [answer for answer in answers if answer.decision is not None]
    if not voters:
        status = (
            Status.NOT_APPLICABLE
            if all(answer.status is Status.NOT_APPLICABLE for answer in answers)
            else Status.FAILED
        )
        reasons = "; ".join(dict.fromkeys(answer.status_reason or "" for answer in answers))
        return JudgedRow(row_id=answers[0].row_id, judge=name, status=status, status_reason=f"no_vote: {reasons}")
    decisions = [answer.decision for answer in voters if answer.decision is not None]
    scores = [answer.score for answer in voters if answer.score is not None]
    mean = sum(scores) / len(scores) if len(scores) == len(voters) else None
    most = majority([f"{decision:g}" for decision in decisions])
    if isinstance(most, Undefined) or most.label is None:
        middle = mean if mean is not None else sum(decisions) / len(decisions)
        decision = nearest(label_set.levels, middle)
    else:
        decision = float(most.label)
    return JudgedRow(row_id=answers[0].row_id, judge=name, decision=decision, score=mean)
