"""Labels are read whole or refused whole, and parts share no text."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import DataError
from offline_eval.training.labels import Example, cut, read_labels
from offline_eval.training.public_sets import joined, split_by_group


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_three_way_labels_become_class_numbers(tmp_path: Path) -> None:
    rows = [
        {"premise": "a", "hypothesis": "b", "label": "Entailment"},
        {"premise": "c", "hypothesis": "d", "label": "neutral"},
        {"evidence": "员工", "claim": "年假", "label": "contradiction"},
    ]
    found = read_labels(write(tmp_path / "d.jsonl", rows), task="nli")
    assert found.classes == ("entailment", "neutral", "contradiction")
    assert [example.label for example in found.examples] == [0, 1, 2]
    assert found.examples[2].first == "员工"


def test_yes_and_no_become_two_classes_in_either_language(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("premise,hypothesis,label\na,b,支持\nc,d,不支持\ne,f,1\n", encoding="utf-8")
    found = read_labels(path, task="nli")
    assert found.classes == ("not_entailment", "entailment")
    assert [example.label for example in found.examples] == [1, 0, 1]


def test_every_bad_row_is_named_with_its_line(tmp_path: Path) -> None:
    rows = [
        {"query": "q", "passage": "p", "label": 0.4},
        {"query": "q", "passage": "", "label": 0.5},
        {"query": "q", "passage": "p", "label": 1.5},
        {"query": "q", "passage": "p", "label": None},
    ]
    with pytest.raises(DataError) as caught:
        read_labels(write(tmp_path / "d.jsonl", rows), task="alignment")
    assert [problem.split(":")[1] for problem in caught.value.problems] == ["2", "3", "4"]
    assert "a number from 0 to 1" in caught.value.problems[1]


def test_mixed_and_single_labels_are_refused(tmp_path: Path) -> None:
    pair = {"premise": "a", "hypothesis": "b"}
    mixed = write(tmp_path / "m.jsonl", [{**pair, "label": "no"}, {**pair, "label": "neutral"}])
    with pytest.raises(DataError, match="mixed"):
        read_labels(mixed, task="nli")
    single = write(tmp_path / "s.jsonl", [{**pair, "label": "yes"}, {**pair, "label": "yes"}])
    with pytest.raises(DataError, match="nothing can be learned"):
        read_labels(single, task="nli")


def test_rows_that_share_a_text_or_a_named_group_stay_together(tmp_path: Path) -> None:
    rows = [
        {"query": "q1", "passage": "p1", "label": 1},
        {"query": "q2", "passage": "p1", "label": 0},
        {"query": "q2", "passage": "p2", "label": 1},
        {"query": "q3", "passage": "p3", "label": 0, "group": "g"},
        {"query": "q4", "passage": "p4", "label": 0, "group": "g"},
        {"query": "q5", "passage": "p5", "label": 0},
    ]
    groups = [
        example.group for example in read_labels(write(tmp_path / "d.jsonl", rows), task="answerability").examples
    ]
    assert len(set(groups[:3])) == 1
    assert groups[3] == groups[4]
    assert len(set(groups)) == 3


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("uvwxyz"), st.sampled_from((0, 1))), min_size=1))
def test_no_text_is_on_both_sides_of_a_split(pairs: list[tuple[str, str, int]]) -> None:
    fit, report = split_by_group(joined(pairs), fit_share=0.5)
    assert len(fit) + len(report) == len(pairs)
    assert not {pair.premise for pair in fit} & {pair.premise for pair in report}
    assert not {pair.hypothesis for pair in fit} & {pair.hypothesis for pair in report}


def test_parts_share_no_group_and_do_not_depend_on_the_order() -> None:
    examples = [Example(str(n), str(n), n % 2, f"g{n // 2}") for n in range(200)]
    parts = cut(examples, seed=3)
    groups = [{example.group for example in part} for part in parts]
    assert not groups[0] & groups[1]
    assert not groups[0] & groups[2]
    assert not groups[1] & groups[2]
    assert sum(map(len, parts)) == 200
    assert set(cut(examples[::-1], seed=3).report) == set(parts.report)


def test_too_few_groups_to_part_are_refused() -> None:
    with pytest.raises(DataError, match="too few to keep a part"):
        cut([Example("a", "b", 1, "g")] * 50, seed=0)
