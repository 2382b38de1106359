"""Every file an evaluator's user already has is read without being rewritten; the files are written here, by us."""

import json
import os
from pathlib import Path

import pytest

from offline_eval.core.errors import UnknownNameError
from offline_eval.core.records import Passage
from offline_eval.formats.reader import read_cases, read_combined, read_responses


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_native_case_keeps_every_field(tmp_path):
    row = {
        "id": "q1",
        "query": "年假有几天？",
        "language": "zh",
        "query_type": "factual",
        "difficulty": "easy",
        "reference": "十天",
        "key_points": ["十天"],
        "relevant_passages": {"p1": 2},
        "relevant_documents": {"d1": 1},
        "answerable": True,
        "variants": ["有多少天年假？"],
        "origin": "manual",
        "tags": ["hr"],
        "metadata": {"team": "A"},
    }
    (case,) = read_cases(write(tmp_path / "cases.jsonl", row))
    assert case.model_dump(mode="json") == row


def test_native_response_keeps_every_field(tmp_path):
    cases = read_cases(write(tmp_path / "cases.jsonl", {"id": "q1", "query": "q", "variants": ["r"]}))
    row = {
        "case_id": "q1",
        "system": "a",
        "variant": 0,
        "attempt": 2,
        "answer": "x",
        "passages": [
            {
                "id": "p9",
                "text": "t",
                "title": "T",
                "doc_id": "d",
                "date": "2024-01-01",
                "score": 1.5,
                "metadata": {"k": 1},
            }
        ],
        "rankings": {"bm25": ["p9", "p1"]},
        "citations": ["p9"],
        "feedback": -1,
        "metadata": {"ms": 12},
        "error": None,
    }
    (response,) = read_responses(write(tmp_path / "a.jsonl", row), cases=cases)
    assert response.model_dump(mode="json") == row


def test_plain_names_are_understood(tmp_path):
    row = {
        "id": 7,
        "question": "q",
        "question_type": "open",
        "expected_doc_ids": ["d1", 2],
        "expected_points": ["a", "b"],
        "variants": "q again",
        "contexts": ["one", "two"],
        "answer": "x",
        "department": "HR",
    }
    (case,), (response,) = read_combined(write(tmp_path / "rows.jsonl", row))
    assert (case.id, case.query, case.query_type) == ("7", "q", "open")
    assert case.relevant_documents == {"d1": 1, "2": 1}
    assert case.key_points == ("a", "b")
    assert case.variants == ("q again",)
    assert response.passages == (Passage(id="p1", text="one"), Passage(id="p2", text="two"))
    assert response.metadata == {"department": "HR"}


def test_one_context_as_plain_text_is_one_passage(tmp_path):
    _, (response,) = read_combined(write(tmp_path / "r.jsonl", {"question": "q", "context": "[1] text", "answer": "x"}))
    assert response.passages == (Passage(id="p1", text="[1] text"),)


def test_ragas_old_generation(tmp_path):
    row = {"question": "q", "contexts": ["c1"], "answer": "x", "ground_truths": ["g1", "g2"], "faithfulness": 0.5}
    (case,), (response,) = read_combined(write(tmp_path / "ragas.jsonl", row))
    assert case.reference == "g1\ng2"
    assert response.passages[0].text == "c1"
    assert response.metadata == {"faithfulness": 0.5}


def test_ragas_new_generation(tmp_path):
    row = {
        "user_input": "q",
        "retrieved_contexts": ["c1"],
        "response": "x",
        "reference": "g",
        "reference_contexts": ["ideal"],
    }
    (case,), (response,) = read_combined(write(tmp_path / "ragas.jsonl", row))
    assert (case.query, case.reference, response.answer) == ("q", "g", "x")
    assert [p.text for p in response.passages] == ["c1"]
    assert response.metadata == {"reference_contexts": ["ideal"]}


def test_deepeval_context_is_not_what_was_retrieved(tmp_path):
    rows = [
        {"input": "q", "actual_output": "x", "expected_output": "g", "retrieval_context": ["r"], "context": ["ideal"]},
        {"input": "q2", "actual_output": "x", "context": ["ideal"]},
    ]
    path = tmp_path / "deepeval.json"
    path.write_text(json.dumps(rows, indent=2))
    cases, responses = read_combined(path)
    assert [case.reference for case in cases] == ["g", None]
    assert [[p.text for p in r.passages] for r in responses] == [["r"], []]
    assert [r.metadata for r in responses] == [{"context": ["ideal"]}] * 2


def test_ragchecker_results(tmp_path):
    row = {
        "query_id": 0,
        "query": "q",
        "gt_answer": "g",
        "response": "x",
        "retrieved_context": [{"doc_id": "000", "text": "t"}, {"doc_id": "001", "text": "u"}],
        "response_claims": [["a", "b", "c"]],
    }
    path = tmp_path / "ragchecker.json"
    path.write_text(json.dumps({"results": [row], "metrics": {"f1": 1}}))
    (case,), (response,) = read_combined(path)
    assert (case.id, case.reference) == ("0", "g")
    assert response.passages == (Passage(id="p1", text="t", doc_id="000"), Passage(id="p2", text="u", doc_id="001"))
    assert response.metadata == {"response_claims": [["a", "b", "c"]]}


def test_names_of_different_tools_in_one_row(tmp_path):
    row = {"query_id": "a", "question": "q", "contexts": ["c"], "answer": "x"}
    (case,), (response,) = read_combined(write(tmp_path / "mixed.jsonl", row))
    assert (case.id, case.query, response.answer, len(response.passages)) == ("a", "q", "x", 1)


def test_map_wins_over_native_and_understood_names(tmp_path):
    path = write(tmp_path / "c.jsonl", {"id": "a", "query": "machine form", "question": "other", "frage": "human form"})
    (case,) = read_cases(path, mapping={"query": "frage"})
    assert case.query == "human form"
    assert case.metadata == {"query": "machine form", "question": "other"}


def test_map_onto_no_native_column_offers_the_nearest(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'query'"):
        read_cases(write(tmp_path / "c.jsonl", {"id": "a", "query": "q"}), mapping={"querry": "q"})


def test_unknown_columns_and_metadata_are_both_kept(tmp_path):
    path = write(
        tmp_path / "c.jsonl", {"id": "a", "query": "q", "metadata": {"x": 1}, "x": 2, "y": None, "部门": "人事"}
    )
    assert read_cases(path)[0].metadata == {"x": 1, "x (column)": 2, "y": None, "部门": "人事"}


def test_answer_columns_do_not_enter_a_case(tmp_path):
    (case,) = read_cases(write(tmp_path / "c.jsonl", {"id": "a", "query": "q", "answer": "x", "contexts": ["c"]}))
    assert case.metadata == {}


def test_contexts_without_text_stay_as_empty_passages(tmp_path):
    row = {"question": "q", "contexts": ["", None, {"text": None}], "answer": "x"}
    _, (response,) = read_combined(write(tmp_path / "r.jsonl", row))
    assert [(p.id, p.text) for p in response.passages] == [("p1", ""), ("p2", ""), ("p3", "")]


def test_passage_objects_under_other_names(tmp_path):
    row = {
        "question": "q",
        "answer": "x",
        "contexts": [{"page_content": "t", "source": "a.md", "metadata": {"page": 3}}],
    }
    _, (response,) = read_combined(write(tmp_path / "r.jsonl", row))
    assert response.passages == (Passage(id="p1", text="t", metadata={"source": "a.md", "page": 3}),)


def test_case_without_id_gets_the_same_one_in_every_file(tmp_path):
    row = {"question": "q", "ground_truth": "g"}
    (first,) = read_cases(write(tmp_path / "a.jsonl", row))
    (second,) = read_cases(write(tmp_path / "b.jsonl", {**row, "unknown": 1}))
    (third,), _ = read_combined(write(tmp_path / "c.jsonl", {"query": "q", "reference": "g", "answer": "x"}))
    (other,) = read_cases(write(tmp_path / "d.jsonl", {**row, "ground_truth": "h"}))
    assert first.id == second.id == third.id != other.id


def test_numbers_become_ids_and_whole_floats_lose_their_zero(tmp_path):
    path = write(tmp_path / "c.jsonl", {"id": 3, "query": "q"}, {"id": 4.0, "query": "q"}, {"id": 4.5, "query": "q"})
    assert [case.id for case in read_cases(path)] == ["3", "4", "4.5"]


def test_responses_find_their_case_by_case_id_then_id_then_query(tmp_path):
    cases = read_cases(
        write(tmp_path / "c.jsonl", {"id": 1, "query": "one"}, {"id": 2, "query": "two"}, {"id": 3, "query": "3"})
    )
    path = write(
        tmp_path / "r.jsonl",
        {"case_id": 1, "id": "row-1", "answer": "a"},
        {"id": "2", "answer": "b"},
        {"query": "3", "answer": "c"},
    )
    assert [r.case_id for r in read_responses(path, cases=cases)] == ["1", "2", "3"]


def test_several_files_name_their_systems(tmp_path):
    cases = read_cases(write(tmp_path / "c.jsonl", {"id": "1", "query": "one"}))
    row = {"case_id": "1", "answer": "a"}
    one, two = write(tmp_path / "old.jsonl", row), write(tmp_path / "new.v2.jsonl", row)
    assert [r.system for r in read_responses([one, two], cases=cases)] == ["old", "new"]
    assert [r.system for r in read_responses(one, cases=cases)] == ["system"]
    assert [r.system for r in read_responses(one, cases=cases, system="mine")] == ["mine"]


def test_several_answers_to_one_case_in_a_combined_file(tmp_path):
    path = write(
        tmp_path / "r.jsonl",
        {"id": "1", "query": "q", "system": "a", "answer": "x", "ms": 1},
        {"id": "1", "query": "q", "system": "b", "answer": "y", "ms": 2},
    )
    cases, responses = read_combined(path)
    assert [case.id for case in cases] == ["1"]
    assert [(r.system, r.metadata) for r in responses] == [("a", {"ms": 1}), ("b", {"ms": 2})]


def test_published_ragchecker_file_is_read_whole():
    folder = os.environ.get("OFFLINE_EVAL_PUBLIC_DATA")
    if not folder:
        pytest.skip("OFFLINE_EVAL_PUBLIC_DATA is not set")
    cases, responses = read_combined(Path(folder) / "ragchecker_example" / "checking_outputs.json")
    assert [case.id for case in cases] == [response.case_id for response in responses] == ["0", "1"]
    assert all(
        case.reference and response.answer and response.passages
        for case, response in zip(cases, responses, strict=True)
    )
    assert all("metrics" in response.metadata for response in responses)
