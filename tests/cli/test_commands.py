"""The program from outside: what it prints, what it exits with, what it refuses."""

import json
import shutil
import sqlite3
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from tests.support.cli import environment, offline_eval


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    with as_file(files("offline_eval.demo")) as source:
        for name in ("cases.jsonl", "answers-careful.jsonl", "answers-hasty.jsonl"):
            shutil.copy(source / name, folder / name)
    return folder


def scripted_run(demo: Path, cwd: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return offline_eval(
        "run",
        demo / "cases.jsonl",
        "--responses",
        demo / "answers-careful.jsonl",
        "--engine",
        "scripted",
        *more,
        cwd=cwd,
    )


def test_help_lists_every_command_and_loads_no_heavy_library(tmp_path: Path) -> None:
    code = (
        "import sys; from offline_eval.cli.main import COMMANDS, run_cli; run_cli(['--help']); "
        "heavy = {'torch', 'vllm', 'transformers', 'numpy', 'pydantic', 'rich'} & set(sys.modules); "
        "print(sorted(heavy), sorted(COMMANDS), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert done.stderr.startswith("[]")
    for name in ("run", "demo", "models", "serve", "doctor", "metrics", "runs", "score", "report"):
        assert f"\n  {name} " in done.stdout


def test_demo_copies_a_project_and_refuses_a_full_folder(tmp_path: Path) -> None:
    assert offline_eval("demo", "hr", cwd=tmp_path).returncode == 0
    assert (tmp_path / "hr" / "cases.jsonl").is_file()
    again = offline_eval("demo", "hr", cwd=tmp_path)
    assert again.returncode == 2
    assert "hr" in again.stderr
    assert "Traceback" not in again.stderr


def test_a_run_prints_its_table_on_stdout_and_everything_else_on_stderr(demo: Path, tmp_path: Path) -> None:
    done = scripted_run(demo, tmp_path, "--report", "report.md")
    assert done.returncode == 0, done.stderr
    assert "total_grade" in done.stdout
    assert "run " in done.stderr
    assert "engine scripted" in done.stderr
    assert (tmp_path / "report.md").read_text().startswith("## Run")


def test_running_again_judges_nothing_again_and_exports_the_same_bytes(demo: Path, tmp_path: Path) -> None:
    scripted_run(demo, tmp_path)
    first = offline_eval("runs", "export", "latest", cwd=tmp_path).stdout
    again = scripted_run(demo, tmp_path)
    assert "loading judge" not in again.stderr
    assert offline_eval("runs", "export", "latest", cwd=tmp_path).stdout == first
    assert json.loads(first)["format"] == "offline-eval results 1"


def test_rows_on_standard_input_hold_cases_and_answers(tmp_path: Path) -> None:
    row = {"question": "年假有几天？", "contexts": ["年假为15天。"], "answer": "15天。"}
    done = offline_eval(
        "run", "-", "--engine", "scripted", "--format", "json", cwd=tmp_path, stdin=json.dumps(row) + "\n"
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["n_cases"] == 1
    assert summary["n_verdicts"] == 3
    intervals = [e["interval"] for e in summary["estimates"] if e["interval"] is not None]
    assert all(
        interval["low"] < interval["high"] for interval in intervals
    )  # one case: undefined or wide, never zero width


def test_a_dry_run_counts_calls_and_asks_nobody(demo: Path, tmp_path: Path) -> None:
    done = scripted_run(demo, tmp_path, "--dry-run")
    assert done.returncode == 0
    assert "240 verdicts" in done.stdout  # 80 responses x 3 examiners
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no rows"),
        ('{"id": "a", "question": "q", "answer": 3, "contexts": []}\n{"id": "b"}\n{nonsense\n', ":3:"),
    ],
)
def test_bad_input_is_listed_by_line_and_ends_with_code_3(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "rows.jsonl").write_text(content)
    done = offline_eval("run", "rows.jsonl", "--engine", "scripted", cwd=tmp_path)
    assert done.returncode == 3
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rum",), "did you mean 'run'"),
        (("run", "x.jsonl", "--panel", "three-examiner", "--engine", "scripted"), "three-examiners"),
        (("run", "x.jsonl", "--engine", "vlm"), "unknown engine"),
        (("run", "x.jsonl", "--engine", "endpoint"), "--url"),
        (("run", "x.jsonl", "--judge", "novelty=m", "--engine", "scripted"), "novelty"),
        (("run", "x.jsonl", "--map", "query", "--engine", "scripted"), "OURS=THEIRS"),
        (("metrics", "show", "total_grad"), "total_grade"),
        (("models", "show", "smollm"), "smollm2-135m-instruct"),
        (("report", "nothing"), "there are no runs in runs"),
    ],
)
def test_wrong_use_ends_with_code_2_and_names_the_nearest_thing(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = offline_eval(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_judge_that_is_not_installed_is_named_with_the_command_that_fetches_it(demo: Path, tmp_path: Path) -> None:
    done = offline_eval(
        *("run", demo / "cases.jsonl", "--responses", demo / "answers-careful.jsonl", "--engine", "transformers"),
        cwd=tmp_path,
        home=tmp_path / "empty",
    )
    assert done.returncode == 3
    assert "offline-eval models fetch smollm2-135m-instruct" in done.stderr


def test_scoring_again_with_other_weights_asks_no_model(demo: Path, tmp_path: Path) -> None:
    scripted_run(demo, tmp_path)
    weights = "faithfulness=1,relevance=0,completeness=0"
    done = offline_eval("score", "latest", "--weights", weights, "--format", "json", cwd=tmp_path)
    summary = json.loads(done.stdout)
    values = {e["metric"]: e["value"] for e in summary["estimates"] if e["group"] == "all"}
    assert values["total_grade"] == pytest.approx(values["faithfulness_grade"])
    bad = offline_eval("score", "latest", "--weights", "faithfulness=1", cwd=tmp_path)
    assert bad.returncode == 2


def test_an_altered_row_is_found_by_the_audit(demo: Path, tmp_path: Path) -> None:
    scripted_run(demo, tmp_path)
    clean = offline_eval("runs", "audit", "latest", cwd=tmp_path)
    assert clean.returncode == 0, clean.stdout
    db = sqlite3.connect(next((tmp_path / "runs").glob("*.sqlite")))
    db.execute("DROP TRIGGER log_no_update")
    db.execute("""UPDATE log SET body = replace(body, '"label":"1"', '"label":"3"') WHERE kind = 'evidence'""")
    db.commit()
    db.close()
    found = offline_eval("runs", "audit", "latest", cwd=tmp_path)
    assert found.returncode == 3
    assert "altered" in found.stdout


def test_reports_come_as_table_markdown_and_json(demo: Path, tmp_path: Path) -> None:
    scripted_run(demo, tmp_path)
    assert "Labels by dimension" in offline_eval("report", "latest", cwd=tmp_path).stdout
    assert "| system |" in offline_eval("report", "latest", "--format", "md", cwd=tmp_path).stdout
    assert json.loads(offline_eval("report", "latest", "--format", "json", cwd=tmp_path).stdout)["n_responses"] == 80
    assert "scripted" in offline_eval("runs", "list", cwd=tmp_path).stdout
    assert json.loads(offline_eval("runs", "show", "latest", cwd=tmp_path).stdout)["events"]


def test_a_live_python_system_is_recorded_before_it_is_judged(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"id": "1", "query": "How many days?"}\n{"id": "2", "query": "Boom?"}\n')
    (tmp_path / "mysystem.py").write_text(
        "def answer(query):\n"
        "    if 'Boom' in query:\n        raise ValueError('out of order')\n"
        "    return {'answer': 'Five days.', 'passages': [{'id': 'p', 'text': 'Five days.'}]}\n"
    )
    options = ("run", "cases.jsonl", "--system", "live=mysystem:answer", "--engine", "scripted", "--format", "json")
    done = offline_eval(*options, cwd=tmp_path)
    assert done.returncode == 4, done.stderr  # one of two responses failed
    summary = json.loads(done.stdout)
    assert summary["n_failed"] == 3
    assert next(e for e in summary["estimates"] if e["metric"] == "total_grade")["n_failed"] == 1
    assert any("out of order" in line.read_text() for line in (tmp_path / "runs").glob("answers-*.jsonl"))


def test_answers_that_a_system_left_out_count_as_failed(demo: Path, tmp_path: Path) -> None:
    lines = (demo / "answers-careful.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "few.jsonl").write_text("".join(lines[:8]), "utf-8")
    options = ("--responses", "few.jsonl", "--engine", "scripted", "--format", "json")
    done = offline_eval("run", demo / "cases.jsonl", *options, cwd=tmp_path)
    assert done.returncode == 4
    assert "72 answers are missing" in done.stderr
    summary = json.loads(done.stdout)
    total = next(e for e in summary["estimates"] if e["metric"] == "total_grade")
    assert total["n_failed"] == 72
    assert total["value"] == pytest.approx((total["mean_scored"] * total["n_scored"] + 72) / (total["n_scored"] + 72))
    assert any("invented" in warning for warning in summary["warnings"])  # the scripted engine says so


def test_what_a_live_system_prints_stays_out_of_the_results(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"id": "1", "query": "How many days?"}\n')
    (tmp_path / "chatty.py").write_text("def answer(query):\n    print('hello')\n    return 'Five days.'\n")
    options = ("--system", "chatty:answer", "--engine", "scripted", "--format", "json")
    done = offline_eval("run", "cases.jsonl", *options, cwd=tmp_path)
    assert json.loads(done.stdout)["n_cases"] == 1
    assert "hello" in done.stderr


def test_a_folder_is_answered_with_the_file_inside_it(tmp_path: Path) -> None:
    offline_eval("demo", "hr", cwd=tmp_path)
    done = offline_eval("run", "hr", "--engine", "scripted", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean hr/cases.jsonl" in done.stderr


def test_a_report_has_the_format_of_its_files_ending(demo: Path, tmp_path: Path) -> None:
    scripted_run(demo, tmp_path)
    offline_eval("report", "latest", "--out", "r.json", cwd=tmp_path)
    assert json.loads((tmp_path / "r.json").read_text())["n_responses"] == 80


def test_every_metric_has_a_card(tmp_path: Path) -> None:
    names = [
        row["metric"] for row in json.loads(offline_eval("metrics", "list", "--format", "json", cwd=tmp_path).stdout)
    ]
    assert "total_grade" in names
    card = offline_eval("metrics", "show", "total_grade", cwd=tmp_path).stdout
    for part in ("Definition:", "Range:", "Needs:", "Undefined:", "Differs:", "Source:"):
        assert part in card
