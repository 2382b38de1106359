"""How rows come out of files: encodings, delimiters, line numbers, compression, streams."""

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from offline_eval.core.errors import DataError, UnknownNameError, UsageError
from offline_eval.formats.problems import Problems
from offline_eval.formats.reader import read_cases, read_combined
from offline_eval.formats.rows import read_rows

CHINESE = (
    "id,question,answer,expected_points\n"
    '1,年假有几天？,十天,"[""十天"", ""带薪""]"\n'
    "2,报销需要什么材料？,发票和申请表,\n"
)


def saved(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def problems_of(path: Path | str, **options: object) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_cases(path, **options)
    return [line.removeprefix(f"{path}:") for line in caught.value.problems]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_csv_encodings_give_the_same_rows(tmp_path, encoding):
    cases, responses = read_combined(saved(tmp_path / "r.csv", CHINESE.encode(encoding)))
    assert [case.query for case in cases] == ["年假有几天？", "报销需要什么材料？"]
    assert [case.key_points for case in cases] == [("十天", "带薪"), ()]
    assert [r.answer for r in responses] == ["十天", "发票和申请表"]


def test_gb18030_with_characters_outside_the_basic_set_is_read(tmp_path):
    text = "id,query\n1,朱镕基总理的“镕”字怎么写？\n2,𠮷野家在哪里？\n"
    assert read_cases(saved(tmp_path / "c.csv", text.encode("gb18030")))[1].query == "𠮷野家在哪里？"


def test_western_bytes_are_refused_instead_of_read_as_chinese(tmp_path):
    text = "id,query\n1,Où est le café près d'ici ? très bien\n2,naïve, señor, über\n"
    (problem,) = problems_of(saved(tmp_path / "c.csv", text.encode("latin-1")))
    # "id,query\n" is 9 bytes, "1,O" 3 more, so the first byte outside ASCII is at offset 12
    assert problem == "2: invalid UTF-8 at byte offset 12 (0xf9), expected UTF-8 or GB18030"


def test_utf8_with_one_broken_byte_is_not_taken_for_gb18030(tmp_path):
    raw = CHINESE.encode() + b"3,\xff\xff,x,\n"
    (problem,) = problems_of(saved(tmp_path / "c.csv", raw))
    assert problem == f"4: invalid UTF-8 at byte offset {len(CHINESE.encode()) + 2} (0xff), expected UTF-8 or GB18030"


JSON_LINES = '{"query": "plain"}\n{"query": "年假有几天？"}\n{"query": "报销需要什么材料？"}\n'


def test_gb18030_json_lines_are_read(tmp_path):
    cases = read_cases(saved(tmp_path / "c.jsonl", JSON_LINES.encode("gb18030")))
    assert [case.query for case in cases] == ["plain", "年假有几天？", "报销需要什么材料？"]


def test_json_lines_do_not_change_their_encoding_halfway(tmp_path):
    raw = JSON_LINES.encode() + '{"query": "出差补贴是多少钱？"}\n'.encode("gb18030")
    (problem,) = problems_of(saved(tmp_path / "c.jsonl", raw))
    assert problem == "4: invalid UTF-8 at byte offset 11 (0xb3), expected UTF-8"  # {"query": " is 11 bytes


def test_lists_as_python_prints_them_are_read(tmp_path):
    table = "query,key_points,relevant_passages\nq,\"['十天', 'it''s \"\"paid\"\"']\",\"{'p1': 2}\"\n".replace(
        "it''s", "its"
    )
    (case,) = read_cases(saved(tmp_path / "c.csv", table.encode()))
    assert case.key_points == ("十天", 'its "paid"')
    assert case.relevant_passages == {"p1": 2}


@pytest.mark.parametrize("cell", ["['a' 'b']", "['a', __import__('os')]", "['a'\n 'b']", "[open('x')]"])
def test_what_only_looks_like_a_python_list_is_refused(tmp_path, cell):
    (problem,) = problems_of(saved(tmp_path / "c.csv", f'query,key_points\nq,"{cell}"\n'.encode()))
    assert "begins like a JSON list or object but is none" in problem


@pytest.mark.parametrize(
    "columns",
    [
        {"query": ["a", "年假"], "key_points": [["x"], []]},
        {"query": {"0": "a", "1": "年假"}, "key_points": {"0": ["x"], "1": []}},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_by_columns_gives_rows(tmp_path, columns, indent):
    text = json.dumps(columns, ensure_ascii=False, indent=indent)
    cases = read_cases(saved(tmp_path / "c.json", text.encode()))
    assert [(case.query, case.key_points) for case in cases] == [("a", ("x",)), ("年假", ())]


def test_columns_of_different_length_are_refused(tmp_path):
    (problem,) = problems_of(saved(tmp_path / "c.json", b'{\n"query": ["a", "b"],\n"key_points": [[]]}'))
    assert "columns of one length" in problem


def test_nan_in_a_column_is_refused(tmp_path):
    problems = problems_of(saved(tmp_path / "c.json", b'{"query": ["a", "b"], "reference": ["x", NaN]}'))
    assert any("NaN is not JSON" in problem for problem in problems)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_delimiters_are_found(tmp_path, delimiter):
    rows = [["id", "query", "note, and more; x"], ["1", "a, b; c\td", "n"]]
    text = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    (case,) = read_cases(saved(tmp_path / "c.csv", text.encode()))
    assert (case.query, case.metadata) == ("a, b; c\td", {"note, and more; x": "n"})


def test_csv_line_is_where_the_row_starts(tmp_path):
    text = 'id,query\r\n1,"two\r\nlines"\r\n\r\n2,\r\n3\r\n4,q,extra\r\n'
    found = problems_of(saved(tmp_path / "c.csv", text.encode()))
    # line 1 header, 2-3 the first row, 4 blank, 5 the row without a query, 6 one cell, 7 three cells
    assert found[0].startswith("5: no query, expected text in one of the columns 'query',")
    assert found[1:] == ["6: 1 cell, expected 2: 'id', 'query'", "7: 3 cells, expected 2: 'id', 'query'"]


def test_csv_types_its_cells(tmp_path):
    text = 'id,query,answerable,answer,variant,attempt,variants,tags\n1,q,否,,0,2,"[""r""]",hr\n'
    (case,), (response,) = read_combined(saved(tmp_path / "c.csv", text.encode()))
    assert (case.answerable, case.tags, case.variants) == (False, ("hr",), ("r",))
    assert (response.answer, response.variant, response.attempt) == ("", 0, 2)


def test_csv_cell_that_is_a_numpy_print_is_refused_by_name(tmp_path):
    text = "id,query,contexts,answer\n1,q,\"['a' 'b']\",x\n"
    with pytest.raises(DataError, match=r'c.csv:2: contexts begins like a JSON list .* expected for example \["first"'):
        read_combined(saved(tmp_path / "c.csv", text.encode()))


def test_csv_broken_quoting_and_repeated_header_are_named(tmp_path):
    assert problems_of(saved(tmp_path / "a.csv", b'id,query\n1,"open\n2,x\n'))[0].startswith("2: broken quoting")
    assert problems_of(saved(tmp_path / "b.csv", b"id,query,id\n1,q,2\n")) == [
        "1: the header names 'id' 2 times, expected once"
    ]


def test_csv_reading_leaves_the_process_wide_field_limit_alone(tmp_path):
    import csv

    before = csv.field_size_limit()
    read_cases(saved(tmp_path / "c.csv", b"id,query\n1," + b"x" * 500_000 + b"\n"))
    assert csv.field_size_limit() == before


def test_json_list_elements_have_their_own_lines(tmp_path):
    text = (
        '[\n  {"id": 1, "query": "q"},\n  {"id": 2},\n  7,\n'
        '  {"id": 3, "id": 4, "query": "q"}, {"id": 1,\n "query": "q"}\n]\n'
    )
    found = problems_of(saved(tmp_path / "c.json", text.encode()))
    assert [line[0] for line in found] == ["3", "4", "5", "5"]
    assert found[1:] == [
        "4: the element is the number 7, expected a JSON object",
        "5: the key 'id' appears twice in one object, expected once",
        "5: the id '1' is taken by line 2, expected an id of its own",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[{"id": 1, "query": "q"}',
            "1: broken JSON at character 25: expecting ',' or ']'; nothing after this place was read",
        ),
        ('[{"id": 1, "query": "q"}] x', "1: broken JSON at character 27: more text after the end of the data; nothing"),
        ('[{"id": 1, "query": "q"},\n]', "2: broken JSON at character 1: expecting a value before ']'; nothing after"),
        ('{"results": [{"id": 1, "query": "q"}], "x"', "1: broken JSON at character 43: expecting a key and ':'"),
        (
            '{\n"cases": []}',
            "1: the file is an object with 'cases', expected a list of objects, {\"results\": [...]} or columns of",
        ),
        ('"hello"', "1: the file is the text 'hello', expected a list of objects"),
        ("[" * 100_000, " nested too deeply, expected at most 64 levels; the rest was not read"),
    ],
)
def test_broken_json_files_are_refused_whole(tmp_path, text, problem):
    (found,) = problems_of(saved(tmp_path / "c.json", text.encode()), format="json")
    assert found.startswith(problem)


def test_json_suffix_may_hold_json_lines(tmp_path):
    path = saved(tmp_path / "c.json", b'{"id": 1, "query": "a"}\n{"id": 2, "query": "b"}\n')
    assert [case.id for case in read_cases(path)] == ["1", "2"]


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".JSONL.gz", ".txt"])
def test_gzip_is_known_by_its_first_bytes(tmp_path, suffix):
    raw = b'\xef\xbb\xbf{"id": 1, "query": "a"}\r\n\r\n{"id": 2, "query": "b"}'
    for content in (raw, gzip.compress(raw)):
        assert [case.id for case in read_cases(saved(tmp_path / f"c{suffix}", content))] == ["1", "2"]


def test_damaged_gzip_is_one_clear_problem(tmp_path):
    whole = gzip.compress(b'{"id": 1, "query": "a"}\n' * 50)
    for damaged in (whole[:-12], whole[:30] + b"\x00" * 20, whole + b"tail"):
        assert any("damaged gzip" in line for line in problems_of(saved(tmp_path / "c.jsonl.gz", damaged)))


@pytest.mark.parametrize(
    "content",
    [
        '{"id": 1, "query": "a"}\n{"id": 2, "query": "b"}\n',
        '[{"id": 1, "query": "a"}, {"id": 2, "query": "b"}]',
        '{"results": [{"id": 1, "query": "a"}, {"id": 2, "query": "b"}]}\n',
        "id;query\n1;a\n2;b\n",
        '\n\n{"id": 1, "query": "a"}\n{"id": 2, "query": "b"}\n',
    ],
)
def test_standard_input_is_understood_by_its_content(monkeypatch, content):
    for stream in (io.StringIO(content), io.BytesIO(content.encode()), io.BytesIO(gzip.compress(content.encode()))):
        assert [case.id for case in read_cases("-", stream=stream)] == ["1", "2"]
        assert not stream.closed
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode()), encoding="utf-8"))
    assert [case.query for case in read_cases("-")] == ["a", "b"]


def test_standard_input_is_named_in_problems():
    with pytest.raises(DataError, match=r"^stdin:2: no query"):
        read_cases("-", stream=io.StringIO('{"id": 1, "query": "a"}\n{"id": 2}\n'))


def test_a_broken_first_line_does_not_hide_the_others():
    with pytest.raises(DataError) as caught:
        read_cases("-", stream=io.StringIO('{"id": 1, "query": \n{"id": 2}\n{"id": 3, "query": "q"}\n'))
    assert [line[:8] for line in caught.value.problems] == ["stdin:1:", "stdin:2:"]


def test_unknown_format_and_missing_file(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'jsonl'"):
        read_cases(tmp_path / "c.jsonl", format="jsonlines")
    assert problems_of(tmp_path / "none.jsonl") == [" no such file; check the path"]
    assert "state.json" in problems_of(tmp_path)[0]


@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "c.csv", "c.txt"])
@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_a_file_without_rows_is_refused(tmp_path, name, content):
    assert problems_of(saved(tmp_path / name, content)) == [" no rows; expected at least one"]


def test_files_with_a_frame_but_no_rows_are_refused(tmp_path):
    assert problems_of(saved(tmp_path / "c.csv", b"id,query\n")) == [" no rows; expected at least one"]
    assert problems_of(saved(tmp_path / "c.json", b" [ ] ")) == [" no rows; expected at least one"]
    assert problems_of(saved(tmp_path / "d.json", b'{"results": []}')) == [" no rows; expected at least one"]


def test_parquet_rows_and_their_missing_values(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import datetime

    from pyarrow import parquet

    table = pa.table(
        {
            "id": pa.array([1.0, 2.0]),
            "user_input": ["q1", "q2"],
            "retrieved_contexts": [["a", None], []],
            "response": ["x", ""],
            "reference": pa.array([float("nan"), None], type=pa.float64()),
            "relevant_passages": [{"p1": 1, "p2": None}, {"p1": None, "p2": 2}],
            "when": [datetime.date(2024, 1, 31), None],
        }
    )
    parquet.write_table(table, tmp_path / "r.parquet")
    cases, responses = read_combined(tmp_path / "r.parquet")
    assert [(c.id, c.reference, c.relevant_passages) for c in cases] == [("1", None, {"p1": 1}), ("2", None, {"p2": 2})]
    assert [[p.text for p in r.passages] for r in responses] == [["a", ""], []]
    assert responses[0].metadata == {"when": "2024-01-31"}
    with (tmp_path / "r.parquet").open("rb") as stream:
        assert read_combined("-", stream=stream)[0] == cases


def test_parquet_bytes_and_damage_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    parquet.write_table(pa.table({"query": ["q", "r"], "blob": [b"\x00", None]}), tmp_path / "b.parquet")
    assert problems_of(tmp_path / "b.parquet") == ["1: blob is of type bytes, expected JSON data"]
    damaged = (tmp_path / "b.parquet").read_bytes()[:-20]
    assert "cannot be read as Parquet" in problems_of(saved(tmp_path / "d.parquet", damaged))[0]


def arrow_folder(folder: Path, *queries: str) -> Path:
    import pyarrow as pa

    folder.mkdir(parents=True)
    names = []
    for place, query in enumerate(queries):
        names.append(f"data-{place:05}-of-{len(queries):05}.arrow")
        table = pa.table({"question": [query], "contexts": [["c"]], "answer": ["x"]})
        with pa.OSFile(str(folder / names[-1]), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names]}))
    return folder


def test_dataset_folder_is_read_in_the_order_of_its_files(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    folder = arrow_folder(tmp_path / "set", "first", "second")
    assert [case.query for case in read_cases(folder)] == ["first", "second"]


def test_dataset_folder_with_splits(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    arrow_folder(tmp_path / "set" / "test", "only")
    (tmp_path / "set" / "dataset_dict.json").write_text('{"splits": ["test"]}')
    assert [case.query for case in read_cases(tmp_path / "set")] == ["only"]
    arrow_folder(tmp_path / "set" / "train", "other")
    with pytest.raises(UsageError, match="holds the splits test, train; name the folder of one split"):
        read_cases(tmp_path / "set")


def test_dataset_folder_cannot_point_outside_itself(tmp_path):
    (tmp_path / "state.json").write_text('{"_data_files": [{"filename": "../secret.arrow"}]}')
    assert problems_of(tmp_path) == [" state.json names '../secret.arrow', expected a file inside the folder"]


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r'pip install "offline-eval\[retrieval\]"'):
        read_cases(saved(tmp_path / "c.parquet", b"PAR1"))


def test_rows_are_streamed_from_json_lines(tmp_path):
    path = saved(tmp_path / "c.jsonl", b'{"id": 1}\nbroken\n')
    problems = Problems("c.jsonl")
    rows = read_rows(path, problems)
    assert next(rows).values == {"id": 1}
    assert not problems  # the second line has not been looked at yet
    assert list(rows) == []
    assert problems.lines() == ["c.jsonl:2: broken JSON at character 1: expecting value"]
