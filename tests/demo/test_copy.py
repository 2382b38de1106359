"""Copying the demo gives the user complete files and never touches existing ones."""

from importlib.resources import files
from pathlib import Path

import pytest

from offline_eval.core.errors import UsageError
from offline_eval.demo.copy import copy_demo

DEMO = Path(str(files("offline_eval.demo")))


def test_every_data_file_is_copied_byte_for_byte(tmp_path: Path) -> None:
    target = tmp_path / "made" / "hr-demo"
    written = copy_demo(target)
    sources = {path.relative_to(DEMO): path for path in DEMO.rglob("*") if path.suffix in {".md", ".jsonl"}}
    assert {path.relative_to(target): path.read_bytes() for path in written} == {
        place: source.read_bytes() for place, source in sources.items()
    }
    assert len(written) == 22 + 4 + 1  # documents, JSONL files, README


def test_no_code_is_copied(tmp_path: Path) -> None:
    copy_demo(tmp_path)
    assert {path.suffix for path in tmp_path.rglob("*") if path.is_file()} == {".md", ".jsonl"}


def test_a_folder_with_something_in_it_is_refused_by_name_and_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "mine"
    target.mkdir()
    (target / "notes.txt").write_text("keep", "utf-8")
    with pytest.raises(UsageError, match="mine already exists and is not an empty folder"):
        copy_demo(target)
    assert [path.name for path in target.iterdir()] == ["notes.txt"]


def test_a_target_that_is_a_file_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "demo.txt"
    target.write_text("keep", "utf-8")
    with pytest.raises(UsageError, match=r"demo\.txt already exists"):
        copy_demo(target)
    assert target.read_text("utf-8") == "keep"


def test_a_target_below_a_file_is_refused_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(UsageError, match="cannot write the demo to"):
        copy_demo(tmp_path / "file" / "demo")
