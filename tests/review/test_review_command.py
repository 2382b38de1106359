"""`review` and `labels` from outside: what they print, and what they refuse in words."""

import json
from pathlib import Path

import pytest

from offline_eval.cli.main import run_cli
from tests.support.panel_runs import many
from tests.support.review_runs import make_desk, make_run


@pytest.fixture
def run(tmp_path: Path) -> str:
    make_run(tmp_path / "run.sqlite", *many(3))
    return str(tmp_path / "run.sqlite")


def test_labels_are_exported_from_the_run_or_from_the_file_alone(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviewed = make_run(tmp_path / "again.sqlite", *many(3))
    desk = make_desk(reviewed, tmp_path / "run.labels.db")
    desk.label(desk.queue.items[0].key, "relevance", "3")
    for target in (run, str(tmp_path / "run.labels.db")):
        assert run_cli(["labels", "export", target]) == 0
        out, err = capsys.readouterr()
        assert [json.loads(line)["labels"] for line in out.splitlines()] == [{"anna": 3}]
        assert "1 rows" in err
    assert run_cli(["labels", "export", run, "--format", "csv"]) == 0
    assert "label:anna" in capsys.readouterr().out
    desk.note(desk.queue.items[0].key, "看不清\u202e")
    assert run_cli(["labels", "notes", run, "--format", "json"]) == 0
    noted = {"response": desk.queue.items[0].key, "rater": "anna", "note": "看不清\\u202e"}
    assert json.loads(capsys.readouterr().out) == [noted]
    assert run_cli(["labels", "agreement", run, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["reason"] for row in rows} == {"withheld below 20 labels"}
    assert [row["n"] for row in rows if row["dimension"] == "relevance"] == [1, 1]


@pytest.mark.parametrize("arguments", [["labels", "export"], ["labels", "agreement"]])
def test_no_labels_yet_is_said_with_what_to_do(
    run: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli([*arguments, run]) == 3
    assert "`offline-eval review` makes some" in capsys.readouterr().err


def test_a_name_that_cannot_be_read_and_a_taken_port_are_wrong_use(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from offline_eval.review.server import listen

    assert run_cli(["review", run, "--rater", "a\u202eb"]) == 2
    assert "\\u202e" in capsys.readouterr().err
    with listen(0) as taken:
        assert run_cli(["review", run, "--rater", "anna", "--port", str(taken.getsockname()[1])]) == 2
    assert "--port" in capsys.readouterr().err
