"""`run --encoder-engine onnx` from outside: an imported model is converted once, scores offline, and is named."""

import json
from pathlib import Path

import pytest

from tests.support.cli import offline_eval
from tests.support.network_trace import NO_NETWORK, outbound_calls, traced, why_no_namespace, why_no_trace
from tests.support.tiny_encoders import make_tiny_encoder

ROWS = [
    {
        "id": "q1",
        "query": "How many days of annual leave?",
        "answer": "Staff receive 26 days of annual leave. It may be carried over.",
        "contexts": ["The staff receive 26 days of annual leave a year.", "Weeks are part of public holidays."],
    },
    {"id": "q2", "query": "年假有几天？", "answer": "员工每年享有年假二十天。", "contexts": ["员工每年享有年假。"]},
]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS), "utf-8")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = make_tiny_encoder(tmp_path / "tiny", labels=3)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    names = ("contradiction", "neutral", "entailment")
    config |= {"id2label": dict(enumerate(names)), "label2id": {name: at for at, name in enumerate(names)}}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    home = tmp_path / "home"
    done = offline_eval("models", "import", folder, "--name", "tiny-nli", cwd=tmp_path, home=home)
    assert done.returncode == 0, done.stderr
    return home


def test_a_run_on_onnx_runtime_is_offline_names_its_backend_and_is_replayed(
    cases: Path, home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "trace"
    prefix = (
        *(NO_NETWORK if why_no_namespace() is None else ()),
        *(traced(log) if why_no_trace(tmp_path) is None else ()),
    )
    asked = ("run", cases, "--metrics", "claims", "--nli", "tiny-nli", "--format", "json")
    done = offline_eval(*asked, "--encoder-engine", "onnx", cwd=tmp_path, home=home, prefix=prefix)
    assert done.returncode == 0, done.stderr
    assert "encoders in int8 (ONNX Runtime)" in done.stderr
    assert f"converting tiny-nli to ONNX with 8-bit weights; once, kept in {home / 'derived' / 'onnx'}" in done.stderr
    assert "(cpu, int8)" in done.stderr
    assert not log.exists() or outbound_calls(log) == []
    summary = json.loads(done.stdout)
    assert summary["encoders_run_in"] == "int8 on ONNX Runtime"
    manifest = summary["manifest"]
    assert (manifest["config"]["encoder_engine"], manifest["config"]["encoder_dtype"]) == ("onnx", "int8")
    (engine,) = manifest["engines"]
    assert (engine["engine"], engine["model"], engine["dtype"]) == ("onnx", "tiny-nli", "int8")
    assert {"onnx", "onnxruntime"} <= set(engine["versions"])
    assert summary["refused_attempts"] == 0
    estimates = {e["metric"]: e for e in summary["estimates"] if e["group"] == "all"}
    assert estimates["faithfulness"]["n_scored"] == 2

    on_transformers = json.loads(offline_eval(*asked, cwd=tmp_path, home=home).stdout)
    assert on_transformers["run_id"] != summary["run_id"]
    compared = offline_eval("compare", on_transformers["run_id"], summary["run_id"], cwd=tmp_path, home=home)
    assert "encoder_engine transformers and onnx; encoder_dtype float32 and int8" in compared.stdout + compared.stderr
    replayed = offline_eval("verify", summary["run_id"], cwd=tmp_path, home=home)
    assert replayed.returncode == 0, replayed.stderr
    assert "converting" not in replayed.stderr  # the kept file is used again
    assert offline_eval("models", "verify", "tiny-nli", cwd=tmp_path, home=home).returncode == 0


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--certified"], "certified mode promises scores that do not depend on batches"),
        (["--encoder-dtype", "float32"], "computes in int8; leave --encoder-dtype float32 out"),
    ],
)
def test_what_does_not_go_with_it_is_refused_before_a_run_exists(
    more: list[str], says: str, cases: Path, tmp_path: Path
) -> None:
    asked = ("run", cases, "--metrics", "claims", "--nli", "tiny-nli", "--encoder-engine", "onnx")
    done = offline_eval(*asked, *more, cwd=tmp_path, home=tmp_path / "empty")
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()
