"""`--map` with a name that does not exist, on either side: named, with the nearest name and those there are."""

import json
from pathlib import Path

import pytest

from offline_eval.core.errors import UnknownNameError, UsageError
from offline_eval.core.records import Case
from offline_eval.formats.column_map import read_pairs
from offline_eval.formats.reader import read_cases, read_combined, read_responses
from offline_eval.testset.query_log import read_logs

CASES = [Case(id="a", query="问题")]


def write(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def said(read, *arguments, **options: object) -> str:
    with pytest.raises(UnknownNameError) as caught:
        read(*arguments, **options)
    return str(caught.value)


def test_a_misspelt_field_is_named_with_the_nearest_and_all_fields(tmp_path):
    message = said(read_cases, write(tmp_path / "c.jsonl", {"query": "q"}), mapping={"querry": "q"})
    assert message.startswith(
        "unknown field on the left of --map 'querry'; did you mean 'query'? the fields are 'answer', "
    )
    assert "'relevant_documents'" in message


@pytest.mark.parametrize("read", [read_cases, read_combined])
def test_a_misspelt_column_is_named_with_the_nearest_and_all_columns(tmp_path, read):
    path = write(tmp_path / "c.jsonl", {"id": "a", "frage": "q"}, {"id": "b", "frage": "r", "antwort": "x"})
    assert said(read, path, mapping={"query": "fragen"}) == (
        "unknown column on the right of --map query= 'fragen'; "
        "did you mean 'frage'? columns here: 'id', 'frage', 'antwort'"
    )


def test_a_misspelt_chinese_column_of_a_table_is_found_too(tmp_path):
    (tmp_path / "c.csv").write_text("编号,用户问题\n1,年假几天？\n", encoding="gb18030")
    assert said(read_cases, tmp_path / "c.csv", mapping={"query": "用户问提"}) == (
        "unknown column on the right of --map query= '用户问提'; "
        "did you mean '用户问题'? columns here: '编号', '用户问题'"
    )


def test_a_column_that_resembles_none_is_answered_with_those_there_are(tmp_path):
    path = write(tmp_path / "c.jsonl", {"id": "a", "query": "q"})
    assert said(read_cases, path, mapping={"reference": "zzz"}) == (
        "unknown column on the right of --map reference= 'zzz'; columns here: 'id', 'query'"
    )


def test_a_misspelt_column_is_refused_although_another_column_has_the_field(tmp_path):
    path = write(tmp_path / "c.jsonl", {"query": "machine form", "frage": "human form", "answer": "x"})
    assert "did you mean 'frage'?" in said(read_combined, path, mapping={"query": "fragee"})


def test_a_log_with_a_misspelt_column_is_refused(tmp_path):
    path = write(tmp_path / "log.jsonl", {"text": "hello"}, {"text": "world", "query": "kept"})
    assert "'txt'; did you mean 'text'?" in said(read_logs, [path], mapping={"query": "txt"})


def test_cases_and_responses_share_a_mapping_although_each_has_its_own_columns(tmp_path):
    shared = {"query": "frage", "reference": "soll", "answer": "antwort", "case_id": "nummer"}
    cases = write(tmp_path / "c.jsonl", {"id": "a", "frage": "q", "soll": "r"})
    answers = write(tmp_path / "r.jsonl", {"nummer": "a", "antwort": "x"})
    found = read_cases(cases, mapping=shared)
    assert read_responses(answers, cases=found, mapping=shared)[0].answer == "x"


def test_a_mapped_id_of_the_responses_does_not_disturb_cases_that_have_their_own(tmp_path):
    cases = write(tmp_path / "c.jsonl", {"id": "a", "query": "q"})
    answers = write(tmp_path / "r.jsonl", {"qid": "a", "answer": "x"})
    found = read_cases(cases, mapping={"id": "qid"})
    assert read_responses(answers, cases=found, mapping={"id": "qid"})[0].case_id == "a"


def test_a_column_needs_to_stand_in_one_row_of_one_file_only(tmp_path):
    first = write(tmp_path / "one.jsonl", {"case_id": "a", "antwort": "x"})
    second = write(tmp_path / "two.jsonl", {"case_id": "a", "answer": "y"})
    found = read_responses([first, second], cases=CASES, mapping={"answer": "antwort"})
    assert [(response.system, response.answer) for response in found] == [("one", "x"), ("two", "y")]
    assert "did you mean 'antwort'?" in said(read_responses, [first, second], cases=CASES, mapping={"answer": "antwrt"})


def test_of_very_many_columns_the_first_are_named_and_the_rest_counted(tmp_path):
    path = write(tmp_path / "c.jsonl", {f"column_{n:03}": "x" for n in range(200)})
    message = said(read_cases, path, mapping={"query": "zzz"})
    assert "'column_049', … and 150 more" in message
    assert "column_050" not in message


def test_pairs_are_read_up_to_the_first_equals_sign_and_others_refused():
    assert read_pairs(["query=问题", "reference=a=b"]) == {"query": "问题", "reference": "a=b"}
    for text in ("query", "=x", "query="):
        with pytest.raises(UsageError, match=f"--map {text}: write OURS=THEIRS"):
            read_pairs([text])
