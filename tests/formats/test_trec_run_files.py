"""Runs are written under names of their own choosing, and never anywhere but in the folder."""

from pathlib import Path

from offline_eval.core.ranking import RetrievalRun
from offline_eval.formats.trec import read_run, write_runs
from tests.support.cli import offline_eval


def run(name: str, score: float = 1.0) -> RetrievalRun:
    return RetrievalRun(name=name, scores={"q": {"d": score}})


def test_a_name_that_would_lead_elsewhere_stays_in_the_folder(tmp_path: Path) -> None:
    names = ["../../evil", "/etc/passwd", "..", "a/../b", "混合 检索", "x" * 300, "\x00"]
    paths = write_runs([run(name) for name in names], tmp_path / "in")
    assert [path.parent for path in paths] == [tmp_path / "in"] * len(names)
    assert sorted(tmp_path.rglob("*.trec")) == sorted(paths)
    assert paths[4].name == "混合_检索.trec"


def test_runs_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    paths = write_runs([run("a", 1.0), run("a", 2.0), run("a", 3.0)], tmp_path)
    assert [path.name for path in paths] == ["a.trec", "a-2.trec", "a-3.trec"]
    assert [read_run(path).scores["q"]["d"] for path in paths] == [1.0, 2.0, 3.0]


def test_the_tag_of_a_run_that_somebody_sent_cannot_leave_the_folder(tmp_path: Path) -> None:
    (tmp_path / "run.trec").write_text("a Q0 p1 1 3.5 ../../../evil\n")
    (tmp_path / "qrels.txt").write_text("a 0 p1 1\n")
    (tmp_path / "deep").mkdir()
    options = ("--qrels", "../qrels.txt", "--run", "../run.trec", "--save-runs", "x/y")
    done = offline_eval("retrieve", "eval", *options, cwd=tmp_path / "deep")
    assert done.returncode == 0, done.stderr
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*evil*")] == ["deep/x/y/_.._.._evil.trec"]
