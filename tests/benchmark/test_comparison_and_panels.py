"""Judges are compared row by row with a correction, and join in panels by vote."""

import pytest

from offline_eval.benchmark.agreement_table import judge_line
from offline_eval.benchmark.baselines import LONGER, RANDOM
from offline_eval.benchmark.comparison import best_baseline, closeness, judge_pairs
from offline_eval.benchmark.labels import JudgedRow
from offline_eval.benchmark.panels import panel_answers
from offline_eval.core.results import Status
from offline_eval.stats.paired import mcnemar
from tests.benchmark.label_builders import answers, binary_row, one_set, ordinal_row


def test_the_better_judge_is_told_from_the_worse_and_equals_are_not() -> None:
    rows = [binary_row(f"r{at}", int(at % 2)) for at in range(60)]
    label_set = one_set(rows)
    right = [float(at % 2) for at in range(60)]
    given = {
        "good": answers(rows, [*right[:54], *(1 - value for value in right[54:])]),  # 54 of 60
        "twin": answers(rows, [*(1 - value for value in right[:6]), *right[6:]]),  # another 54 of 60
        "poor": answers(rows, [*right[:30], *(1 - value for value in right[30:])]),  # 30 of 60
    }
    lines = [judge_line(label_set, name, found, seed=0, resamples=100) for name, found in given.items()]
    found = judge_pairs(label_set, given, lines, seed=0, resamples=1000)
    by_pair = {(pair.first, pair.second): pair for pair in found}
    assert set(by_pair) == {("twin", "good"), ("poor", "good"), ("poor", "twin")}
    better = by_pair["poor", "good"]
    assert (better.verdict, better.wins, better.ties, better.losses) == ("better", 24, 36, 0)
    assert better.difference.value == pytest.approx(24 / 60)
    assert better.p == mcnemar(24, 0)
    assert by_pair["twin", "good"].verdict == "cannot tell"
    # Holm: the smallest of three p is multiplied by 3.
    smallest = min(pair.p or 1.0 for pair in found)
    assert min(pair.adjusted_p or 1.0 for pair in found) == pytest.approx(3 * smallest)


def test_the_best_baseline_is_never_a_lucky_draw() -> None:
    rows = [binary_row(f"r{at}", at % 2) for at in range(8)]
    right = answers(rows, [float(at % 2) for at in range(8)])
    lucky, plain, judge = (
        judge_line(one_set(rows), name, right, role=role, seed=0, resamples=100)
        for name, role in ((RANDOM, "baseline"), (LONGER, "baseline"), ("j", "judge"))
    )
    assert best_baseline([judge, lucky, plain]) == plain
    assert best_baseline([judge, lucky]) is None


def test_on_an_ordinal_scale_a_near_miss_is_worth_more_than_a_far_one() -> None:
    row = ordinal_row("a", 3, scale=(1, 2, 3, 4, 5))
    label_set = one_set([row])
    near, far, failed = (answers([row], [value])[0] for value in (4.0, 1.0, None))
    assert closeness(label_set, row, near) == 0.75  # 1 - 1/4
    assert closeness(label_set, row, far) == 0.5
    assert closeness(label_set, row, failed) == 0.5  # 1 and 5 are equally far


def test_rows_of_no_majority_or_no_application_are_not_compared() -> None:
    open_row, row = binary_row("a", 1, 0), binary_row("b", 1)
    label_set = one_set([open_row, row])
    skipped = JudgedRow(row_id="b", judge="j", status=Status.NOT_APPLICABLE, status_reason="language: zh")
    assert closeness(label_set, open_row, answers([open_row], [1.0])[0]) is None
    assert closeness(label_set, row, skipped) is None


def test_a_panel_decides_by_vote_and_a_tie_by_the_mean_score() -> None:
    rows = [binary_row("a", 1), binary_row("b", 1), binary_row("c", 1)]
    label_set = one_set(rows)

    def said(*pairs: tuple[float, float]) -> list[JudgedRow]:
        return [
            JudgedRow(row_id=row.id, judge="j", decision=decision, score=score)
            for row, (decision, score) in zip(rows, pairs, strict=True)
        ]

    two = {"x": said((1, 0.6), (1, 0.9), (0, 0.1)), "y": said((0, 0.1), (0, 0.45), (0, 0.2))}
    found = panel_answers(label_set, "x+y", two)
    # a: votes tie, mean score .35 is nearer to 0; b: tie, .675 nearer to 1; c: both 0.
    assert [answer.decision for answer in found] == [0.0, 1.0, 0.0]
    assert found[1].score == pytest.approx(0.675)
    three = {**two, "z": said((1, 0.5), (0, 0.5), (1, 0.5))}
    assert [answer.decision for answer in panel_answers(label_set, "x+y+z", three)] == [1.0, 0.0, 0.0]


def test_a_member_that_failed_does_not_vote_and_a_panel_of_failures_fails() -> None:
    rows = [binary_row("a", 1), binary_row("b", 1)]
    members = {"x": answers(rows, [None, None]), "y": answers(rows, [1.0, None])}
    first, second = panel_answers(one_set(rows), "x+y", members)
    assert (first.decision, second.decision, second.status) == (1.0, None, Status.FAILED)
