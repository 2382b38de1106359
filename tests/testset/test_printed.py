"""What people read is said in both languages with the same keys and places; codes that are missing stay codes."""

import re
from pathlib import Path

import pytest

from offline_eval.cli.main import run_cli
from offline_eval.core.records import Case
from offline_eval.formats.writer import write_cases
from offline_eval.testset.leakage import Leak
from offline_eval.testset.leakage_report import COLUMNS as LEAK_COLUMNS
from offline_eval.testset.printed import Note, printed
from offline_eval.testset.validate import COLUMNS, validate_cases

WRONG = [
    Case(id="1", query="年假有几天?", answerable=False, relevant_passages={"p": 1}, key_points=("x", " ", "x")),
    Case(id="2", query="年假有几天？", reference=" ", variants=("年假有几天",), key_points=tuple("abcdefghijk")),
    Case(id="3", query="R", answerable=True, relevant_documents={"d": 1, "e": 1}),
]


def test_both_languages_have_the_same_lines_with_the_same_places() -> None:
    english, chinese = printed("en"), printed("zh")
    assert english.lines.keys() == chinese.lines.keys()
    for key, line in english.lines.items():
        assert set(re.findall(r"{(\w+)}", line)) == set(re.findall(r"{(\w+)}", chinese.lines[key])), key
    assert english.values["leak_kind"].keys() == chinese.values["leak_kind"].keys()


def test_numbers_are_marked_and_unknown_codes_stay() -> None:
    words = printed("zh")
    assert words.note(Note("looked_passages", {"count": 1234, "name": "a"})) == "a 的 1,234 个段落"
    assert words.rows([{"field": "query", "x": 1, "case": "query"}], ("field", "x", "case")) == [
        {"字段": "问题", "x": 1, "用例": "query"}
    ]
    assert {words.heading(name) for name in (*COLUMNS, *LEAK_COLUMNS)}.isdisjoint({*COLUMNS, *LEAK_COLUMNS})
    assert set(Leak.model_fields) == set(LEAK_COLUMNS)


def test_every_finding_has_words_in_both_languages() -> None:
    found = validate_cases(WRONG, passage_ids={"p"}, uncertain_ids={"e"})
    assert {finding.code for finding in found} == {
        key.removeprefix("finding_") for key in printed("en").lines if key.startswith("finding_")
    }
    for finding in found:
        assert re.search("[\u4e00-\u9fff]", finding.what("zh"))
        assert not re.search("[\u4e00-\u9fff{}]", finding.what())


def test_validate_speaks_chinese_in_its_table_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_cases(WRONG[:2], tmp_path / "cases.jsonl")
    assert run_cli(["testset", "validate", "cases.jsonl", "--lang", "zh"]) == 3
    shown = capsys.readouterr()
    assert shown.out.split()[:4] == ["级别", "用例", "字段", "内容"]
    assert "标为不可回答，却列出了能回答它的段落" in shown.out
    assert re.search("2 条用例，哈希 [0-9a-f]{12}，版本 无：5 个错误，3 个警告", shown.err)
    assert run_cli(["testset", "validate", "cases.jsonl", "--lang", "zh", "--format", "csv"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "severity,case,field,what,code"
    assert lines[1].startswith('error,1,answerable,"is not answerable')
