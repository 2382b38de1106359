"""Trouble with a path is told as such, with the path; it is no fault of the program."""

from pathlib import Path

import pytest

from tests.support.cli import offline_eval


@pytest.mark.parametrize(
    "arguments",
    [
        ("retrieve", "index", "corpus.jsonl", "--out", "file/index"),
        ("runs", "list", "--runs", "file"),
        ("bundle", "verify", "."),
        ("bundle", "verify", "none.tar"),
        ("bundle", "create", "--test-sets", "corpus.jsonl", "--out", "file/b.tar"),
        ("bundle", "install", "corpus.jsonl", "--into", "file/x"),
        ("models", "import", "file", "--name", "x"),
        ("demo", "file/demo"),
    ],
)
def test_a_path_that_cannot_be_used_is_one_message(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "corpus.jsonl").write_text('{"id": "a", "text": "年假 leave"}\n')
    done = offline_eval(*arguments, cwd=tmp_path, home=tmp_path / "home")
    if arguments[0] != "runs":
        assert done.returncode in (2, 3)
        assert done.stderr.strip()
    assert "Traceback" not in done.stderr
    assert "fault of the program" not in done.stderr
