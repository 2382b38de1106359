"""The manifest: what was run, by whom and why, kept in the log and out of the results document."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from offline_eval.core.errors import StoreError
from offline_eval.core.hashing import canonical_json
from offline_eval.core.manifest import RunSession
from offline_eval.judge.prompt import wording_hash
from offline_eval.pipeline.aggregate import Results, results_document, summarize
from offline_eval.pipeline.config import case_set_hash, responses_hash, rubric_hashes
from offline_eval.pipeline.execute import Executor
from offline_eval.pipeline.manifest import PACKAGES, SETTINGS, begin_session, describe_session, manifest_of
from offline_eval.report.reproducibility import manifest
from offline_eval.store.audit import audit
from offline_eval.store.run_file import RunFile
from tests.support.panel_runs import Judges, execute, make_config, many, start

NOW = datetime(2026, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=8)))
CONFIG = make_config()


def session(**fields: object) -> RunSession:
    return describe_session(CONFIG, now=NOW, **fields)  # type: ignore[arg-type]


def test_a_session_says_who_when_and_why_in_utc() -> None:
    found = session(operator="韩梅梅", purpose="季度回归")
    assert (found.operator, found.purpose, found.started) == ("韩梅梅", "季度回归", "2026-03-01T01:30:00+00:00")


def test_a_session_names_versions_rubrics_wording_and_forms() -> None:
    found = session()
    assert set(found.packages) <= set(PACKAGES)
    assert {"offline-eval", "numpy", "torch"} <= set(found.packages)
    assert found.rubrics == rubric_hashes(CONFIG.panel.examiners)
    assert found.wording == wording_hash()
    assert set(found.schemas) == set(found.rubrics)
    assert found.cpus >= 1
    assert found.processor


def test_no_variable_but_the_named_ones_is_written_down() -> None:
    environ = {"OMP_NUM_THREADS": "3", "HF_TOKEN": "hf_secret", "VLLM_API_KEY": "secret", "PATH": "/bin"}
    found = session(environ=environ)
    assert found.settings == {"OMP_NUM_THREADS": "3"}
    assert "secret" not in found.model_dump_json()
    assert not any("KEY" in name or "TOKEN" in name for name in SETTINGS)


def test_switches_that_are_not_set_are_named() -> None:
    found = session(environ={"HF_HUB_OFFLINE": "0"})
    assert found.switches == {"HF_HUB_OFFLINE": "0"}
    assert any("HF_HUB_OFFLINE is '0'" in line for line in found.switch_problems)


def test_the_manifest_has_inputs_engines_and_every_session(tmp_path: Path) -> None:
    cases, responses = many(3)
    run_file = start(tmp_path / "r.sqlite", CONFIG, cases, responses)
    for operator in ("anna", "ben"):
        begin_session(run_file, CONFIG, now=NOW, operator=operator)
    Executor(run_file, CONFIG, open_judge=Judges().open).run()
    found = manifest_of(run_file)
    assert (found.n_cases, found.cases_hash) == (3, case_set_hash(cases))
    assert (found.n_responses, found.responses_hash) == (3, responses_hash(responses))
    assert [one.operator for one in found.sessions] == ["anna", "ben"]
    assert [engine.model for engine in found.engines] == ["judge"]
    assert found.config["seed"] == 0
    assert found.decoding["temperature"] == 0
    assert found.head == run_file.head()
    json.loads(found.model_dump_json())


def test_the_same_engine_loaded_twice_is_named_once(tmp_path: Path) -> None:
    run_file = execute(tmp_path / "r.sqlite", CONFIG, *many(1))
    info = manifest_of(run_file).engines[0]
    run_file.note("load", {"judge": "judge", "seconds": 1.0, "info": info.model_dump(mode="json")})
    assert len(manifest_of(run_file).engines) == 1


def test_names_and_times_do_not_reach_the_results_document(tmp_path: Path) -> None:
    documents = []
    for operator in ("anna", "李雷"):
        run_file = start(tmp_path / f"{operator}.sqlite", CONFIG, *many(2))
        begin_session(run_file, CONFIG, now=NOW, operator=operator, purpose="x")
        Executor(run_file, CONFIG, open_judge=Judges().open).run()
        assert audit(run_file).fault is None  # a session is a row of the chain like any other
        documents.append(canonical_json(results_document(Results(run_file))))
    assert documents[0] == documents[1]
    assert "李雷".encode() not in documents[1]


def test_the_report_shows_models_versions_and_people(tmp_path: Path) -> None:
    run_file = start(tmp_path / "r.sqlite", CONFIG, *many(2))
    begin_session(run_file, CONFIG, now=NOW, operator="李雷", purpose="发布前检查")
    Executor(run_file, CONFIG, open_judge=Judges().open).run()
    section = manifest(summarize(Results(run_file)))
    assert section.rows == (("judge", "judge", "scripted", "–", "–", "not stated"),)
    assert section.lines[0] == "begun 2026-03-01T01:30:00+00:00; 1 session; operator 李雷; purpose 发布前检查"
    assert any(line.startswith("versions: ") and "numpy" in line for line in section.lines)


def test_a_run_without_sessions_has_no_manifest_section(tmp_path: Path) -> None:
    section = manifest(summarize(Results(execute(tmp_path / "r.sqlite", CONFIG, *many(1)))))
    assert (section.rows, section.lines) == ((), ())


def test_an_empty_file_has_no_manifest(tmp_path: Path) -> None:
    run_file = RunFile(tmp_path / "r.sqlite", create=True)
    with pytest.raises(StoreError, match="stopped before anything was written"):
        manifest_of(run_file)


def test_the_clock_is_given_from_outside() -> None:
    later = describe_session(CONFIG, now=NOW.astimezone(UTC) + timedelta(days=1))
    assert later.started == "2026-03-02T01:30:00+00:00"
