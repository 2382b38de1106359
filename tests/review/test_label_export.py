"""Exported labels are what the benchmark reads, blind unless asked, with what a sample has to say about itself."""

import json
from collections import Counter
from pathlib import Path

import pytest

from offline_eval.benchmark.label_files import read_label_file
from offline_eval.cli.output import csv_text
from offline_eval.review.decision_log import DecisionLog
from offline_eval.review.desk import Desk
from offline_eval.review.export import flat_rows, label_rows
from tests.support.review_runs import make_desk, small_run

DIMENSIONS = ("faithfulness", "relevance", "completeness")


def label_all(desk: Desk, count: int, *values: str) -> None:
    for item in desk.queue.items[:count]:
        for dimension, value in zip(DIMENSIONS, values, strict=True):
            desk.label(item.key, dimension, value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 responses, a queue of 20: Anna labelled all, Li Lei the first five, one of them again after the verdict."""
    folder = tmp_path_factory.mktemp("labels")
    run = small_run(folder)
    anna = make_desk(run, folder / "l.db", size=20)
    label_all(anna, 20, "1", "2", "none")
    second = make_desk(run, folder / "l.db", person="李雷")
    label_all(second, 5, "3", "2", "1")
    second.label(second.queue.items[0].key, "relevance", "1")
    return folder


def test_the_benchmark_reads_the_export_in_both_formats(folder: Path) -> None:
    rows = label_rows(DecisionLog(folder / "l.db")).rows
    lines = "".join(json.dumps(row.model_dump(mode="json"), ensure_ascii=False) + "\n" for row in rows)
    (folder / "l.jsonl").write_text(lines, "utf-8")
    (folder / "l.csv").write_text(csv_text(flat_rows(rows)), "utf-8")
    assert read_label_file(folder / "l.jsonl") == list(rows)
    assert read_label_file(folder / "l.csv") == list(rows)


def test_a_row_holds_what_was_shown_and_what_everybody_said_blind(folder: Path) -> None:
    export = label_rows(DecisionLog(folder / "l.db"))
    # 20 x faithfulness and relevance, and completeness for Li Lei's five alone: Anna could not tell, 20 times.
    assert Counter(row.dimension for row in export.rows) == {"faithfulness": 20, "relevance": 20, "completeness": 5}
    assert (export.seen, export.undecided) == (1, 20)
    first = {row.dimension: row for row in export.rows[:3]}
    assert first["faithfulness"].labels == {"anna": 1, "李雷": 3}
    assert first["relevance"].labels == {"anna": 2}  # Li Lei's second thought came with the verdict in view
    assert first["completeness"].labels == {"李雷": 1}
    row = first["faithfulness"]
    assert (row.kind, row.scale, row.cluster) == ("ordinal", (1.0, 2.0, 3.0), row.response_key.removeprefix("system/"))
    assert row.id == f"{row.response_key}:faithfulness"
    assert row.reference == "28 days."
    assert [passage.text for passage in row.passages] == ["Everybody has 28 days of leave a year."]
    with_seen = label_rows(DecisionLog(folder / "l.db"), with_seen=True)
    assert next(r for r in with_seen.rows if r.dimension == "relevance").labels == {"anna": 2, "李雷": 1}


def test_the_weights_of_the_random_part_add_up_to_the_run(folder: Path) -> None:
    rows = [row for row in label_rows(DecisionLog(folder / "l.db")).rows if row.dimension == "relevance"]
    parts = Counter(row.slices["part"] for row in rows)
    assert parts == {"need": 10, "random": 10}
    weights = [float(row.slices["weight"]) for row in rows if row.slices["part"] == "random"]
    assert sum(weights) == pytest.approx(30)  # one stratum of 30 responses, ten of them drawn: 3 each
    assert all("weight" not in row.slices for row in rows if row.slices["part"] == "need")
    assert {row.slices["stratum"] for row in rows} == {"system / factual"}
