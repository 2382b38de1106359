"""What cases expect is found in folders, indexes and drafts, and one rule says what an answer's own document is."""

import json
from pathlib import Path

import pytest

from offline_eval.cli.main import run_cli
from offline_eval.core.records import Case, Passage
from offline_eval.formats.writer import write_cases
from offline_eval.retrieval.splitter import SplitSettings
from offline_eval.testset.expected import document_of_id, find_expected, is_own_source
from offline_eval.testset.leakage import corpus_leaks
from offline_eval.testset.sources import read_sources
from offline_eval.testset.validate import validate_cases

ANSWER = "Full-time staff receive twenty-six days of paid annual leave in every full calendar year of service."
ANSWER_ZH = "入职满五年的全职员工每年享受二十天带薪年休假，当年没有休完的可以顺延到次年三月底。"
FILES = {
    "a.md": f"# Leave\n\n{ANSWER}\n\n# Carry-over\n\nDays that are left may be taken until March.\n",
    "制度/b.txt": f"{ANSWER_ZH}食堂午餐每人补贴十五元。\n",
}
CASES = [
    Case(id="en", query="How much leave is there?", reference=ANSWER, relevant_passages={"a.md#1": 2}),
    Case(
        id="zh",
        query="能休几天？",
        reference=ANSWER_ZH,
        relevant_passages={"制度/b.txt#1": 2},
        relevant_documents={"制度/b.txt": 2},
    ),
]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents, cases about them, and drafts with an index as a generation leaves them."""
    for name, text in FILES.items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, "utf-8")
    read_sources(tmp_path / "docs", tmp_path / "made" / "index", language="auto", seed=0)
    (tmp_path / "made" / "drafts.jsonl").write_text('{"kind": "header"}\n')
    write_cases(CASES, tmp_path / "cases.jsonl")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "corpus", [("--corpus", "docs"), ("--corpus", "made"), ("--corpus", "made/index"), ("--index", "made"),
               ("--index", "made/index")],
)  # fmt: skip
def test_a_set_is_valid_for_the_very_folder_it_was_made_from(
    made: Path, corpus: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["testset", "validate", "cases.jsonl", *corpus, "--format", "json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == []
    assert "0 errors, 0 warnings" in shown.err
    assert run_cli(["testset", "stats", "cases.jsonl", *corpus, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["distances"][0]["n"], found["no_passage"]) == (2, 0)


def test_unknown_documents_are_errors_and_other_cuts_are_doubts(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [
        CASES[0].model_copy(update={"relevant_passages": {"a.md#9": 1, "none.md#1": 1}}),
        CASES[1].model_copy(update={"relevant_documents": {"c.txt": 1}}),
    ]
    write_cases(wrong, made / "cases.jsonl")
    assert run_cli(["testset", "validate", "cases.jsonl", "--corpus", "docs", "--format", "jsonl"]) == 3
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["severity"], row["case"], row["code"]) for row in rows] == [
        ("warning", "en", "uncertain_id"),
        ("error", "en", "unknown_id"),
        ("error", "zh", "unknown_id"),
    ]
    assert run_cli(["testset", "validate", "cases.jsonl", "--index", "made", "--format", "jsonl"]) == 3
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["severity"] for row in rows} == {"error"}


def test_rows_that_are_passages_already_are_taken_as_they_are() -> None:
    passages = [Passage(id="d#1", doc_id="d", text="x"), Passage(id="e", text="One. Two.")]
    cases = [Case(id="c", query="Q", relevant_passages={"d#1": 1, "d#2": 1, "e#1": 1}, relevant_documents={"d": 1})]
    whole = find_expected(cases, passages, cut=SplitSettings(by="none"))
    assert (set(whole.passages), whole.documents, whole.uncertain) == ({"d#1"}, {"d"}, {"e#1"})
    assert set(find_expected(cases, passages, cut=SplitSettings(by="sentence")).passages) == {"d#1", "e#1"}
    findings = validate_cases(cases, passage_ids=whole.ids, uncertain_ids=whole.uncertain)
    assert [(found.severity, found.values["id"]) for found in findings if found.code.endswith("_id")] == [
        ("error", "d#2"),
        ("warning", "e#1"),
    ]


def test_the_part_of_an_id_that_names_its_document() -> None:
    ids = ["a.md#1", "a.md", "C#.md", "C#.md#12", "wiki#intro", "F#/a.md", "#3"]
    assert [document_of_id(id) for id in ids] == ["a.md", "a.md", "C#.md", "C#.md", "wiki", "F#/a.md", "#3"]


def test_an_answer_in_its_own_document_is_no_leak_however_the_corpus_is_cut(made: Path) -> None:
    for id, text in FILES.items():
        assert corpus_leaks(CASES, [Passage(id=id, text=text)]).leaks == []
    elsewhere = corpus_leaks(CASES, [Passage(id="copy.md", text=FILES["a.md"])]).leaks
    assert [(leak.kind, leak.case, leak.where) for leak in elsewhere] == [("answer", "en", "copy.md")]
    for corpus in (("--corpus", "docs"), ("--index", "made"), ("--corpus", "made")):
        assert run_cli(["testset", "leakage", "cases.jsonl", *corpus]) == 0, corpus


def test_a_document_is_own_by_what_the_corpus_says_before_what_the_id_says() -> None:
    case = Case(id="c", query="Q", relevant_passages={"p7": 1})
    assert is_own_source(Passage(id="p8", doc_id="book", text="x"), case, {"p7": "book"})
    assert not is_own_source(Passage(id="p8", doc_id="book", text="x"), case, {})
    assert not is_own_source(Passage(id="p8", doc_id="other", text="x"), case, {"p7": "book"})
