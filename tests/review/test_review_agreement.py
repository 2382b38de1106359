"""Judge–human and human–human agreement: golden numbers by hand, and what is withheld or left out."""

from pathlib import Path

import pytest

from offline_eval.review.agreement import LEAST_LABELS, agreement_rows, compare
from tests.support.panel_runs import make_case, make_response
from tests.support.review_runs import grades_in_the_answer, make_desk, make_run

# (judge, person) and how often: 20 responses to 20 cases.
TABLE = {(1, 1): 6, (2, 2): 4, (3, 3): 5, (1, 2): 2, (2, 3): 1, (3, 1): 2}
PAIRS = [pair for pair, count in TABLE.items() for _ in range(count)]
SHARE = 15 / 20  # 6 + 4 + 5 of 20 are equal
# Squared distances seen: (1,2) 2 x 1 + (2,3) 1 x 1 + (3,1) 2 x 4 = 11.
# By chance, from the totals judge 8, 5, 7 and person 8, 6, 6:
# (8x6x1 + 8x6x4 + 5x8x1 + 5x6x1 + 7x8x4 + 7x6x1) / 20 = (48 + 192 + 40 + 30 + 224 + 42) / 20 = 576 / 20 = 28.8.
KAPPA = 1 - 11 / 28.8
# Wilson, z = 1.959964, z^2 = 3.841459: centre (.75 + 3.841459/40) / (1 + 3.841459/20) = .846036 / 1.192073 = .709719;
# half 1.959964 x sqrt(.75 x .25 / 20 + 3.841459 / 1600) / 1.192073 = 1.959964 x .108519 / 1.192073 = .178424.
LOW, HIGH = 0.709719 - 0.178424, 0.709719 + 0.178424


def test_agreement_equals_the_sum_by_hand() -> None:
    judge = {f"r{n}": float(pair[0]) for n, pair in enumerate(PAIRS)}
    person = {f"r{n}": float(pair[1]) for n, pair in enumerate(PAIRS)}
    n, share, kappa = compare(judge, person, clusters={key: key for key in judge})
    assert n == 20
    assert share is not None
    assert kappa is not None
    assert share.value == pytest.approx(SHARE)
    assert kappa.value == pytest.approx(KAPPA)
    assert share.interval is not None
    assert (share.interval.low, share.interval.high) == pytest.approx((LOW, HIGH), abs=1e-5)
    assert kappa.interval is not None
    assert kappa.interval.low < KAPPA < kappa.interval.high


def test_one_label_too_few_withholds_the_number_and_says_so() -> None:
    few = {f"r{n}": 1.0 for n in range(LEAST_LABELS - 1)}
    assert compare(few, few, clusters={key: key for key in few}) == (LEAST_LABELS - 1, None, None)


def test_the_desk_counts_blind_labels_against_the_judge_and_a_second_person(tmp_path: Path) -> None:
    cases = [make_case(f"c{n:02d}") for n in range(len(PAIRS))]
    answers = [f"{n} days, says the handbook: grade {judge}." for n, (judge, _) in enumerate(PAIRS)]
    responses = [make_response(case.id, answer=answer) for case, answer in zip(cases, answers, strict=True)]
    run = make_run(tmp_path / "run.sqlite", cases, responses, script=grades_in_the_answer)
    given = {response.key: str(person) for response, (_, person) in zip(responses, PAIRS, strict=True)}

    anna = make_desk(run, tmp_path / "l.db")
    for key, value in given.items():
        anna.label(key, "faithfulness", value)
    bob = make_desk(run, tmp_path / "l.db", person="bob", show_verdicts=True)
    bob.label(next(iter(given)), "faithfulness", "3")  # in view of the verdict: counts nowhere
    judged, among = anna.agreement()
    rows = {(row["dimension"], row["part"]): row for row in agreement_rows(judged)}
    for part in ("random", "all"):  # the queue is the whole run here, so both parts are the same
        row = rows["faithfulness", part]
        assert (row["n"], row["same"], row["kappa"]) == (20, pytest.approx(SHARE), pytest.approx(KAPPA))
        assert row["second"] == "panel"
    assert rows["relevance", "all"]["n"] == 0
    assert rows["relevance", "all"]["reason"] == f"withheld below {LEAST_LABELS} labels"
    assert among == []

    carl = make_desk(run, tmp_path / "l.db", person="carl")
    for key in given:
        carl.label(key, "faithfulness", "2")
    _, among = carl.agreement()
    # Anna said 2 six times of twenty, Carl always: share 6 / 20. Chance alone expects Carl's disagreements, so kappa 0.
    assert [(a.first, a.second, a.n) for a in among] == [("anna", "carl", 20)]
    assert among[0].share is not None
    assert among[0].share.value == pytest.approx(0.3)
    assert among[0].kappa is not None
    assert among[0].kappa.value == pytest.approx(0.0)
