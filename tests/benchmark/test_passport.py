"""A passport says what a judge is worth, in both languages, and runs can require one."""

import operator
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.benchmark.decisions import judged
from offline_eval.benchmark.labels import JudgedRow, label_sets
from offline_eval.benchmark.passport import JudgeIdentity, Passport, by_language, make_passport
from offline_eval.benchmark.passport_files import (
    list_passports,
    parse_wishes,
    passports_for,
    read_passport,
    require,
    write_passport,
)
from offline_eval.benchmark.passport_text import passport_markdown
from offline_eval.core.errors import DataError, ModelError, UsageError
from offline_eval.core.results import Status
from offline_eval.judge.rubric import load_rubric
from tests.benchmark.synthetic_judges import generator, graded_rows, graded_verdict, pairwise_rows

IDENTITY = JudgeIdentity(judge="j", engine="scripted", weights_hash="scripted")
DATE = "2025-01-02T03:04:05+00:00"


def answers_of(rows, *, sensitivity=0.9, specificity=0.7):
    found = []
    for row in rows:
        is_right = generator("passport", row.id).random() < (sensitivity if row.human else specificity)
        passed = bool(row.human) == is_right
        found.append(
            judged(row, "j", graded_verdict(3, (0.1, 0.2, 0.7)) if passed else graded_verdict(1, (0.8, 0.1, 0.1)))
        )
    return found


def passport_of(n=200, *, language="zh", resamples=100, **options) -> Passport:
    rows = graded_rows(n, kind="binary", languages=(language,))
    (label_set,) = label_sets(rows, "手册")
    answers = options.pop("answers", None) or answers_of(rows)
    return make_passport(label_set, answers, IDENTITY, date=DATE, seed=0, resamples=resamples, **options)


@cache
def small() -> Passport:
    return passport_of(40, resamples=100)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_known_error_rates_are_recovered_within_their_intervals(language):
    passport = passport_of(language=language)
    for measure, truth in ((passport.sensitivity, 0.9), (passport.specificity, 0.7)):
        assert measure.interval.low <= truth <= measure.interval.high
        assert measure.n == 100
    rates = passport.error_rates
    assert rates.true_positive / rates.n_positive == passport.sensitivity.value
    assert rates.true_negative / rates.n_negative == passport.specificity.value
    assert passport.rubric == f"faithfulness.{language}@2"
    assert passport.measures["false_support"].value == pytest.approx(1 - passport.specificity.value)


def test_a_passport_survives_its_files_and_is_found_for_exactly_its_judge(tmp_path):
    passport = passport_of(60, determinism={"flip_rate": 0.0, "prompts": 16})
    json_path, md_path = write_passport(passport, tmp_path)
    assert read_passport(json_path) == passport
    assert list_passports(tmp_path) == [passport]
    text = md_path.read_text("utf-8")
    for part in ("Passport of j", "sensitivity", "flip", "not made", "手册", "faithfulness.zh@2"):
        assert part in text
    rubric = load_rubric("faithfulness", "zh")
    wanted = {"judge": "j", "weights_hash": "scripted", "rubric": rubric.id, "rubric_hash": rubric.content_hash()}
    assert passports_for([passport], **wanted) == [passport]
    for name in wanted:
        assert passports_for([passport], **{**wanted, name: "other"}) == []


def test_the_passport_with_most_labels_comes_first_and_then_the_newest():
    small, large = passport_of(40), passport_of(60)
    newer = large.model_copy(update={"date": "2026-01-01"})
    key = {"judge": "j", "weights_hash": "scripted", "rubric": small.rubric, "rubric_hash": small.rubric_hash}
    assert passports_for([small, large, newer], **key) == [newer, large, small]


def test_a_condition_on_value_and_interval_is_checked_and_the_refusal_names_numbers():
    passport = passport_of()
    kappa = passport.measures["kappa"]
    good, bad = parse_wishes("kappa>=0.5, accuracy>.7"), parse_wishes("kappa.low>=0.95,specificity>=0.9")
    assert require([passport], good, judge="j", rubric=passport.rubric) == [passport]
    with pytest.raises(ModelError) as caught:
        require([passport], bad, judge="j", rubric=passport.rubric)
    assert f"kappa.low is {kappa.interval.low:.3g}, wanted >= 0.95" in str(caught.value)
    assert "specificity is" in str(caught.value)
    assert caught.value.exit_code == 3
    with pytest.raises(ModelError, match="passport make LABELS --judge j"):
        require([], good, judge="j", rubric=passport.rubric)
    assert "has no value there" in parse_wishes("speed>=1")[0].problem(passport)


@pytest.mark.parametrize("text", ["kappa", "kappa>=", "kappa=>0.6", "kappa>=much", "", "kappa>=0..6"])
def test_a_condition_that_cannot_be_read_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match=r"kappa>=0\.6|not a number"):
        parse_wishes(text)


@given(value=st.floats(0, 1), limit=st.floats(0, 1), sign=st.sampled_from([">=", "<=", ">", "<"]))
def test_a_condition_holds_exactly_when_the_comparison_does(value, limit, sign):
    passport = small().model_copy(
        update={"measures": {"kappa": small().measures["kappa"].model_copy(update={"value": value})}}
    )
    written = f"{limit:.6f}"
    compare = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}[sign]
    holds = compare(value, float(written))
    assert (parse_wishes(f"kappa{sign}{written}")[0].problem(passport) is None) == holds


def test_a_judge_that_always_passes_has_a_passport_that_says_so():
    rows = graded_rows(60, kind="binary", languages=("zh",))
    passport = passport_of(60, answers=[judged(row, "j", graded_verdict(3, (0.1, 0.1, 0.8))) for row in rows])
    assert passport.specificity.value == 0.0
    assert passport.measures["kappa"].value == 0.0
    assert any("does not tell them apart" in warning for warning in passport.warnings)
    assert "does not tell them apart" in passport_markdown(passport)


def test_failed_verdicts_count_as_wrong_and_one_kind_of_label_has_reasons():
    rows = graded_rows(40, kind="binary", languages=("zh",))
    same = [row.model_copy(update={"labels": {"anna": 1}}) for row in rows]
    failed = JudgedRow(row_id=same[0].id, judge="j", status=Status.FAILED, status_reason="time_limit: slow")
    answers = [failed, *(judged(row, "j", graded_verdict(3, (0.1, 0.1, 0.8))) for row in same[1:])]
    (label_set,) = label_sets(same, "s")
    passport = make_passport(label_set, answers, IDENTITY, date=DATE, seed=0, resamples=100)
    assert passport.n_failed == 1
    assert passport.sensitivity.value == pytest.approx(39 / 40)
    assert passport.specificity.value is None
    assert passport.specificity.reason == "no row is a failure by people's labels"
    assert passport.ceiling_reason == "no row was labelled by two people"
    assert "no row is a failure" in passport_markdown(passport)


def test_pairs_have_agreement_and_no_error_rates():
    rows = pairwise_rows(30, languages=("zh",))
    verdict = graded_verdict(1, (0.5, 0.3, 0.2)).model_copy(
        update={"label": "A", "grade": None, "expected_grade": None, "probabilities": {"A": 0.6, "B": 0.2, "C": 0.2}}
    )
    (label_set,) = label_sets(rows, "pairs")
    passport = make_passport(
        label_set, [judged(row, "j", verdict) for row in rows], IDENTITY, date=DATE, seed=0, resamples=100
    )
    assert passport.error_rates is None
    assert passport.sensitivity is None
    assert passport.rubric == "preference.zh@2"
    assert passport.measures["agreement"].value == pytest.approx(1 / 3)


def test_a_set_of_two_languages_is_parted_and_refused_whole():
    (label_set,) = label_sets(graded_rows(10, kind="binary"), "both")
    parts = by_language(label_set)
    assert [{row.language for row in part.rows} for part in parts] == [{"en"}, {"zh"}]
    with pytest.raises(DataError, match=r"faithfulness\.en@2, faithfulness\.zh@2; a passport is for one rubric"):
        make_passport(label_set, answers_of(label_set.rows), IDENTITY, date=DATE, seed=0, resamples=100)


def test_a_file_that_is_no_passport_is_named(tmp_path):
    (tmp_path / "odd.json").write_text('{"judge": 1}')
    with pytest.raises(DataError, match=r"odd\.json: not a passport"):
        list_passports(tmp_path)


def test_markdown_is_not_driven_by_names():
    passport = small().model_copy(update={"labels": "<b>x</b> | [a](http://b)"})
    text = passport_markdown(passport)
    assert "<b>" not in text.replace("\\<", "")
    assert "](http://b)" not in text
