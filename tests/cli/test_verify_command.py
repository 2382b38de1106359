"""`verify`, `sbom`, `runs show --manifest` and certified mode from outside: what they print and exit with."""

import json
import sqlite3
from pathlib import Path

import pytest

from offline_eval.core.evidence import parse_evidence
from offline_eval.store.run_file import RunFile
from tests.support.cli import offline_eval

ROWS = [
    {"question": "How many days of leave?", "contexts": ["28 days."], "answer": "You get 28 days."},
    {"question": "年假有几天？", "contexts": ["年假为15天。"], "answer": "您有15天年假。"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one finished run of two rows."""
    place = tmp_path_factory.mktemp("verify")
    (place / "rows.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS), "utf-8")
    options = ("--engine", "scripted", "--certified", "--operator", "李雷", "--purpose", "release 1.2")
    done = offline_eval("run", "rows.jsonl", *options, "--format", "md", cwd=place)
    assert done.returncode == 0, done.stderr
    (place / "report.md").write_text(done.stdout, "utf-8")
    return place


def test_a_certified_run_says_so_in_its_report(folder: Path) -> None:
    report = (folder / "report.md").read_text("utf-8")
    assert "## Repeatability" in report
    assert "- certified: verdicts identical over batch sizes, order, cache state and resuming, on 4 prompts" in report
    assert "operator 李雷; purpose release 1.2" in report


def test_a_run_that_is_the_same_again_ends_with_zero(folder: Path) -> None:
    done = offline_eval("verify", "latest", cwd=folder)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "6 of them judges' verdicts: 0 differ, 0 labels changed" in done.stderr


def test_a_planted_verdict_is_listed_and_ends_with_one(folder: Path, tmp_path: Path) -> None:
    forged = tmp_path / "runs" / "forged.sqlite"
    forge(next((folder / "runs").glob("*.sqlite")), forged)
    done = offline_eval("verify", "forged", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    changed = json.loads(done.stdout)["changed"]
    assert [(one["kind"], one["fields"]) for one in changed] == [("verdict", ["probabilities"])]
    assert changed[0]["largest_move"] == pytest.approx(1e-6)
    table = offline_eval("verify", "forged", "--format", "csv", cwd=tmp_path)
    assert table.returncode == 1
    assert table.stdout.splitlines()[0].startswith("response_key,kind,dimension,judge")
    assert len(table.stdout.splitlines()) == 2


def forge(original: Path, forged: Path) -> None:
    """Write a run file whose chain is in order, with one probability moved in the sixth decimal."""
    source = RunFile(original)
    forged.parent.mkdir()
    target = RunFile(forged, create=True)
    target.begin_run(source.configuration() or {}, list(source.cases()), list(source.responses()))
    is_planted = False
    evidence: list[object] = []
    for row in source.rows():
        body = json.loads(row.body)
        if row.kind == "event":
            target.note(row.key, body)
        elif row.kind == "evidence":
            if not is_planted and body["kind"] == "verdict":
                label = next(iter(body["verdict"]["probabilities"]))
                body["verdict"]["probabilities"][label] = round(body["verdict"]["probabilities"][label] - 1e-6, 6)
                is_planted = True
            evidence.append(body)
        elif row.kind == "batch":
            target.commit_batch(row.key, [parse_evidence(piece) for piece in evidence])
            evidence = []
    target.close()
    source.close()
    assert is_planted


def test_another_version_is_refused_by_name_with_three(folder: Path, tmp_path: Path) -> None:
    original = next((folder / "runs").glob("*.sqlite"))
    older = tmp_path / "runs" / "older.sqlite"
    forge(original, older)
    source = RunFile(older)
    session = next(body for name, body in source.events() if name == "session")
    source.close()
    session["packages"]["numpy"] = "0.0.1"
    target = RunFile(older, create=True)
    target.note("session", session)
    target.close()
    done = offline_eval("verify", "older", cwd=tmp_path)
    assert done.returncode == 3
    assert "version of numpy: 0.0.1 then" in done.stderr
    assert "--allow-different" in done.stderr
    allowed = offline_eval("verify", "older", "--allow-different", cwd=tmp_path)
    assert allowed.returncode == 1  # the planted one is still found
    assert "other set-up: version of numpy: 0.0.1 then" in allowed.stderr


def test_an_altered_file_is_refused_with_three(folder: Path, tmp_path: Path) -> None:
    altered = tmp_path / "altered.sqlite"
    altered.write_bytes(next((folder / "runs").glob("*.sqlite")).read_bytes())
    db = sqlite3.connect(altered)
    db.execute("DROP TRIGGER log_no_update")
    db.execute("UPDATE log SET body = replace(body, '28 days', '30 days') WHERE kind = 'response'")
    db.commit()
    db.close()
    done = offline_eval("verify", altered, cwd=tmp_path)
    assert done.returncode == 3
    assert "altered" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_manifest_is_printed_as_json(folder: Path) -> None:
    done = offline_eval("runs", "show", "latest", "--manifest", cwd=folder)
    assert done.returncode == 0, done.stderr
    manifest = json.loads(done.stdout)
    assert manifest["format"] == "offline-eval manifest 1"
    assert manifest["sessions"][0]["operator"] == "李雷"
    assert manifest["config"]["certified"] is True


def test_a_bill_of_materials_is_written_where_it_is_wanted(tmp_path: Path) -> None:
    done = offline_eval("sbom", "--out", "sbom.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    document = json.loads((tmp_path / "sbom.json").read_text("utf-8"))
    assert document["bomFormat"] == "CycloneDX"
    assert "pydantic" in {part["name"] for part in document["components"]}
    lost = offline_eval("sbom", "--out", "nowhere/sbom.json", cwd=tmp_path)
    assert lost.returncode == 3
    assert "cannot be written" in lost.stderr
