"""Every coefficient of a judge's line equals the reference library's on what the line is about."""

import warnings

import krippendorff
import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.benchmark.agreement_table import ceiling, check_answers, judge_line
from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.core.errors import DataError
from offline_eval.core.results import Status
from offline_eval.stats.undefined import Undefined
from tests.benchmark.label_builders import answers, binary_row, one_set, ordinal_row, pair_row

RESAMPLES = 100


def line(rows: list[LabelRow], given_answers: list[JudgedRow], **options: object):  # type: ignore[no-untyped-def]
    return judge_line(one_set(rows), "judge", given_answers, seed=0, resamples=RESAMPLES, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(5))
def test_a_binary_line_equals_the_reference_libraries(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 2, 60)
    scores = np.clip(0.3 * human + rng.random(60) * 0.7, 0, 1)
    decided = (scores >= 0.5).astype(int)
    rows = [binary_row(f"r{at}", int(label)) for at, label in enumerate(human)]
    found = line(
        rows,
        [
            JudgedRow(row_id=row.id, judge="judge", decision=float(d), score=float(s))
            for row, d, s in zip(rows, decided, scores, strict=True)
        ],
    ).measures
    expected = {
        "agreement": sklearn.metrics.accuracy_score(human, decided),
        "balanced_accuracy": sklearn.metrics.balanced_accuracy_score(human, decided),
        "f1": sklearn.metrics.f1_score(human, decided),
        "kappa": sklearn.metrics.cohen_kappa_score(human, decided),
        "alpha": krippendorff.alpha([decided.tolist(), human.tolist()], level_of_measurement="nominal"),
        "pearson": scipy.stats.pearsonr(scores, human).statistic,
        "spearman": scipy.stats.spearmanr(scores, human).statistic,
        "kendall": scipy.stats.kendalltau(scores, human).statistic,
        "auroc": sklearn.metrics.roc_auc_score(human, scores),
        "false_support": decided[human == 0].mean(),
    }
    assert {name: measure.value for name, measure in found.items()} == pytest.approx(expected)
    for name, measure in found.items():
        assert measure.interval is not None, name
        assert measure.interval.low <= expected[name] <= measure.interval.high, name


@pytest.mark.parametrize("kind", ["ordinal", "pairwise"])
@pytest.mark.parametrize("seed", range(3))
def test_graded_and_pairwise_lines_with_ties_equal_the_reference_libraries(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = np.array([1, 2, 3, 4]) if kind == "ordinal" else np.array([-1, 0, 1])
    human = rng.choice(levels, 80)
    decided = np.where(rng.random(80) < 0.5, human, rng.choice(levels, 80))
    names = {-1: "B", 0: "tie", 1: "A"}
    rows = [
        ordinal_row(f"r{at}", float(code), scale=(1, 2, 3, 4)) if kind == "ordinal" else pair_row(f"r{at}", names[code])
        for at, code in enumerate(human.tolist())
    ]
    found = line(rows, answers(rows, decided.astype(float).tolist())).measures
    expected = {
        "agreement": sklearn.metrics.accuracy_score(human, decided),
        "balanced_accuracy": sklearn.metrics.balanced_accuracy_score(human, decided),
        "f1": sklearn.metrics.f1_score(human, decided, average="macro"),
        "kappa": sklearn.metrics.cohen_kappa_score(human, decided),
        "weighted_kappa": sklearn.metrics.cohen_kappa_score(human, decided, weights="quadratic"),
        "alpha": krippendorff.alpha([decided.tolist(), human.tolist()], level_of_measurement="ordinal"),
        "pearson": scipy.stats.pearsonr(decided, human).statistic,
        "spearman": scipy.stats.spearmanr(decided, human).statistic,
        "kendall": scipy.stats.kendalltau(decided, human).statistic,
    }
    assert {name: measure.value for name, measure in found.items()} == pytest.approx(expected)


def test_a_judge_with_one_label_has_kappa_zero_and_undefined_correlations_and_a_warning() -> None:
    rows = [binary_row(f"r{at}", int(at < 4)) for at in range(12)]
    found = line(rows, answers(rows, [1.0] * 12))
    measures = found.measures
    assert measures["agreement"].value == pytest.approx(4 / 12)
    assert (measures["kappa"].value, measures["balanced_accuracy"].value) == (0.0, 0.5)
    assert measures["pearson"].value is None
    assert "constant" in (measures["pearson"].reason or "")
    assert measures["false_support"].value == 1.0  # all 8 that people reject are called supported
    assert measures["false_support"].interval is not None
    assert measures["false_support"].n == 8
    assert any("not fit for use" in warning for warning in found.warnings)
    assert any("decided 1 on 12 of 12 rows" in warning for warning in found.warnings)


def test_when_people_and_judge_all_say_the_same_chance_corrected_values_are_undefined() -> None:
    rows = [binary_row(f"r{at}", 1) for at in range(8)]
    measures = line(rows, answers(rows, [1.0] * 8)).measures
    assert measures["agreement"].value == 1.0
    assert {name for name, found in measures.items() if found.value is None} == {
        *("balanced_accuracy", "kappa", "alpha", "pearson", "spearman", "kendall", "auroc", "false_support")
    }


def test_a_failed_row_counts_at_the_wrong_end_and_is_named() -> None:
    rows = [binary_row(f"r{at}", int(at % 2)) for at in range(8)]
    right = [float(at % 2) for at in range(8)]
    found = line(rows, answers(rows, [*right[:6], None, None]))
    assert found.measures["agreement"].value == pytest.approx(6 / 8)
    assert (found.n, found.n_scored, found.n_failed, found.coverage) == (8, 6, 2, 0.75)
    assert (found.failed_rows, found.reasons) == (("r6", "r7"), {"engine_error": 2})
    graded = [ordinal_row(f"r{at}", float(at % 3 + 1)) for at in range(6)]
    three = line(graded, answers(graded, [1.0, 2.0, None, None, 2.0, 3.0]))
    # r2 (3) counts as 1, r3 (1) counts as 3: four of six agree; quadratic kappa as of the columns with these.
    human, counted = [1, 2, 3, 1, 2, 3], [1, 2, 1, 3, 2, 3]
    expected = sklearn.metrics.cohen_kappa_score(human, counted, weights="quadratic")
    assert three.measures["weighted_kappa"].value == pytest.approx(expected)


def test_rows_that_do_not_apply_are_left_out_and_counted() -> None:
    rows = [binary_row(f"r{at}", int(at % 2)) for at in range(8)]
    given_answers = answers(rows, [float(at % 2) for at in range(8)])
    given_answers[0] = JudgedRow(row_id="r0", judge="judge", status=Status.NOT_APPLICABLE, status_reason="language: zh")
    found = line(rows, given_answers)
    assert (found.n, found.n_not_applicable, found.coverage, found.reasons) == (7, 1, 7 / 8, {"language: zh": 1})
    assert found.measures["agreement"].value == 1.0


def test_rows_that_people_did_not_settle_count_in_correlations_alone() -> None:
    rows = [*(binary_row(f"r{at}", int(at % 2), int(at % 2)) for at in range(8)), binary_row("open", 1, 0)]
    found = line(rows, answers(rows, [*(float(at % 2) for at in range(8)), 1.0]))
    assert (found.measures["agreement"].n, found.measures["pearson"].n) == (8, 9)
    means = [*(at % 2 for at in range(8)), 0.5]
    expected = scipy.stats.pearsonr([*(at % 2 for at in range(8)), 1], means).statistic
    assert found.measures["pearson"].value == pytest.approx(expected)


def test_answers_of_other_rows_are_refused() -> None:
    rows = [binary_row("a", 1), binary_row("b", 0)]
    with pytest.raises(DataError, match="in order"):
        check_answers(one_set(rows), answers(rows[::-1], [1.0, 0.0]))


@settings(max_examples=10)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=6, max_size=20),
    st.data(),
)
def test_a_failure_never_raises_agreement_or_kappa(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    rows = [binary_row(f"r{at}", human) for at, (human, _) in enumerate(pairs)]
    given_answers = answers(rows, [float(decided) for _, decided in pairs])
    at = data.draw(st.integers(0, len(rows) - 1))
    failing = [*given_answers[:at], *answers([rows[at]], [None]), *given_answers[at + 1 :]]
    before, after = line(rows, given_answers).measures, line(rows, failing).measures
    assert after["agreement"].value <= before["agreement"].value
    if None not in (before["kappa"].value, after["kappa"].value):
        assert after["kappa"].value <= before["kappa"].value + 1e-12


def test_the_ceiling_of_two_raters_is_one_against_the_other() -> None:
    # Both label the first ten rows: both 1 on four, both 0 on three, anna alone 1 on two, bo alone 1 on one.
    labels = [(1, 1)] * 4 + [(0, 0)] * 3 + [(1, 0)] * 2 + [(0, 1)] + [(1, None)] * 2
    rows = [binary_row(f"r{at}", *pair) for at, pair in enumerate(labels)]
    found = ceiling(one_set(rows), seed=0, resamples=RESAMPLES)
    assert not isinstance(found, Undefined)
    # Agreement 7/10; anna says 1 on 6 of 10, bo on 5 of 10, so by chance .6 * .5 + .4 * .5 = .5; kappa (.7 - .5) / .5.
    assert found["agreement"].value == pytest.approx(0.7)
    assert found["kappa"].value == pytest.approx(0.4)
    both = [pair for pair in labels if None not in pair]
    columns = [[a for a, _ in both], [b for _, b in both]]
    expected = krippendorff.alpha(columns, level_of_measurement="nominal")
    assert found["alpha"].value == pytest.approx(expected)
    assert found["agreement"].interval is not None


def test_the_ceiling_of_three_raters_is_each_against_the_majority_of_the_others() -> None:
    rows = [pair_row("a", "A", "A", "B"), pair_row("b", "B", "B", "B"), pair_row("c", "A", "tie", "B")]
    found = ceiling(one_set(rows), seed=0, resamples=RESAMPLES)
    assert not isinstance(found, Undefined)
    # Row c: the other two tie for everybody, so it is left out. r1: a (others A, B tie) out, b right: 1/1. r2: the
    # same 1/1. r3: a (others A) wrong, b right: 1/2. Mean (1 + 1 + .5) / 3.
    assert found["agreement"].value == pytest.approx(2.5 / 3)


def test_one_rater_has_no_ceiling() -> None:
    found = ceiling(one_set([binary_row("a", 1), binary_row("b", None, 0)]), seed=0, resamples=RESAMPLES)
    assert found == Undefined(reason="no row was labelled by two people")


def test_intervals_are_seeded_and_resample_whole_queries() -> None:
    rng = np.random.default_rng(0)
    human = np.repeat(rng.integers(0, 2, 15), 4)
    flipped = np.repeat(rng.random(15) < 0.3, 4)  # four copies a query are right or wrong together
    rows = [binary_row(f"r{at}", int(label), query=f"q{at // 4}") for at, label in enumerate(human)]
    alone = [row.model_copy(update={"cluster": row.id}) for row in rows]
    decided = np.where(flipped, 1 - human, human).astype(float).tolist()
    clustered = line(rows, answers(rows, decided)).measures["kappa"].interval
    again = line(rows, answers(rows, decided)).measures["kappa"].interval
    single = line(alone, answers(alone, decided)).measures["kappa"].interval
    assert clustered == again
    assert clustered.high - clustered.low > 1.5 * (single.high - single.low)


@pytest.fixture(autouse=True)
def _quiet_references() -> None:
    warnings.simplefilter("error")
