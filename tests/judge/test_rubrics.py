"""The shipped rubrics and the default panel: what a judge is told has to hold together in both languages."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from offline_eval.core.errors import DataError, UnknownNameError
from offline_eval.judge.prompt import EVIDENCE_LIMIT, REASON_LIMIT
from offline_eval.judge.rubric import RUBRIC_LANGUAGES, Rubric, load_rubric, parse_rubric, rubric_names

NAMES = ("completeness", "correctness", "faithfulness", "preference", "relevance")
GRADED = tuple(name for name in NAMES if name != "preference")
PANEL_FILE = Path(__file__).parents[2] / "model_configs" / "panels" / "three-examiners.yaml"
SEES = {
    "faithfulness": {"passages", "query", "answer"},
    "relevance": {"query", "answer"},
    "completeness": {"query", "answer", "reference", "key_points"},
    "correctness": {"query", "answer", "reference"},
    "preference": {"query", "answer", "other_answer", "reference"},
}

every_rubric = pytest.mark.parametrize(
    "rubric", [load_rubric(name, language) for name in NAMES for language in RUBRIC_LANGUAGES], ids=lambda r: r.id
)


def test_the_shipped_rubrics_are_these_five() -> None:
    assert rubric_names() == list(NAMES)


@every_rubric
def test_a_rubric_names_the_file_it_came_from(rubric: Rubric) -> None:
    file_name = f"{rubric.name}.{rubric.language}.yaml"
    shipped = files("offline_eval.judge").joinpath("rubrics", file_name).read_text("utf-8")
    assert parse_rubric(shipped, file_name) == rubric
    assert rubric.dimension == rubric.name
    assert "version" in yaml.safe_load(shipped)


@every_rubric
def test_an_examiner_sees_its_own_dimension_alone(rubric: Rubric) -> None:
    assert set(rubric.sees) == SEES[rubric.name]


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_key_labels_grades_and_version(name: str) -> None:
    english, chinese = (load_rubric(name, language) for language in ("en", "zh"))
    assert (english.language, chinese.language) == ("en", "zh")
    assert english.key == chinese.key
    assert [(level.label, level.grade) for level in english.levels] == [
        (level.label, level.grade) for level in chinese.levels
    ]
    assert [example.label for example in english.examples] == [example.label for example in chinese.examples]
    assert english.version == chinese.version


@pytest.mark.parametrize("name", GRADED)
def test_grades_run_from_fail_to_excellent(name: str) -> None:
    english, chinese = load_rubric(name, "en"), load_rubric(name, "zh")
    assert [(level.label, level.grade, level.name) for level in english.levels] == [
        ("1", 1, "fail"),
        ("2", 2, "pass"),
        ("3", 3, "excellent"),
    ]
    assert [level.name for level in chinese.levels] == ["不合格", "合格", "优秀"]


def test_preference_has_three_labels_without_an_order() -> None:
    rubric = load_rubric("preference", "en")
    assert rubric.key == "preference"
    assert [(level.label, level.grade) for level in rubric.levels] == [("A", None), ("B", None), ("C", None)]


@every_rubric
def test_evidence_of_every_example_stands_verbatim_in_its_material(rubric: Rubric) -> None:
    for example in rubric.examples:
        assert example.evidence
        assert any(example.evidence in text for text in example.material.values())


@every_rubric
def test_examples_keep_the_limits_that_the_judge_has_to_keep(rubric: Rubric) -> None:
    for example in rubric.examples:
        assert 0 < len(example.evidence) <= EVIDENCE_LIMIT
        assert 0 < len(example.reason) <= REASON_LIMIT


@every_rubric
def test_a_rubric_is_short_enough_for_a_small_judge(rubric: Rubric) -> None:
    parts = [rubric.role, rubric.task, *(level.criterion for level in rubric.levels)]
    assert sum(len(part) for part in parts) < (900 if rubric.language == "en" else 400)
    examples = [text for example in rubric.examples for text in (*example.material.values(), example.reason)]
    assert sum(len(part) for part in examples) < (600 if rubric.language == "en" else 200)


@every_rubric
def test_every_label_has_exactly_one_example(rubric: Rubric) -> None:
    # A small judge that is shown one label alone gives that label to nearly every response.
    assert sorted(example.label for example in rubric.examples) == sorted(rubric.labels)


@every_rubric
def test_the_examples_differ_in_the_answer_alone(rubric: Rubric) -> None:
    shared = [
        {block: text for block, text in example.material.items() if block not in ("answer", "other_answer")}
        for example in rubric.examples
    ]
    assert shared == [shared[0]] * len(rubric.labels)
    answers = {(example.material["answer"], example.material.get("other_answer")) for example in rubric.examples}
    assert len(answers) == len(rubric.labels)


def test_the_last_example_is_not_of_the_same_label_in_every_graded_rubric() -> None:
    # Should the place of an example pull a judge, it must not pull every dimension to the same grade.
    assert {load_rubric(name, "en").examples[-1].label for name in GRADED} == {"1", "2", "3"}


@every_rubric
def test_the_text_is_in_the_rubrics_language(rubric: Rubric) -> None:
    examples = [text for example in rubric.examples for text in (*example.material.values(), example.reason)]
    texts = [rubric.role, rubric.task, *(level.criterion for level in rubric.levels), *examples]
    for text in texts:
        assert bool(re.search(r"[\u4e00-\u9fff]", text)) is (rubric.language == "zh"), text
        # A YAML fold puts a space where Chinese has none.
        assert not re.search(r"[\u3000-\uffef] |  ", text), text


def test_an_unknown_rubric_offers_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'relevance'"):
        load_rubric("relevanse", "en")


def test_other_languages_are_judged_in_english() -> None:
    assert load_rubric("relevance", "fr").language == "en"


def test_a_broken_rubric_names_file_and_every_field() -> None:
    with pytest.raises(DataError) as caught:
        parse_rubric("name: x\nlanguage: en\nversion: 0\nlevels: []\n", "x.en.yaml")
    assert "x.en.yaml: version: " in str(caught.value)
    assert "x.en.yaml: levels: " in str(caught.value)


def test_panel_weights_cover_its_examiners_and_sum_to_one() -> None:
    panel = yaml.safe_load(PANEL_FILE.read_text("utf-8"))
    assert panel["name"] == PANEL_FILE.stem
    assert panel["weights"] == {"faithfulness": 0.5, "relevance": 0.3, "completeness": 0.2}
    by_type = panel["weights_by_query_type"]
    assert set(by_type) == {"factual", "comparison", "reasoning", "multi-hop", "conditional", "open"}
    for weights in [panel["weights"], *by_type.values()]:
        assert list(weights) == panel["examiners"]
        assert sum(weights.values()) == pytest.approx(1.0, abs=1e-12)
    assert set(panel["examiners"]) <= set(GRADED)
