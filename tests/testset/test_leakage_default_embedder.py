"""Rewordings are found with the default embedder over a saved index; what it was not made for is said, not scored."""

import json
from pathlib import Path

import pytest

from offline_eval.core.records import Case, Passage
from offline_eval.engines.embedder import open_embedder
from offline_eval.formats.writer import write_cases
from offline_eval.models.installed import find_installed
from offline_eval.retrieval.index import build_index
from offline_eval.retrieval.manifest import IndexSettings
from tests.support.cli import offline_eval

NAME = "all-minilm-l6-v2"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_installed(NAME) is None, reason=f"{NAME} is not installed (offline-eval models fetch)"),
]
CASES = [
    Case(id="tower", query="When was the Eiffel Tower built?", reference="1889"),
    Case(id="leave", query="How many days of annual leave do employees get?", reference="25 days"),
    Case(id="zh", query="员工每年有几天年假？", reference="十天"),
]
CLEAN = [
    Passage(id="paris", text="The Eiffel Tower was built from 1887 to 1889. It is 330 metres tall. Who designed it?"),
    Passage(id="rules", text="Employees get 25 days of annual leave. How many days of sick leave do employees get?"),
]
PLANTED = [
    Passage(id="quiz", text="A quiz. In what year was the Eiffel Tower constructed? Answer: 1889."),
    Passage(id="faq", text="FAQ. How many annual leave days does an employee have? See the rules."),
]


def test_only_the_planted_rewordings_are_found(tmp_path: Path) -> None:
    embedder = open_embedder(NAME)
    build_index(CLEAN, tmp_path / "clean", settings=IndexSettings(), embedder=embedder)
    build_index([*CLEAN, *PLANTED], tmp_path / "planted", settings=IndexSettings(), embedder=embedder)
    embedder.close()
    write_cases(CASES, tmp_path / "cases.jsonl")
    check = ("testset", "leakage", "cases.jsonl", "--format", "json", "--index")
    clean = offline_eval(*check, "clean", cwd=tmp_path)
    assert (clean.returncode, clean.stdout) == (0, "[]\n"), clean.stderr
    assert "for 1 texts: not applicable (language: zh)" in clean.stderr
    planted = offline_eval(*check, "planted", cwd=tmp_path)
    assert planted.returncode == 1, planted.stderr
    assert {(leak["kind"], leak["method"], leak["case"], leak["where"]) for leak in json.loads(planted.stdout)} == {
        ("pair", "embedding", "tower", "quiz"),
        ("question", "embedding", "leave", "faq"),
    }
