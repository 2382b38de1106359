"""probe, passport, calibrate, correct, and what a run does with self-tests and passports, from outside."""

import json
from pathlib import Path

import pytest

from offline_eval.core.records import as_json
from tests.benchmark.synthetic_judges import graded_rows, pairwise_rows
from tests.support.cli import offline_eval

RUN = ("run", "-", "--engine", "scripted", "--judge", "s", "--reasons", "none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Label files, and passports of a scripted judge on faithfulness, relevance and completeness in Chinese."""
    where = tmp_path_factory.mktemp("trust")
    rows = [
        row
        for dimension in ("faithfulness", "relevance", "completeness")
        for row in graded_rows(60, kind="binary", languages=("zh",), dimension=dimension)
    ]
    rows = [row.model_copy(update={"id": f"{row.dimension}-{row.id}"}) for row in rows]
    write(where / "labels.jsonl", rows)
    write(where / "pairs.jsonl", pairwise_rows(16))
    made = offline_eval(
        "passport", "make", "labels.jsonl", "--engine", "scripted", "--judge", "s", cwd=where, home=where
    )
    assert made.returncode == 0, made.stderr
    assert "faithfulness.zh@2" in made.stdout
    return where


def write(path: Path, rows: list) -> None:
    path.write_text("\n".join(json.dumps(as_json(row), ensure_ascii=False) for row in rows), "utf-8")


def answers(n: int = 40) -> str:
    rows = [
        {
            "question": f"第{i}条规定的年假有几天？",
            "contexts": [f"第{i}条：年假为{i + 5}天。"],
            "answer": f"年假为{i + 5}天。",
        }
        for i in range(n)
    ]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def test_a_probe_prints_effects_for_both_languages_and_mitigations(folder: Path) -> None:
    arguments = ("probe", "pairs.jsonl", "--engine", "scripted", "--judge", "s", "--probes", "order_swap,injection")
    done = offline_eval(*arguments, "--mitigate", "order-averaging", "--format", "json", cwd=folder, home=folder)
    assert done.returncode == 0, done.stderr
    reports = json.loads(done.stdout)
    assert len(reports) == 2  # one a rubric language
    for report in reports:
        assert {(r["probe"], r["mitigation"]) for r in report["results"]} == {
            (probe, way) for probe in ("order_swap", "injection") for way in (None, "order-averaging")
        }
    table = offline_eval(*arguments, "--format", "md", cwd=folder, home=folder)
    assert "order\\_swap" in table.stdout
    wrong = offline_eval(
        "probe", "pairs.jsonl", "--engine", "scripted", "--probes", "verbosty", cwd=folder, home=folder
    )
    assert wrong.returncode == 2
    assert "did you mean 'verbosity'" in wrong.stderr


def test_passports_are_listed_shown_and_checked(folder: Path) -> None:
    shown = offline_eval("passport", "show", "--format", "json", cwd=folder, home=folder)
    rows = json.loads(shown.stdout)
    assert {row["rubric"] for row in rows} == {f"{name}.zh@2" for name in ("faithfulness", "relevance", "completeness")}
    one = offline_eval("passport", "show", rows[0]["passport"], cwd=folder, home=folder)
    assert "Self-test" in one.stdout
    assert offline_eval("passport", "check", "kappa>=0.99", cwd=folder, home=folder).returncode == 1
    assert offline_eval("passport", "check", "agreement>=0", cwd=folder, home=folder).returncode == 0
    assert offline_eval("passport", "check", "kappa", cwd=folder, home=folder).returncode == 2
    assert offline_eval("passport", "show", "nobody", cwd=folder, home=folder).returncode == 2


def test_a_run_refuses_judges_whose_passport_does_not_fulfil_the_condition_or_that_have_none(folder: Path) -> None:
    refused = offline_eval(*RUN, "--require-passport", "kappa>=0.95", cwd=folder, home=folder, stdin=answers(4))
    assert refused.returncode == 3
    assert "kappa is " in refused.stderr
    assert "Traceback" not in refused.stderr
    english = json.dumps({"question": "How many days?", "contexts": ["28 days."], "answer": "28 days."})
    none = offline_eval(*RUN, "--require-passport", "kappa>=0.1", cwd=folder, home=folder, stdin=english)
    assert none.returncode == 3
    assert "has no passport for faithfulness.en@2" in none.stderr
    assert "offline-eval passport make LABELS --judge s" in none.stderr


def test_a_run_shows_corrected_rates_beside_the_raw_ones_and_keeps_them_when_passports_change(folder: Path) -> None:
    done = offline_eval(*RUN, "--require-passport", "agreement>=0", cwd=folder, home=folder, stdin=answers())
    assert done.returncode == 0, done.stderr
    assert "Pass rates, raw and corrected" in done.stdout
    for name in ("faithfulness.zh@2", "relevance.zh@2"):
        assert name in done.stdout
    elsewhere = offline_eval("report", "latest", "--format", "json", cwd=folder)  # another home: no passports there
    rates = json.loads(elsewhere.stdout)["pass_rates"]
    assert {rate["rubric"] for rate in rates} >= {"faithfulness.zh@2", "relevance.zh@2"}
    for rate in rates:
        assert 0 <= rate["raw"] <= 1
        assert rate["value"] is not None or rate["reason"]
        assert rate["n_labels"] > 0


def test_a_run_without_passports_shows_no_corrected_rates(folder: Path, tmp_path: Path) -> None:
    done = offline_eval(*RUN, cwd=tmp_path, home=tmp_path, stdin=answers(2))
    assert done.returncode == 0, done.stderr
    assert "Pass rates" not in done.stdout
    assert "self-test of s" not in done.stderr  # a scripted judge is not tried unless asked


def test_a_damaged_passport_is_a_warning_unless_one_is_required(tmp_path: Path) -> None:
    (tmp_path / "passports").mkdir()
    (tmp_path / "passports" / "odd.json").write_text("{}")
    done = offline_eval(*RUN, cwd=tmp_path, home=tmp_path, stdin=answers(2))
    assert done.returncode == 0, done.stderr
    assert "passports are not used" in done.stdout
    required = offline_eval(*RUN, "--require-passport", "kappa>=0", cwd=tmp_path, home=tmp_path, stdin=answers(2))
    assert required.returncode == 3
    assert "odd.json: not a passport" in required.stderr


def test_a_self_test_that_must_be_passed_refuses_a_judge_and_skipping_it_does_not(tmp_path: Path) -> None:
    refused = offline_eval(*RUN, "--self-test", "refuse", cwd=tmp_path, home=tmp_path, stdin=answers(2))
    assert refused.returncode == 3
    assert "judge s failed the self-test on faithfulness.zh@2" in refused.stderr
    assert not list(tmp_path.rglob("*.sqlite"))
    skipped = offline_eval(*RUN, "--self-test", "skip", cwd=tmp_path, home=tmp_path, stdin=answers(2))
    assert skipped.returncode == 0


def test_a_run_is_corrected_with_labels_of_its_answers(folder: Path, tmp_path: Path) -> None:
    offline_eval(*RUN, cwd=tmp_path, home=tmp_path, stdin=answers(80))
    exported = json.loads(offline_eval("runs", "export", "latest", cwd=tmp_path).stdout)
    keys = sorted({piece["response_key"] for piece in exported["evidence"]})
    rows = [
        {"id": key, "kind": "binary", "dimension": "relevance", "query": key, "answer": "答", "labels": {"李": at % 2}}
        for at, key in enumerate(keys[:40])
    ]
    text = "\n".join(json.dumps({**row, "response_key": row["id"]}, ensure_ascii=False) for row in rows)
    (tmp_path / "labels.jsonl").write_text(text, "utf-8")
    done = offline_eval("correct", "latest", "labels.jsonl", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {row["estimate"]: row for row in json.loads(done.stdout)}
    assert found["labels alone"]["pass_rate"] == 0.5
    assert found["judge, raw"]["items"] == 80
    assert found["PPI++"]["low"] < found["PPI++"]["pass_rate"] < found["PPI++"]["high"]
    none = offline_eval("correct", "latest", "labels.jsonl", "--weights", cwd=tmp_path)
    assert none.returncode == 3
    assert "no label of dimension 'total'" in none.stderr


def test_calibration_is_printed_with_thresholds(folder: Path) -> None:
    arguments = (
        "calibrate",
        "labels.jsonl",
        "--engine",
        "scripted",
        "--judge",
        "s",
        "--cost",
        "5,1",
        "--recall",
        "0.8",
    )
    done = offline_eval(*arguments, "--format", "md", cwd=folder, home=folder)
    assert done.returncode == 0, done.stderr
    for part in ("Calibration before any map", "temperature", "isotonic", "recall ≥ 0.8", "Brier"):
        assert part in done.stdout
    assert offline_eval(*arguments[:-3], "5", cwd=folder, home=folder).returncode == 2
