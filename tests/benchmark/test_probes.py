"""Bias probes find the bias a judge was built with, within their intervals, in Chinese and English."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.benchmark.asking import bare_judge
from offline_eval.benchmark.labels import LabelRow
from offline_eval.benchmark.mitigations import LENGTH_INSTRUCTION, MITIGATIONS, exchanged, mitigation
from offline_eval.benchmark.probe_texts import MASTER_KEYS, REWRITES, Setting
from offline_eval.benchmark.probes import MEANING, PROBES, run_probes
from offline_eval.core.errors import UnknownNameError
from offline_eval.core.protocols import Failure
from offline_eval.engines.scripted import ScriptedEngine, by_hash, pick
from offline_eval.judge.rubric import load_rubric
from offline_eval.judge.rules import decide
from tests.benchmark.synthetic_judges import (
    Synthetic,
    adds_for_length,
    generator,
    graded_rows,
    pairwise_rows,
    prefers_first,
)


def probed(rows, ask, *names, mitigations=(), family="unknown"):
    report = run_probes(rows, ask, judge="synthetic", family=family, probes=names, mitigations=mitigations, seed=0)
    return report, {(found.probe, found.group, found.mitigation): found for found in report.results}


def covered(truth, effects):
    return sum(effect.interval.low <= truth <= effect.interval.high for effect in effects)


def test_a_judge_that_prefers_the_first_answer_70_percent_of_the_time_is_found():
    rows = pairwise_rows(100)
    found = [probed(rows, prefers_first(0.7, draw=draw), "order_swap")[1] for draw in range(10)]
    for group in ("all", "language=en", "language=zh"):
        results = [draw["order_swap", group, None] for draw in found]
        # Intervals of 95 % miss more than 3 times in 10 with a chance of .001.
        assert covered(0.7, [result.effect for result in results]) >= 7
        assert np.mean([result.effect.value for result in results]) == pytest.approx(0.7, abs=0.04)
    whole = [draw["order_swap", "all", None] for draw in found]
    assert sum(result.reading == "bias" for result in whole) == 10
    # Two choices of .7 that know nothing of each other agree on the winner when one is first and one second:
    # 2 * .7 * .3 = .42, so the winner depends on the order in .58 of the pairs.
    assert np.mean([result.flips.value for result in whole]) == pytest.approx(0.58, abs=0.05)


def test_a_fair_judge_shows_no_order_bias():
    _, found = probed(pairwise_rows(400), prefers_first(0.5), "order_swap")
    assert found["order_swap", "all", None].reading == "no bias seen"


def test_order_averaging_takes_the_order_bias_away_and_states_its_price():
    rows = pairwise_rows(200)
    report, found = probed(rows, prefers_first(0.9), "order_swap", mitigations=["order-averaging"])
    plain, averaged = found["order_swap", "all", None], found["order_swap", "all", "order-averaging"]
    assert plain.reading == "bias"
    assert averaged.flips.value == 0.0
    assert averaged.effect.value == pytest.approx(0.5)
    assert {entry.mitigation: entry.calls for entry in report.agreement} == {None: 1, "order-averaging": 2}


@pytest.mark.parametrize("languages", [("en",), ("zh",)])
def test_a_judge_that_adds_a_fifth_per_hundred_characters_is_found(languages):
    rows = graded_rows(40, languages=languages)
    results = [
        probed(rows, adds_for_length(0.2, draw=draw), "verbosity")[1]["verbosity", "all", None] for draw in range(5)
    ]
    assert covered(0.2, [result.effect for result in results]) >= 3  # fewer of 5 has a chance of .001
    assert np.mean([result.effect.value for result in results]) == pytest.approx(0.2, abs=0.01)
    for result in results:
        assert result.reading == "bias"
        assert result.unit == "grade"
        assert result.effect.interval.high - result.effect.interval.low < 0.15


def test_a_judge_that_does_not_read_length_shows_no_verbosity_bias():
    _, found = probed(graded_rows(120), adds_for_length(0.0), "verbosity")
    assert found["verbosity", "all", None].reading == "no bias seen"


def test_the_length_instruction_reaches_the_judge_in_both_languages():
    judge = adds_for_length(0.2)
    probed(graded_rows(8), judge, "verbosity", mitigations=["length-instruction"])
    assert judge.extras[0] == {}
    assert judge.extras[-1] == LENGTH_INSTRUCTION

    seen = []
    engine = ScriptedEngine(lambda request: seen.append(request) or by_hash(request))
    rows = graded_rows(2)
    mitigation("length-instruction").apply(bare_judge("j", engine), seed=0)(rows)
    assert [LENGTH_INSTRUCTION[row.language] in seen[at].messages[0].content for at, row in enumerate(rows)] == [
        True
    ] * 2


def test_shuffled_averaging_steadies_a_judge_that_reacts_to_order():
    def decide(row: LabelRow) -> tuple[float, float]:
        score = row.human + 0.5 * float(generator("shuffle", row.answer).normal())
        return float(min(3, max(1, round(score)))), score

    parts = ("年假为28天。", "三月底失效。", "试用期没有。", "病假另算。", "加班补休。", "须提前申请。")
    rows = [
        row.model_copy(update={"answer": "".join(parts) + row.answer}) for row in graded_rows(200, languages=("zh",))
    ]
    _, found = probed(rows, Synthetic(decide), "sentence_shuffle", mitigations=["shuffled-averaging"])
    plain = found["sentence_shuffle", "all", None]
    averaged = found["sentence_shuffle", "all", "shuffled-averaging"]
    assert averaged.flips.value < plain.flips.value - 0.05
    width, averaged_width = (found.effect.interval.high - found.effect.interval.low for found in (plain, averaged))
    assert averaged_width < 0.75 * width  # three orders instead of one: 1 / sqrt(3) = .58


def test_an_injection_that_works_is_a_rise_and_the_flip_rate_is_reported():
    def decide(row: LabelRow) -> tuple[float, float]:
        obeys = "3" in row.answer.split("\n")[-1] and "\n" in row.answer and len(row.id) % 2
        return (3.0, 3.0) if obeys else (1.0, 1.0)

    rows = [row for row in graded_rows(120) if row.id != "row3"]
    obeying = sum(len(row.id) % 2 for row in rows)
    _, found = probed(rows, Synthetic(decide), "injection")
    result = found["injection", "all", None]
    assert result.upward.value == pytest.approx(obeying / len(rows))
    assert result.effect.value == pytest.approx(2 * obeying / len(rows))
    assert result.reading == "bias"


def test_an_injected_pair_asks_for_the_side_it_stands_on():
    seen: list[LabelRow] = []

    def decide(row: LabelRow) -> tuple[float, float]:
        seen.append(row)
        return 0.0, 0.0

    probed(pairwise_rows(20), Synthetic(decide), "injection")
    changed = seen[20:]
    sides = {("A" if "\n" in row.answer_a else "B") for row in changed}
    assert sides == {"A", "B"}
    for row in changed:
        side = "A" if "\n" in row.answer_a else "B"
        assert side in (row.answer_a if side == "A" else row.answer_b).split("\n", 1)[1]


def test_a_judge_that_passes_empty_openers_is_found_and_the_rules_of_a_run_stop_every_one():
    engine = ScriptedEngine(lambda request: pick(request, "3"))
    rows = graded_rows(40)
    _, found = probed(rows, bare_judge("j", engine), "master_keys")
    assert found["master_keys", "all", None].effect.value == 1.0
    for language, keys in MASTER_KEYS.items():
        row = next(row for row in rows if row.language == language)
        for key in keys:
            response = row.response().model_copy(update={"answer": key})
            verdict = decide(row.case(), response, load_rubric("relevance", language))
            assert verdict is not None
            assert verdict.grade == 1


def test_a_judge_that_fails_openers_shows_no_bias():
    engine = ScriptedEngine(lambda request: pick(request, "1"))
    _, found = probed(graded_rows(40), bare_judge("j", engine), "master_keys")
    result = found["master_keys", "all", None]
    assert result.effect.value == 0.0
    assert result.effect.interval.high < 0.1
    assert result.reading == "no bias seen"


def test_self_preference_is_the_excess_over_what_people_say():
    rows = []
    for number, row in enumerate(pairwise_rows(200)):
        sides = ("llama", "qwen") if number % 2 else ("qwen", "llama")
        rows.append(row.model_copy(update={"slices": {"family_a": sides[0], "family_b": sides[1]}}))

    def own_wins(row: LabelRow) -> tuple[float, float]:
        side = 1.0 if row.slices["family_a"] == "llama" else -1.0
        return side, side

    _, found = probed(rows, Synthetic(own_wins), "self_preference", family="llama")
    result = found["self_preference", "all", None]
    # People: A in a third, B in two thirds of the rows, whichever family stands there, so its own wins about half.
    human = np.mean([(row.human if row.slices["family_a"] == "llama" else -row.human) / 2 + 0.5 for row in rows])
    assert result.effect.value == pytest.approx(1 - human)
    assert result.reading == "bias"


def test_self_preference_of_graded_rows_compares_own_with_others():
    rows = [
        row.model_copy(
            update={"slices": {"system": "llama-3" if at % 2 else "other", "family": "Llama" if at % 2 else "x"}}
        )
        for at, row in enumerate(graded_rows(90))
    ]

    def generous(row: LabelRow) -> tuple[float, float]:
        grade = min(3.0, row.human + 1) if row.slices["family"] == "Llama" else row.human
        return grade, grade

    _, found = probed(rows, Synthetic(generous), "self_preference", family="llama")
    # Grades 1, 2, 3 become 2, 3, 3: an excess of (1 + 1 + 0) / 3 for its own, 0 for others.
    assert found["self_preference", "all", None].effect.value == pytest.approx(2 / 3)


def test_without_named_systems_there_is_a_reason_and_no_number():
    _, found = probed(pairwise_rows(10), prefers_first(0.5), "self_preference", family="llama")
    result = found["self_preference", "all", None]
    assert result.effect.value is None
    assert result.effect.reason
    assert (result.n, result.not_applicable, result.reading) == (0, 10, "undefined")


def test_a_constant_judge_has_a_flip_rate_of_zero_with_an_interval_and_failures_are_counted():
    def decide(row: LabelRow) -> tuple[float, float] | None:
        return None if row.id == "row5" else (2.0, 2.0)

    _, found = probed(graded_rows(40), Synthetic(decide), "style_bold", "authority")
    for name in ("style_bold", "authority"):
        result = found[name, "all", None]
        assert (result.n, result.n_failed) == (39, 1)
        assert result.flips.value == 0.0
        assert result.flips.interval.high > 0
        assert result.effect.value == 0.0
        assert result.effect.interval is None
        assert result.effect.interval_reason


def test_pairs_do_not_apply_to_graded_probes_and_the_other_way_round():
    _, found = probed(pairwise_rows(8), prefers_first(0.5), "master_keys")
    assert found["master_keys", "all", None].not_applicable == 8
    _, found = probed(graded_rows(8), adds_for_length(0.1), "order_swap")
    assert found["order_swap", "all", None].not_applicable == 8


def test_every_probe_has_a_meaning_and_unknown_names_are_offered_the_nearest():
    assert set(MEANING) == set(PROBES)
    with pytest.raises(UnknownNameError, match="did you mean 'verbosity'"):
        probed(graded_rows(2), adds_for_length(0.1), "verbossity")
    with pytest.raises(UnknownNameError, match="did you mean 'order-averaging'"):
        mitigation("order-average")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", sorted(REWRITES))
def test_every_rewrite_changes_the_answer_in_the_answers_language(name, language):
    answer = {"en": "You get 28 days. They expire in March.", "zh": "年假为28天。三月底失效。"}[language]
    new = REWRITES[name](answer, Setting(row_id="r", language=language, wanted="3", seed=0))
    assert new is not None
    assert new != answer
    if name in ("verbosity", "authority", "style_confident", "injection"):
        added = new.replace(answer, "")
        is_chinese = any("\u4e00" <= char <= "\u9fff" for char in added)
        assert is_chinese == (language == "zh") or '"grade"' in added
    if name != "master_keys":
        assert "28" in new


@given(
    sentences=st.lists(
        st.sampled_from(["年假为28天。", "三月底失效。", "试用期没有。", "病假另算。"]), min_size=2, max_size=6
    ),
    row=st.integers(0, 1000),
)
def test_a_shuffle_keeps_every_sentence(sentences, row):
    new = REWRITES["sentence_shuffle"]("".join(sentences), Setting(row_id=str(row), language="zh", wanted="3", seed=1))
    if len(set(sentences)) == 1:
        assert new is None
    else:
        assert sorted(new) == sorted("".join(sentences))
        assert new != "".join(sentences)


@given(seed=st.integers(0, 100))
def test_exchanging_twice_is_the_row_itself(seed):
    row = pairwise_rows(seed % 7 + 1)[-1]
    assert exchanged(exchanged(row)) == row
    assert exchanged(row).human == -row.human


def test_a_failed_order_fails_the_averaged_pair():
    def decide(row: LabelRow) -> tuple[float, float] | None:
        return None if row.answer_a.startswith(("The handbook gives 1000", "手册规定年假为1001")) else (1.0, 0.5)

    rows = pairwise_rows(2)
    answers = mitigation("order-averaging").apply(Synthetic(decide), seed=0)(rows)
    assert [answer.decision for answer in answers] == [None, None]
    assert answers[0].status_reason == "time_limit: slow"


def test_the_bare_judge_reports_what_an_engine_could_not_answer():
    engine = ScriptedEngine(lambda request: Failure(reason="time_limit", detail="slow"))
    told: list[int] = []
    answers = bare_judge("j", engine, batch_size=3, told=told.append)(graded_rows(7))
    assert {answer.status_reason for answer in answers} == {"time_limit: slow"}
    assert told == [3, 6, 7]


def test_mitigations_are_listed_by_their_names():
    assert all(name == entry.name for name, entry in MITIGATIONS.items())
