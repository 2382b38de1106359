"""Label files are read whole or refused with every bad row named."""

import json
from pathlib import Path

import pytest

from offline_eval.benchmark.label_files import read_label_file
from offline_eval.core.errors import DataError


def _jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_native_rows_are_read_with_several_raters_and_missing_cells(tmp_path: Path) -> None:
    row = {
        "id": "1",
        "kind": "binary",
        "dimension": "faithfulness",
        "query": "报销需要什么材料？",
        "passages": ["需要发票。", {"id": "b", "text": "和审批单。"}],
        "answer": "发票。",
        "labels": {"anna": 1, "bo": None, "chen": False},
        "slices": {"type": "factual"},
        "response_key": "hasty/c1",
        "run_id": "abc",
    }
    (found,) = read_label_file(_jsonl(tmp_path / "l.jsonl", [row]))
    assert found.labels == {"anna": 1, "chen": 0}
    assert [(passage.id, passage.text) for passage in found.passages] == [("p1", "需要发票。"), ("b", "和审批单。")]
    assert (found.spoken, found.cluster_name, found.response_key) == ("zh", "报销需要什么材料？", "hasty/c1")


def test_a_csv_has_a_column_a_rater_and_may_be_in_gb18030(tmp_path: Path) -> None:
    text = (
        "id,dimension,query,reference,answer,label:anna,label:bo,slice:type\n"
        "1,correctness,年假有几天？,十天。,十天。,1,,短\n"
        "2,correctness,病假有几天？,五天。,三天。,0,1,短\n"
    )
    path = tmp_path / "l.csv"
    path.write_bytes(text.encode("gb18030"))
    first, second = read_label_file(path)
    assert (first.kind, first.labels, second.labels) == ("binary", {"anna": 1}, {"anna": 0, "bo": 1})
    assert (first.query, first.slices) == ("年假有几天？", {"type": "短"})


def test_kinds_are_guessed_from_what_a_row_has(tmp_path: Path) -> None:
    rows = [
        {"dimension": "preference", "query": "q", "answer_a": "x", "answer_b": "y", "label": "b"},
        {"dimension": "relevance", "query": "q", "answer": "x", "scale": [1, 2, 3, 4, 5], "label": 4},
    ]
    pair, graded = read_label_file(_jsonl(tmp_path / "l.jsonl", rows))
    assert (pair.kind, pair.labels) == ("pairwise", {"rater": "B"})
    assert (graded.kind, graded.labels, graded.scale) == ("ordinal", {"rater": 4}, (1, 2, 3, 4, 5))


def test_every_bad_row_is_named_with_its_line(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "dimension": "faithfulness", "query": "q", "answer": "x", "label": 1},
        {"id": "b", "dimension": "faithfulness", "query": "q", "answer": "x", "label": 7},
        {"id": "a", "dimension": "faithfulness", "query": "q", "answer": "x", "label": 1},
        {"id": "c", "query": "q", "answer": "x", "label": 1},
        {"id": "d", "dimension": "faithfulness", "query": "q", "answer": "x"},
    ]
    path = _jsonl(tmp_path / "l.jsonl", rows)
    with pytest.raises(DataError) as caught:
        read_label_file(path)
    lines = [problem.removeprefix(str(path)) for problem in caught.value.problems]
    assert [line.split(":")[1] for line in lines] == ["2", "3", "4", "5"]
    assert "not one of 0, 1" in lines[0]
    assert "taken by line 1" in lines[1]
    assert "no dimension" in lines[2]
    assert "no label" in lines[3]


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l.jsonl").write_text("")
    with pytest.raises(DataError, match="no rows"):
        read_label_file(tmp_path / "l.jsonl")


def ragchecker_row(query: str, label: int, *, second: int | None = None) -> dict[str, object]:
    return {
        "dataset": "kiwi",
        "query_id": query,
        "query": query,
        "gt_answer": "the truth",
        "model1": {"model_name": "m1", "response": "one"},
        "model2": {"model_name": "m2", "response": "two"},
        "correctness_label": label,
        "overall_label": label if second is None else second,
    }


def test_ragchecker_rows_of_one_pair_become_one_row_with_two_raters(tmp_path: Path) -> None:
    rows = [ragchecker_row("q1", 1), ragchecker_row("q1", 2), ragchecker_row("q2", -1), ragchecker_row("q2", 0)]
    path = tmp_path / "human.json"
    path.write_text(json.dumps(rows))
    found = read_label_file(path)
    correctness = [row for row in found if row.dimension == "correctness"]
    assert len(found) == 4
    # A positive label prefers the second model, so it is below 0 here, where the first answer is preferred above 0.
    assert [row.labels for row in correctness] == [{"rater 1": -1, "rater 2": -2}, {"rater 1": 1, "rater 2": 0}]
    assert (correctness[0].human, correctness[1].human) == (-1.0, None)
    assert correctness[0].slices == {"domain": "kiwi"}


def test_bad_ragchecker_rows_are_named(tmp_path: Path) -> None:
    path = _jsonl(tmp_path / "human.jsonl", [ragchecker_row("q1", 1), {**ragchecker_row("q1", 5), "model1": "x"}])
    with pytest.raises(DataError) as caught:
        read_label_file(path)
    assert [problem.removeprefix(str(path)).split(":")[1] for problem in caught.value.problems] == ["2", "2", "2"]
