"""`run --metrics`, `score --metrics` and `metrics list` from outside."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.support.cli import offline_eval

ROWS = [
    {
        "id": "q1",
        "query": "When does the library open?",
        "reference": "It opens at nine.",
        "answer": "The library opens at nine [1]. It has a garden.",
        "contexts": ["The library opens at nine in the morning.", "Parking is free."],
        "answerable": True,
    },
    {
        "id": "q2",
        "query": "年假有几天？",
        "reference": "年假是15天。",
        "answer": "员工每年享有15天年假。",
        "contexts": ["正式员工的年假为15天。"],
        "answerable": True,
    },
    {
        "id": "q3",
        "query": "Who is the mayor?",
        "answer": "The documents do not say.",
        "contexts": ["Parking is free."],
        "answerable": False,
    },
]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS), "utf-8")
    return path


def evidence_rows(folder: Path) -> int:
    (path,) = (folder / "runs").glob("*.sqlite")
    with sqlite3.connect(path) as database:
        return int(database.execute("SELECT count(*) FROM log WHERE kind = 'evidence'").fetchone()[0])


def test_claims_are_scored_without_a_judge_and_scored_again_without_a_model(cases: Path, tmp_path: Path) -> None:
    done = offline_eval(
        "run", cases, "--engine", "scripted", "--metrics", "claims,refusal", "--format", "json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    overall = {e["metric"]: e["value"] for e in summary["estimates"] if e["group"] == "all"}
    assert (overall["refusal_recall"], overall["over_refusal"], summary["n_verdicts"]) == (1.0, 0.0, 0)
    assert "loading judge" not in done.stderr
    rows = evidence_rows(tmp_path)

    again = offline_eval("score", "latest", "--metrics", "context_precision,claim_f1", "--format", "json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    scored = {e["metric"]: e["value"] for e in json.loads(again.stdout)["estimates"] if e["group"] == "all"}
    assert set(scored) == {"context_precision", "claim_f1"}
    assert scored["claim_f1"] == overall["claim_f1"]
    assert "loading" not in again.stderr
    assert evidence_rows(tmp_path) == rows


def test_metrics_that_need_no_model_run_where_none_is_installed(cases: Path, tmp_path: Path) -> None:
    done = offline_eval("run", cases, "--metrics", "refusal", cwd=tmp_path, home=tmp_path / "empty")
    assert done.returncode == 0, done.stderr
    assert "fallback_rate" in done.stdout
    assert "loading" not in done.stderr


def test_the_encoders_number_format_is_kept_in_the_manifest_and_makes_another_run(cases: Path, tmp_path: Path) -> None:
    asked = ("run", cases, "--metrics", "claims", "--format", "json")
    home = tmp_path / "empty"  # the default scorer reads words alone where no embedder is installed
    named = {}
    for dtype in ("float32", "bfloat16"):
        done = offline_eval(*asked, "--encoder-dtype", dtype, cwd=tmp_path, home=home)
        assert done.returncode == 0, done.stderr
        assert f"encoders in {dtype} (asked for)" in done.stderr
        summary = json.loads(done.stdout)
        assert summary["encoders_run_in"] == dtype
        assert summary["manifest"]["config"]["encoder_dtype"] == dtype
        named[dtype] = summary["run_id"]
    assert named["float32"] != named["bfloat16"]
    shown = offline_eval("report", named["bfloat16"], "--format", "md", cwd=tmp_path, home=home)
    assert "checks ask: default-support (nli); in bfloat16" in shown.stdout
    auto = offline_eval(*asked, "--certified", cwd=tmp_path, home=home)
    assert json.loads(auto.stdout)["run_id"] not in named.values()  # certified is part of the identity too
    assert "encoders in float32 (certified mode)" in auto.stderr


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--certified", "--encoder-dtype", "bfloat16"], "certified mode computes encoders in float32"),
        (["--encoder-engine", "vllm"], "default-support is none; name one with --nli"),
        (["--encoder-engine", "onnx"], "default-support is none; name one with --nli"),
    ],
)
def test_encoder_options_that_do_not_fit_are_refused_before_a_run_exists(
    more: list[str], says: str, cases: Path, tmp_path: Path
) -> None:
    done = offline_eval("run", cases, "--metrics", "claims", *more, cwd=tmp_path, home=tmp_path / "empty")
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "runs").exists()


def test_an_unknown_metric_answers_with_the_nearest_and_nothing_is_run(cases: Path, tmp_path: Path) -> None:
    done = offline_eval("run", cases, "--engine", "scripted", "--metrics", "faithfullness", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'faithfulness'" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_the_plan_says_how_many_pairs_the_encoder_reads(cases: Path, tmp_path: Path) -> None:
    done = offline_eval("run", cases, "--engine", "scripted", "--metrics", "claims", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # q1: 2 claims and the reference's 1 on 2 passages, 2 on the reference, 1 on the answer: 9. q2: 1 + 1 + 1 + 1.
    assert "13 pairs of claim and premise" in done.stdout


def test_staged_evaluation_prints_its_saving(cases: Path, tmp_path: Path) -> None:
    done = offline_eval("run", cases, "--engine", "scripted", "--screen", "0.1,0.5", "--reasons", "none", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Staged evaluation" in done.stdout
    assert "were not judged" in done.stdout


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--screen", "0.9,0.1"], "the lower first"),
        (["--screen", "0.1,0.9", "--metrics", "claims"], "add panel to --metrics"),
    ],
)
def test_a_screen_that_makes_no_sense_is_refused(more: list[str], says: str, cases: Path, tmp_path: Path) -> None:
    done = offline_eval("run", cases, "--engine", "scripted", *more, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr


def test_every_metric_is_listed_with_its_group_and_shown_with_its_card(tmp_path: Path) -> None:
    listed = json.loads(offline_eval("metrics", "list", "--format", "json", cwd=tmp_path).stdout)
    groups = {row["metric"]: row["group"] for row in listed}
    assert (groups["faithfulness"], groups["over_refusal"], groups["ndcg"]) == ("claims", "refusal", "retrieval")
    shown = offline_eval("metrics", "show", "claim_f1", cwd=tmp_path).stdout
    assert "Definition:" in shown
    assert ".706" in shown
