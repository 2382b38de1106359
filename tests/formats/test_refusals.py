"""Bad rows: all of them, each with its line, in plain words, and never half of a file (CASES 26 and 29)."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offline_eval.core.errors import DataError
from offline_eval.core.records import Case, Passage, Response
from offline_eval.formats.problems import Problems
from offline_eval.formats.reader import read_cases, read_combined, read_responses
from offline_eval.formats.rows import FORMATS
from offline_eval.formats.writer import write_responses
from tests.support.cli import command, environment, offline_eval


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def problems_of(path: Path, read=read_cases, **options: object) -> list[str]:
    with pytest.raises(DataError) as caught:
        read(path, **options)
    return [line.removeprefix(f"{path}:") for line in caught.value.problems]


def test_case_26_every_bad_row_is_listed_with_its_line(tmp_path):
    rows = [
        "id,query,answer",
        "1,问题一,答",
        "2,,答",
        "1,问题三,答",
        "4,问题四",
        f"5,{'长' * 5_000_000},答",
        "6,好的,答",
    ]
    (tmp_path / "c.csv").write_bytes("\r\n".join(rows).encode("gb18030"))
    found = problems_of(tmp_path / "c.csv")
    assert [line.split(":")[0] for line in found] == ["3", "4", "5", "6"]
    assert found[0].startswith(
        "3: no query, expected text in one of the columns 'query', 'input', 'question', 'user_input'"
    )
    assert found[1:] == [
        "4: the id '1' is taken by line 2, expected an id of its own",
        "5: 2 cells, expected 3: 'id', 'query', 'answer'",
        "6: query has 5,000,000 characters, expected at most 1,048,576",
    ]


def test_the_same_question_twice_without_ids_is_said_to_be_that(tmp_path):
    found = problems_of(lines(tmp_path / "c.jsonl", {"query": "q", "x": 1}, {"query": "q", "x": 2}))
    assert found == ["2: the row has no id and asks the same as line 1, expected an id of its own"]


def test_case_29_no_cases_at_all(tmp_path):
    assert problems_of(lines(tmp_path / "c.jsonl")) == [" no rows; expected at least one"]


def test_a_field_of_exactly_one_mebi_characters_is_read(tmp_path):
    path = lines(tmp_path / "c.jsonl", {"id": 1, "query": "q" * (1 << 20)})
    assert len(read_cases(path)[0].query) == 1 << 20


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"id": True, "query": "q"}, "id is a JSON boolean (true), expected text"),
        ({"id": "", "query": "q"}, "id is empty, expected at least one character"),
        ({"id": ["a"], "query": "q"}, "id is a list, expected text"),
        ({"id": "a", "query": False}, "query is a JSON boolean (false), expected text"),
        ({"id": "a", "question": 12}, "question is the number 12, expected text"),
        ({"id": "a", "query": "q", "reference": {"a": 1}}, "reference is an object, expected text"),
        ({"id": "a", "query": "q", "expected_points": ["x", None]}, "expected_points[1] is null, expected text"),
        ({"id": "a", "query": "q", "answerable": "yes"}, "answerable is the text 'yes', expected true or false"),
        (
            {"id": "a", "query": "q", "relevant_passages": {"p": -1}},
            "relevant_passages['p'] is -1, expected a grade of 0 or more",
        ),
        (
            {"id": "a", "query": "q", "relevant_passages": {"p": 1.5}},
            "relevant_passages.p is the number 1.5, expected a whole number",
        ),
        (
            {"id": "a", "query": "q", "relevant_passages": {"p": True}},
            "relevant_passages.p is a JSON boolean (true), expected a whole number",
        ),
        ({"id": "a", "query": "q", "metadata": "x"}, "metadata is the text 'x', expected an object"),
        ({"id": "a", "query": "q", "x": "\x00"}, "x holds a NUL character (character 1), expected text"),
        (
            {"id": "a", "query": "ab\ud800"},
            "query holds half a surrogate pair (character 3), expected whole characters",
        ),
        (
            {"id": "a", "query": "q", "x": {"\udfff": 1}},
            r"a column name or key ('\udfff') holds half a surrogate pair (character 1), " "expected whole characters",
        ),
    ],
)
def test_wrong_values_in_a_case_are_named_in_plain_words(tmp_path, row, problem):
    assert problems_of(lines(tmp_path / "c.jsonl", row)) == [f"1: {problem}"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": 1, "query": "q"', "broken JSON at character 23: expecting ',' delimiter"),
        ('{"id": 1, "query": NaN}', "NaN is not JSON, expected a number or null"),
        ('{"id": 1, "query": "q", "x": 1e999}', "x is inf, expected a finite number"),
        ('{"id": 1, "query": "q"} {}', "broken JSON at character 25: more text after the value, expected none"),
        ("[1, 2]", "the line is a list, expected a JSON object"),
        ('{"id": 1, "query": "q", "query": "r"}', "the key 'query' appears twice in one object, expected once"),
        ('{"x": ' + "[" * 100 + "]" * 100 + ', "query": "q"}', "x is nested too deeply, expected at most 64 levels"),
        ('{"x": ' + "[" * 100_000 + "}", "nested too deeply, expected at most 64 levels"),
    ],
)
def test_lines_that_are_no_good_json(tmp_path, line, problem):
    assert problems_of(lines(tmp_path / "c.jsonl", line)) == [f"1: {problem}"]


def test_broken_bytes_are_named_with_their_offset(tmp_path):
    (tmp_path / "c.jsonl").write_bytes(b'{"query": "\xe5\xb9\xb4"}\n{"query": "\xe5("}\n{"query": "\x00"}\n')
    assert problems_of(tmp_path / "c.jsonl") == [
        "2: invalid UTF-8 at byte offset 11 (0xe5), expected UTF-8",
        "3: NUL byte at byte offset 11, expected text",
    ]


def test_a_terminal_cannot_be_driven_by_bad_data(tmp_path):
    (problem,) = problems_of(
        lines(tmp_path / "c.jsonl", {"id": "a", "query": "q", "answerable": "\x1b[2J" + "x" * 500})
    )
    assert problem == f"1: answerable is the text '\\x1b[2J{'x' * 56}'… (504 characters), expected true or false"


def test_a_fault_of_every_row_is_said_once(tmp_path):
    (problem,) = problems_of(lines(tmp_path / "c.jsonl", *({"id": i, "frage": "q"} for i in range(20))))
    assert problem.startswith("1-20: in each of 20 rows: no query")
    assert problem.endswith("(or --map query=COLUMN); columns here: 'id', 'frage'")


CASES = [Case(id="q1", query="one", variants=("eins",)), Case(id="q2", query="two"), Case(id="q3", query="two")]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"case_id": "q9", "answer": "x"}, "no case has the id 'q9', expected one of 3 cases' ids, as 'q1'"),
        ({"case_id": True, "answer": "x"}, "case_id is a JSON boolean (true), expected text or a number"),
        (
            {"query": "two", "answer": "x"},
            "no case_id (the query 'two' is asked by 2 cases), expected the id of a case (or --map case_id=COLUMN)",
        ),
        ({"answer": "x"}, "no case_id, expected the id of a case (or --map case_id=COLUMN)"),
        (
            {"case_id": "q1"},
            "no answer, expected one of the columns 'answer', 'actual_output', 'response' "
            "(or 'passages', 'rankings', 'error')",
        ),
        ({"case_id": "q1", "answer": "x", "variant": 1}, "variant is 1, but case 'q1' has 1 (counted from 0)"),
        ({"case_id": "q1", "answer": "x", "attempt": 0}, "attempt is the number 0, expected 1 or more"),
        ({"case_id": "q1", "answer": "x", "feedback": 2}, "feedback is the number 2, expected 1 or less"),
        ({"case_id": "q1", "answer": "x", "contexts": [3]}, "contexts[0] is the number 3, expected an object"),
        ({"case_id": "q1", "answer": "x", "passages": [{"id": "p"}]}, "no passages[0].text, expected one"),
        (
            {"case_id": "q1", "answer": "x", "passages": [{"text": "t", "score": "high"}]},
            "passages[0].score is the text 'high', expected a number",
        ),
        (
            {"case_id": "q1", "answer": "x", "passages": [{"id": 1, "text": "t"}, {"id": "1", "text": "u"}]},
            "passages has two texts under the id '1', expected one id for each text",
        ),
        ({"case_id": "q1", "answer": "x", "rankings": ["p"]}, "rankings is a list, expected an object"),
    ],
)
def test_wrong_values_in_a_response_are_named_in_plain_words(tmp_path, row, problem):
    assert problems_of(lines(tmp_path / "r.jsonl", row), read_responses, cases=CASES) == [f"1: {problem}"]


def test_all_faults_of_a_row_and_of_all_files_come_at_once(tmp_path):
    one = lines(tmp_path / "one.jsonl", {"case_id": "q1", "answer": 1, "attempt": 0}, {"case_id": "nobody"})
    two = lines(tmp_path / "two.jsonl")
    with pytest.raises(DataError) as caught:
        read_responses([one, two, tmp_path / "three.jsonl"], cases=CASES)
    assert [line.removeprefix(f"{tmp_path}/").split(",")[0] for line in caught.value.problems] == [
        "one.jsonl:1: attempt is the number 0",
        "one.jsonl:1: answer is the number 1",
        "one.jsonl:2: no case has the id 'nobody'",
        "one.jsonl:2: no answer",
        "two.jsonl: no rows; expected at least one",
        "three.jsonl: no such file; check the path",
    ]


def test_second_response_for_the_same_key_names_the_first(tmp_path):
    rows = [{"case_id": "q1", "system": "a", "answer": "x"}, {"case_id": "q1", "system": "a", "answer": "y"}]
    one, two = lines(tmp_path / "one.jsonl", rows[0]), lines(tmp_path / "two.jsonl", rows[1])
    with pytest.raises(
        DataError, match=r"two.jsonl:1: system 'a' already answered case 'q1' at .*one.jsonl:1, expected"
    ):
        read_responses([one, two], cases=CASES)
    other_try = lines(tmp_path / "three.jsonl", {**rows[1], "attempt": 2})
    assert [r.key for r in read_responses([one, other_try], cases=CASES)] == ["a/q1", "a/q1#2"]


def test_combined_rows_must_agree_about_their_case(tmp_path):
    path = lines(
        tmp_path / "r.jsonl",
        {"id": "1", "query": "q", "reference": "g", "system": "a", "answer": "x"},
        {"id": "1", "query": "q", "reference": "h", "system": "b", "answer": "y", "attempt": 0},
    )
    assert problems_of(path, read_combined) == [
        "2: the case '1' differs from line 1 in reference, expected the same case or another id",
        "2: attempt is the number 0, expected 1 or more",
    ]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
column_names = st.sampled_from(
    [
        *Case.model_fields,
        *Response.model_fields,
        "question",
        "contexts",
        "context",
        "input",
        "query_id",
        "response",
        "部门",
    ]
) | st.text(max_size=4)


@settings(max_examples=300)
@given(rows=st.lists(st.dictionaries(column_names, json_values, max_size=8), max_size=3))
def test_any_json_rows_are_read_or_refused_with_a_data_error(tmp_path_factory, rows):
    path = lines(tmp_path_factory.mktemp("any") / "r.jsonl", *rows)
    for read, options in ((read_cases, {}), (read_combined, {}), (read_responses, {"cases": CASES})):
        try:
            result = read(path, **options)
        except DataError as error:
            str(error).encode("utf-8")  # what a terminal would be given can be written
        else:
            records = [*result[0], *result[1]] if isinstance(result, tuple) else result
            assert len(records) >= 1
            assert all(len(record.content_hash()) == 64 for record in records)


@settings(max_examples=200)
@given(content=st.binary(max_size=200) | st.text(max_size=100).map(str.encode), name=st.sampled_from(FORMATS[:-1]))
def test_any_bytes_are_read_or_refused_with_a_data_error(tmp_path_factory, content, name):
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(content)
    for format in (name, None):
        with pytest.raises(DataError):
            read_combined(path, format=format)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=8)
plain_json = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
passages = st.builds(Passage, id=names, text=texts, title=st.none() | texts, score=st.none() | st.floats(-1e9, 1e9))
responses = st.builds(
    Response,
    case_id=st.sampled_from(["q1", "q2", "q3"]),
    system=names,
    attempt=st.integers(1, 5),
    answer=texts,
    passages=st.lists(passages, max_size=3, unique_by=lambda p: p.id).map(tuple),
    rankings=st.dictionaries(names, st.lists(names, max_size=3).map(tuple), max_size=2),
    citations=st.lists(names, max_size=3).map(tuple),
    feedback=st.sampled_from([None, -1, 0, 1]),
    metadata=st.dictionaries(names, plain_json, max_size=3),
    error=st.none() | texts,
)


@settings(max_examples=100)
@given(written=st.lists(responses, min_size=1, max_size=4, unique_by=lambda r: (r.system, r.case_id, r.attempt)))
def test_written_responses_come_back_equal(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("round") / "r.jsonl"
    write_responses(written, path)
    assert read_responses(path, cases=CASES) == written


def test_an_answer_of_nothing_is_still_an_answer_after_writing(tmp_path):
    written = [Response(case_id="q1", answer="", system="a"), Response(case_id="q2", error="HTTP 500")]
    write_responses(written, tmp_path / "r.jsonl")
    assert read_responses([tmp_path / "r.jsonl"], cases=CASES) == written
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]


def test_writing_where_nothing_can_be_written_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        write_responses([], tmp_path / "none" / "r.jsonl")


MANY = 100_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.jsonl", lambda: "".join(f'{{"id": "{n}"}}\n' if n % 2 else "{broken\n" for n in range(1, MANY + 1))),
        ("c.csv", lambda: "id,query\n" + "".join(f"{n}\n" if n % 2 else f"{n},\n" for n in range(2, MANY + 2))),
        ("c.json", lambda: "[\n" + ",\n".join(f'{{"id": "{n}"}}' if n % 2 else f"{n}" for n in range(MANY)) + "]"),
    ],
)
def test_of_a_hundred_thousand_bad_rows_every_one_is_shown_with_its_line(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content(), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_cases(path)
    shown = str(caught.value).splitlines()
    assert len(shown) == MANY
    assert shown == list(caught.value.problems)
    places = [int(line.removeprefix(f"{path}:").split(":")[0]) for line in shown]
    first = 1 if name == "c.jsonl" else 2  # after the header, after the bracket
    assert places == list(range(first, MANY + first))


def test_rows_with_the_same_problem_share_its_text(tmp_path):
    problems = Problems("f")
    for line in range(1, 1001):
        problems.add(line, "".join(["no ", "query" if line % 2 else "id"]))  # a new text each time
    assert len({id(text) for _, text in problems._found}) == 2


def test_problems_of_every_row_are_said_once_and_those_of_some_rows_with_each(tmp_path):
    rows = [{"query": [n], "language": []} | ({"difficulty": []} if n in (4, 9) else {}) for n in range(12)]
    found = problems_of(lines(tmp_path / "c.jsonl", *rows))
    assert [line.split(":")[0] for line in found] == ["1-12", "1-12", "5", "10"]
    assert [line.split(": ")[1:] for line in found[:2]] == [
        ["in each of 12 rows", "query is a list, expected text"],
        ["in each of 12 rows", "language is a list, expected text"],
    ]
    assert [line.split(": ")[1] for line in found[2:]] == ["difficulty is a list, expected text"] * 2


def test_beside_lines_that_are_no_rows_every_bad_row_is_listed(tmp_path):
    found = problems_of(lines(tmp_path / "c.jsonl", "{broken\n", *[{"query": []}] * 12, "{broken\n"))
    assert [line.split(":")[0] for line in found] == [str(n) for n in range(1, 15)]


def test_few_rows_are_never_said_together(tmp_path):
    found = problems_of(lines(tmp_path / "c.jsonl", *[{"id": str(n)} for n in range(9)]))
    assert [line.split(":")[0] for line in found] == [str(n) for n in range(1, 10)]


@pytest.mark.slow
def test_the_program_shows_a_hundred_thousand_bad_rows_and_bears_a_reader_that_leaves(tmp_path):
    lines(tmp_path / "c.jsonl", *[{"id": str(n)} if n % 2 else "{broken\n" for n in range(MANY)])
    words = ("run", "c.jsonl", "--responses", "c.jsonl", "--engine", "scripted")
    done = offline_eval(*words, cwd=tmp_path)
    assert done.returncode == 3
    said = [line for line in done.stderr.splitlines() if "c.jsonl:" in line]
    assert said[0].startswith("error: c.jsonl:1: ")
    assert [line.removeprefix("error: ").split(":")[1] for line in said] == [str(n) for n in range(1, MANY + 1)]
    script = '"$@" 2>&1 >/dev/null | grep -m 1 error; echo "${PIPESTATUS[0]}"'
    left = subprocess.run(
        ["bash", "-c", script, "-", *command(*words)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert left.stdout.splitlines() == [said[0], "3"]
