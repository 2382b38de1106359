"""Thresholds are chosen on one part of the labels and reported on the other."""

import random
from pathlib import Path

import pytest
import yaml

from offline_eval.core.errors import DataError
from offline_eval.core.gate import Gate
from offline_eval.pipeline.gates import hold
from offline_eval.pipeline.suggest import read_labels, suggest
from offline_eval.report.suggested_gates import render
from offline_eval.stats.splits import Labelled, split
from tests.support.scored_sides import FAILED, make_side

N = 120
GOOD = [place % 2 == 0 for place in range(N)]


def labelled(values, *, metric="faithfulness", names=(), seed=3):
    side = make_side({metric: values})
    labels = {(item.case.id, None): good for item, good in zip(side.items, GOOD, strict=True)}
    return side, suggest([side], labels, metrics=names or [metric], seed=seed)[0]


def test_a_metric_that_tells_them_apart_is_proposed_and_a_run_of_acceptable_cases_passes():
    side, found = labelled([0.9 if good else 0.4 for good in GOOD])
    assert (found.case_at_least, found.precision, found.recall, found.separation) == (0.9, 1.0, 1.0, 1.0)
    assert found.n_fit + found.n_report == N
    # every one of the report part's acceptable cases passes: Wilson's lower bound n / (n + z²), rounded
    data = Labelled(ids=tuple(i.case.id for i in side.items), probabilities=(0.5,) * N, outcomes=tuple(map(int, GOOD)))
    n = sum(split(data, seed=3)[1].outcomes)
    assert found.at_least == round(n / (n + 1.959964**2), 3)
    gate = Gate(metric="faithfulness", case_at_least=found.case_at_least, at_least=found.at_least, use="value")
    assert hold([gate], [make_side({"faithfulness": [0.9] * 40})], seed=1).passed
    assert not hold([gate], [make_side({"faithfulness": [0.9, 0.4] * 20})], seed=1).passed


def test_where_lower_is_better_the_limit_is_an_upper_one():
    _, found = labelled([1 / 3 if good else 0.8 for good in GOOD], metric="hallucination")
    assert found.case_at_least is None
    assert found.case_at_most == 0.333334  # a third, rounded outwards so that it passes itself


def test_the_figures_are_from_labels_the_threshold_was_not_chosen_on():
    # Noise that a threshold can fit: on its own labels it looks better than chance, on others it does not.
    rng = random.Random(1)
    _, found = labelled([rng.random() for _ in GOOD])
    assert found.case_at_least is None
    assert found.reason == (
        "it does not tell acceptable from unacceptable cases: the interval of its separation reaches chance (.5)"
    )
    assert found.separation_interval.low <= 0.5 <= found.separation_interval.high


def test_too_few_labels_of_one_kind_propose_nothing():
    side = make_side({"faithfulness": [0.9] * 20})
    labels = {(item.case.id, None): place > 1 for place, item in enumerate(side.items)}
    (found,) = suggest([side], labels, metrics=["faithfulness"], seed=1)
    assert "5 of each are needed" in found.reason


def test_failed_cases_are_no_evidence_for_a_threshold_and_are_counted():
    values = [FAILED if place >= 100 else (0.9 if good else 0.4) for place, good in enumerate(GOOD)]
    _, found = labelled(values)
    assert (found.n_unscored, found.n_fit + found.n_report) == (20, 100)


def test_a_label_of_one_system_goes_before_one_of_all():
    sides = [make_side({"faithfulness": [0.9 if g else 0.4 for g in GOOD]}, system=name) for name in ("a", "b")]
    ids = [item.case.id for item in sides[0].items]
    labels = {(id, "a"): good for id, good in zip(ids, GOOD, strict=True)} | {(id, None): True for id in ids}
    (found,) = suggest(sides, labels, metrics=["faithfulness"], seed=1)
    assert found.n_fit + found.n_report == 2 * N
    assert found.recall < 1  # b's low ones are labelled acceptable
    with pytest.raises(DataError, match="no label belongs"):
        suggest(sides, {("other", None): True}, metrics=["faithfulness"], seed=1)


def test_the_proposal_is_a_gates_file(tmp_path: Path):
    _, found = labelled([0.9 if good else 0.4 for good in GOOD])
    _, none = labelled([0.5] * N)
    text = render([found, none])
    (gate,) = yaml.safe_load(text)["gates"]
    assert Gate(**gate).case_at_least == 0.9
    assert "# faithfulness: 100% of the cases that pass are acceptable" in text
    assert "gates: none could be proposed" in render([none])


def test_every_bad_label_is_named(tmp_path: Path):
    path = tmp_path / "labels.csv"
    path.write_text("case_id,acceptable\nc1,是\nc2,maybe\nc9,true\n", "utf-8")
    with pytest.raises(DataError) as refusal:
        read_labels(path, cases=["c1", "c2"])
    assert ":3: acceptable 'maybe'" in str(refusal.value)
    assert ":4: case_id 'c9': no such case" in str(refusal.value)
    path.write_text("case_id,acceptable,system\nc1,是,ours\nc2,false,\n", "utf-8")
    assert read_labels(path, cases=["c1", "c2"]) == {("c1", "ours"): True, ("c2", None): False}
