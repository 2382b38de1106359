"""`offline-eval assess` as people run it: evaluate, check, and errors in plain words; scripted encoders, no model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from offline_eval.assess.evaluate_records import EvaluationReport
from offline_eval.cli.main import run_cli
from offline_eval.stats.recalibration import Platt
from tests.support.cli import offline_eval

DEMO = Path(__file__).resolve().parents[2] / "offline_eval" / "demo"
SCRIPTED = ("--nli", "scripted", "--answerability", "scripted", "--embedder", "scripted")
ANSWER = {
    "query": "年假有几天？",
    "answer": "年假有26天。",
    "passages": [{"id": "1", "text": "全职员工每年有26天年假。"}],
}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_cli(["assess", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str) -> EvaluationReport:
    code, out, err = run(
        capsys, "evaluate", str(DEMO / "cases.jsonl"), *SCRIPTED, "--resamples", "100", "--format", "json", *arguments
    )
    assert code == 0, err
    return EvaluationReport.model_validate_json(out)


def test_recorded_systems_are_measured_with_one_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    both = ("--responses", str(DEMO / "answers-careful.jsonl"), "--responses", str(DEMO / "answers-hasty.jsonl"))
    map_file = tmp_path / "map.json"
    report = evaluated(capsys, *both, "--max-rows", "10", "--map-out", str(map_file))
    assert [group.group for group in report.groups] == ["all", "careful", "hasty"]
    assert [group.n for group in report.groups] == [20, 10, 10]
    assert len(report.items) == 20
    assert report.latency[-1].stage == "total"
    Platt.model_validate_json(map_file.read_text("utf-8"))


def test_a_corpus_is_answered_now_and_measured(capsys: pytest.CaptureFixture[str]) -> None:
    report = evaluated(capsys, "--corpus", str(DEMO / "passages.jsonl"), "--max-rows", "8")
    only = report.groups[0]
    assert (only.group, only.n) == ("pipeline", 8)
    assert report.versions["generator"].startswith("extract")
    assert any("as recorded" in note for note in report.notes), "retrieved passages carry their scores"


def test_the_page_is_self_contained(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    arguments = ("--responses", str(DEMO / "answers-hasty.jsonl"), "--max-rows", "12", "--resamples", "100")
    code, _, err = run(capsys, "evaluate", str(DEMO / "cases.jsonl"), *SCRIPTED, *arguments, "--out", str(out))
    assert code == 0, err
    page = out.read_text("utf-8")
    assert page.count("<svg") == 2
    assert "http" not in page.replace("http-equiv", "")


def test_responses_and_corpus_together_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "evaluate", str(DEMO / "cases.jsonl"), *SCRIPTED)
    assert code == 2
    assert "--responses" in err


@pytest.mark.parametrize("format", ["table", "json"])
def test_one_answer_is_checked(format: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(ANSWER), "utf-8")
    code, out, err = run(capsys, "check", str(file), *SCRIPTED, "--format", format)
    assert code in (0, 1), err
    assert "年假有26天" in out
    assert "grounding" in out
    if format == "json":
        assert json.loads(out)["language"] == "zh"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ('{"query": "x"}', "answer"),
        ('{"query": "x", "answer": "y", "passages": [{"id": "1"}]}', "text"),
    ],
)
def test_a_file_that_is_no_answer_is_named_with_its_faults(
    text: str, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "answer.json"
    file.write_text(text, "utf-8")
    code, _, err = run(capsys, "check", str(file), *SCRIPTED)
    assert code == 3
    assert words in err
    assert "answer.json" in err


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("retrievers: [bm25]\ngenerator: extract\n", "need an index"),
        ("generator: gpt\n", "expected `extract`"),
        ("retrievers: [bm52]\n", "bm25"),
        ("service: {workers: 0}\nsurprise: 1\n", "surprise"),
        ("policy: {profile: lagal}\n", "legal"),
        ("retrievers: ['nowhere_at_all:f']\n", "nowhere_at_all"),
    ],
)
def test_settings_that_cannot_work_are_refused_in_plain_words(
    settings: str, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "assess.yaml"
    file.write_text(settings, "utf-8")
    code, _, err = run(capsys, "serve", "--config", str(file), "--port", "0", *SCRIPTED)
    assert code in (2, 3)
    assert words in err
    assert "Traceback" not in err


def test_help_lists_the_subcommands_and_loads_no_server() -> None:
    from offline_eval.cli.assess import command

    found = CliRunner().invoke(command, ["--help"])
    assert {"check", "evaluate", "serve"} <= set(found.output.split())


def test_help_of_the_program_imports_no_web_library(tmp_path: Path) -> None:
    script = "import sys; sys.argv = ['x', 'assess', 'serve', '--help']\n"
    script += "import offline_eval.cli.main as m\ntry: m.main()\nexcept SystemExit: pass\n"
    script += "print(sorted({'starlette', 'torch', 'jinja2', 'uvicorn'} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.slow
def test_the_default_models_measure_a_few_answers(tmp_path: Path) -> None:
    responses = DEMO / "answers-hasty.jsonl"
    done = offline_eval(
        "assess",
        "evaluate",
        DEMO / "cases.jsonl",
        "--responses",
        responses,
        "--max-rows",
        "8",
        "--resamples",
        "100",
        "--format",
        "json",
        cwd=tmp_path,
    )
    if "not installed" in done.stderr:
        pytest.skip("the default embedder is not installed")
    assert done.returncode == 0, done.stderr
    report = EvaluationReport.model_validate_json(done.stdout)
    assert report.groups[0].n == 8
    assert "encoder.support" in report.versions
