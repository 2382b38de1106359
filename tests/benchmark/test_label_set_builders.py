"""The published sets become label rows as published, without what the default scorers were fitted on."""

import json
import os
from pathlib import Path

import pytest

from offline_eval.benchmark.sampling import sample
from offline_eval.cli.main import run_cli
from offline_eval.core.records import as_json
from offline_eval.training.default_scorers import FIT_SHARE
from offline_eval.training.public_sets import SETS, split_by_group
from scripts.build_label_sets import BUILDERS

FOLDER = os.environ.get("OFFLINE_EVAL_PUBLIC_DATA")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="OFFLINE_EVAL_PUBLIC_DATA does not name the public sets")


def test_pandalm_has_three_raters_who_mostly_agree() -> None:
    rows = list(BUILDERS["pandalm"](Path(FOLDER or "")))
    assert len(rows) == 999
    assert sum(len(set(row.labels.values())) == 1 for row in rows) == 879  # unanimous, as published
    assert rows[0].labels == {"rater 1": "B", "rater 2": "B", "rater 3": "B"}


@pytest.mark.parametrize("name", ["wice", "begin", "clapnq"])
def test_rows_the_default_scorers_were_fitted_on_are_left_out(name: str) -> None:
    fitted, _ = split_by_group(SETS[name].read(Path(FOLDER or "")), fit_share=FIT_SHARE)
    seen = {(pair.premise, pair.hypothesis) for pair in fitted}
    rows = list(BUILDERS[name](Path(FOLDER or "")))
    assert rows
    for row in rows:
        pair = (row.passages[0].text, row.answer) if row.answer else (row.query, row.passages[0].text)
        assert pair not in seen


def test_every_set_gives_rows_of_one_kind() -> None:
    kinds = {name: {(row.kind, row.dimension) for row in build(Path(FOLDER or ""))} for name, build in BUILDERS.items()}
    assert kinds == {
        "pandalm": {("pairwise", "preference")},
        "llmbar": {("pairwise", "preference")},
        "evouna": {("binary", "correctness")},
        "halluqa": {("binary", "correctness")},
        "topical_chat": {("ordinal", "faithfulness")},
        "wice": {("binary", "faithfulness")},
        "begin": {("binary", "faithfulness")},
        "clapnq": {("binary", "answerability")},
    }


@pytest.mark.slow
def test_the_default_encoder_beats_chance_on_rows_it_was_not_fitted_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = sample(list(BUILDERS["begin"](Path(FOLDER or ""))), 100, seed=0)
    labels = tmp_path / "begin.jsonl"
    labels.write_text("".join(json.dumps(as_json(row)) + "\n" for row in rows), encoding="utf-8")
    arguments = ["benchmark", str(labels), "--encoders", "default-support", "--resamples", "200", "--format", "json"]
    assert run_cli([*arguments, "--out", str(tmp_path / "out")]) == 0
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    line = next(line for line in table["lines"] if line["judge"] == "default-support")
    assert line["n_scored"] == line["n"] == len(rows)
    assert line["measures"]["auroc"]["interval"]["low"] > 0.5


def test_halluqa_is_balanced_and_never_asks_about_its_own_reference() -> None:
    rows = list(BUILDERS["halluqa"](Path(FOLDER or "")))
    assert sum(row.human == 1 for row in rows) == sum(row.human == 0 for row in rows) > 100
    assert all(row.reference != row.answer for row in rows)
    assert {row.spoken for row in rows} == {"zh"}
