"""YAML from outside: plain values come through, everything else is one message with its line."""

import datetime
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import DataError
from offline_eval.core.yaml_text import parse_yaml, read_yaml


def test_plain_values_come_through_with_their_lines() -> None:
    found = parse_yaml("\ufeffa: [1, 2.5, true, null, 中文]\nb: {c: 2026-01-31}\n".encode(), "x")
    assert found.data == {"a": [1, 2.5, True, None, "中文"], "b": {"c": datetime.date(2026, 1, 31)}}
    assert found.root is not None
    assert found.root.value[1][0].start_mark.line == 1
    assert parse_yaml("", "x").data is None


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a: 1\nb: [", 2, "not valid YAML"),
        ("a: &x [1]\nb: *x", 2, "repeats another part"),
        ("a: 1\n<<: *x", 2, "repeats another part"),
        ("[" * 5000, 1, "nested too deeply"),
        ("a: " + "9" * 5000, 1, "not valid YAML"),
        ("a: 2026-13-45", 1, "not valid YAML"),
        ("a: !!timestamp x", 1, "not valid YAML"),
        ("a: !!int ''", 1, "not valid YAML"),
        ("a: !!bool x", 1, "not valid YAML"),
        ("x: 1\na: !!python/object/apply:os.system ['true']", 2, "could not determine a constructor"),
        ("{[1]: 2}", 1, "unhashable"),
        ("a: 1\n---\nb: 2", 2, "another document"),
        ("a\x00b", 1, "not valid YAML"),
    ],
)
def test_everything_else_is_one_message_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(DataError, match=f"^f.yaml:{line}: .*{what}"):
        parse_yaml(text, "f.yaml")


def test_a_few_lines_cannot_stand_for_gigabytes() -> None:
    names = "abcdefghij"
    bomb = "a: &a [x, x]\n" + "".join(f"{n}: &{n} [{', '.join(['*' + p] * 9)}]\n" for p, n in pairwise(names))
    with pytest.raises(DataError, match="repeats another part"):
        parse_yaml(bomb, "f.yaml")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"a: caf\xe9")
    for name, what in [("none.yaml", "no such file"), (".", "cannot be read"), ("latin.yaml", "byte 6 is not UTF-8")]:
        with pytest.raises(DataError, match=what):
            read_yaml(tmp_path / name)
    (tmp_path / "large.yaml").write_bytes(b"#" * (9 << 20))
    with pytest.raises(DataError, match="more than 8 MiB"):
        read_yaml(tmp_path / "large.yaml")


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_nothing_but_a_document_or_a_data_error_comes_out(text: bytes | str) -> None:
    with suppress(DataError):
        parse_yaml(text, "x")
