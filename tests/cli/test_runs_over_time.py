"""`compare`, `gate`, `history`, `cases` and `feedback` from outside, on a Chinese test set."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import offline_eval
from tests.support.junit_schema import check_junit

pytestmark = pytest.mark.slow  # two dozen processes

N = 30
DAYS = [f"{place + 3}" for place in range(N)]


def case(place: int) -> dict[str, object]:
    return {
        "id": f"请假-{place:02d}",
        "query": f"第{place}类员工的年假有几天？",
        "language": "zh",
        "reference": f"年假是{DAYS[place]}天。",
        "answerable": True,
        "tags": ["请假"],
    }


def answer(place: int, *, right: bool, system: str) -> dict[str, object]:
    text = f"第{place}类员工的年假是{DAYS[place]}天。"
    given = text if right else "食堂在二楼开放，另有免费班车。"
    return {
        "case_id": f"请假-{place:02d}",
        "system": system,
        "answer": given,
        "passages": [{"id": f"p{place}", "text": text}],
        "feedback": 1 if right else -1,
    }


def scored(cases: Path, answers: Path, *more: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return offline_eval("run", cases, "--responses", answers, "--engine", "scripted", *more, cwd=cwd)


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs over one Chinese set: a careful system, and a hasty one that invents in 20 of 30 answers."""
    found = tmp_path_factory.mktemp("runs-over-time")
    cases = write(found / "cases.jsonl", [case(place) for place in range(N)])
    for system, wrong in (("细心", 0), ("草率", 20)):
        rows = [answer(place, right=place >= wrong, system=system) for place in range(N)]
        answers = write(found / f"{system}.jsonl", rows)
        done = scored(cases, answers, "--metrics", "faithfulness,hallucination", cwd=found)
        assert done.returncode == 0, done.stderr
    return found


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[str]:
    paths = sorted((folder / "runs").glob("*.sqlite"), key=lambda path: path.stat().st_mtime)
    assert len(paths) == 2
    return [path.stem for path in paths]


def test_a_chinese_run_is_compared_end_to_end(folder: Path, runs: list[str]) -> None:
    done = offline_eval("compare", *runs, "--format", "json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [side["label"] for side in found["sides"]] == ["细心", "草率"]
    first = found["metrics"][0]
    assert (first["metric"], first["verdict"], first["n"], first["losses"]) == ("faithfulness", "worse", N, 20)
    assert first["interval"]["high"] < 0
    moved = found["moved"][0]
    assert "年假有几天" in moved["query"]
    assert "班车" in moved["candidate_answer"]
    page = folder / "compare.html"
    assert offline_eval("compare", *runs, "--out", page, cwd=folder).returncode == 0
    assert "草率 against 细心" in page.read_text("utf-8")


def test_a_run_on_another_test_set_is_refused_with_code_3(folder: Path, runs: list[str]) -> None:
    cases = write(folder / "fewer.jsonl", [case(place) for place in range(10)])
    answers = write(folder / "few.jsonl", [answer(place, right=True, system="新") for place in range(10)])
    made = scored(cases, answers, "--metrics", "faithfulness", "--out", "other", cwd=folder)
    assert made.returncode == 0, made.stderr
    (other,) = (folder / "other").glob("*.sqlite")
    done = offline_eval("compare", runs[0], other, cwd=folder)
    assert done.returncode == 3
    assert "20 cases only in the first" in done.stderr
    assert "--allow-mismatch" in done.stderr
    assert done.stdout == ""
    allowed = offline_eval("compare", runs[0], other, "--allow-mismatch", "--format", "csv", cwd=folder)
    assert allowed.returncode == 0, allowed.stderr
    assert allowed.stdout.startswith("metric,")


def test_gates_exit_with_1_when_one_fails_and_write_junit_and_a_job_summary(folder: Path, runs: list[str]) -> None:
    gates = folder / "gates.yaml"
    gates.write_text(
        "gates:\n"
        "  - {metric: faithfulness, at_least: 0.7}\n"
        "  - {metric: faithfulness, at_least: -0.05, difference: true}\n"
        "  - {metric: hallucination, at_most: 0.2, slice: tag=请假}\n"
        "  - {metric: coverage, at_least: 0.8}\n",
        "utf-8",
    )
    passed = offline_eval("gate", runs[0], "--baseline", runs[0], "--gates", gates, cwd=folder)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    files = ("--junit", "gates.xml", "--summary", "sum.md")
    done = offline_eval("gate", runs[1], "--baseline", runs[0], "--gates", gates, *files, cwd=folder)
    assert done.returncode == 1, done.stderr
    root = check_junit((folder / "gates.xml").read_text("utf-8"))
    assert len(root.findall(".//failure")) == 3
    assert (folder / "sum.md").read_text("utf-8").startswith("## Gates failed: 1 of 4")
    wrong = offline_eval("gate", runs[0], cwd=folder)
    assert wrong.returncode == 2
    assert "--gates FILE" in wrong.stderr


def test_history_marks_changes_and_survives_a_file_that_cannot_be_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    paths = sorted((folder / "runs").glob("*.sqlite"), key=lambda path: path.stat().st_mtime)
    for place, path in enumerate([*paths, *(folder / "other").glob("*.sqlite")]):
        copy = tmp_path / "runs" / path.name
        copy.write_bytes(path.read_bytes())
        os.utime(copy, (1_000_000 + place, 1_000_000 + place))
    damaged = tmp_path / "runs" / "damaged.sqlite"
    damaged.write_bytes(paths[0].read_bytes()[:5000])
    done = offline_eval("history", "runs", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["runs"]
    assert [point["problem"] is None for point in points] == [*[True] * (len(points) - 1), False]
    listed = offline_eval("runs", "list", "--format", "json", cwd=tmp_path)
    rows = json.loads(listed.stdout)
    assert (rows[0]["systems"], rows[0]["cases"]) == (["细心"], N)
    assert rows[-1]["panel"].startswith("unreadable")
    latest = offline_eval("report", "latest", "--format", "json", cwd=tmp_path)
    assert latest.returncode == 0, latest.stderr
    assert "passed over" in latest.stderr
    assert json.loads(latest.stdout)["run_id"] == points[-2]["run_id"]
    gated = offline_eval("gate", "latest", "--gates", folder / "gates.yaml", cwd=tmp_path)
    assert gated.returncode == 3  # an older run must not pass for the newest one
    page = offline_eval("history", "runs", "--format", "html", cwd=tmp_path)
    assert len(re.findall("<svg ", page.stdout)) >= 3


def test_bad_cases_go_round_through_a_run(folder: Path, runs: list[str]) -> None:
    added = offline_eval("cases", "add", runs[1], "--worse-than", "faithfulness=0.6", cwd=folder)
    assert added.returncode == 0, added.stderr
    assert "20 responses, 20 new cases" in added.stderr
    rows = json.loads(offline_eval("cases", "list", "--format", "json", cwd=folder).stdout)
    assert {tag for row in rows for tag in row["causes"]} >= {"invention"}
    made = offline_eval("cases", "export", "--out", "regression.jsonl", "--responses", "old.jsonl", cwd=folder)
    assert made.returncode == 0, made.stderr
    more = ("--metrics", "faithfulness", "--format", "json", "--out", "regression")
    done = scored(Path("regression.jsonl"), Path("old.jsonl"), *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["n_cases"], summary["systems"]) == (20, ["草率"])
    unknown = offline_eval("cases", "list", "--tag", "inventon", cwd=folder)
    assert unknown.returncode == 2
    assert "did you mean 'invention'" in unknown.stderr


def test_feedback_in_the_responses_is_held_against_the_metrics(folder: Path, runs: list[str]) -> None:
    done = offline_eval("feedback", runs[1], "--format", "json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["satisfaction"][0]["up"], found["satisfaction"][0]["down"]) == (10, 20)
    assert found["following"][0]["correlation"] > 0.9
    none = offline_eval("feedback", runs[1], "--file", "nothing.csv", cwd=folder)
    assert none.returncode == 3
    assert "no such file" in none.stderr
