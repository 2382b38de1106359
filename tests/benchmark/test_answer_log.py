"""Answers are kept batch by batch: what was answered is not asked again, and a torn line is."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from offline_eval.benchmark.answer_log import AnswerLog, answered
from offline_eval.benchmark.labels import JudgedRow, LabelRow
from offline_eval.core.errors import StoreError
from tests.benchmark.label_builders import answers, binary_row


class Judge:
    """Answers yes; stops the program when it is asked about a named row."""

    def __init__(self, stop_at: str | None = None) -> None:
        self.asked: list[str] = []
        self._stop_at = stop_at

    def __call__(self, rows: Sequence[LabelRow]) -> list[JudgedRow]:
        self.asked += [row.id for row in rows]
        if self._stop_at in [row.id for row in rows]:
            raise KeyboardInterrupt
        return answers(rows, [1.0] * len(rows))


ROWS = [binary_row(f"r{at}", 1) for at in range(10)]


def test_an_interrupted_set_continues_after_its_last_whole_batch(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        answered(ROWS, AnswerLog(tmp_path, "j", ["x"]), Judge(stop_at="r7"), batch_rows=3)
    judge = Judge()
    found, _ = answered(ROWS, AnswerLog(tmp_path, "j", ["x"]), judge, batch_rows=3)
    assert judge.asked == ["r6", "r7", "r8", "r9"]
    assert [answer.row_id for answer in found] == [row.id for row in ROWS]


def test_a_torn_last_line_is_asked_again_and_leaves_a_whole_file(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path, "j", ["x"])
    whole, _ = answered(ROWS, log, Judge(), batch_rows=5)
    content = log.path.read_bytes()
    log.path.write_bytes(content[:-20])
    judge = Judge()
    again, _ = answered(ROWS, AnswerLog(tmp_path, "j", ["x"]), judge, batch_rows=5)
    assert judge.asked == [f"r{at}" for at in range(5, 10)]
    assert again == whole
    assert AnswerLog(tmp_path, "j", ["x"]).path.read_bytes().count(b"\n") == 2


def test_a_line_that_is_no_batch_is_refused_with_its_place(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path, "j", ["x"])
    answered(ROWS, log, Judge(), batch_rows=5)
    log.path.write_bytes(b"{}\n" + log.path.read_bytes())
    with pytest.raises(StoreError, match=r"jsonl:1: holds no batch"):
        AnswerLog(tmp_path, "j", ["x"])


def test_other_questions_have_another_file(tmp_path: Path) -> None:
    assert AnswerLog(tmp_path, "j", ["x"]).path != AnswerLog(tmp_path, "j", ["y"]).path
    assert AnswerLog(tmp_path, "../j/评", ["x"]).path.parent == tmp_path


def test_a_changed_row_is_asked_again(tmp_path: Path) -> None:
    answered(ROWS[:2], AnswerLog(tmp_path, "j", ["x"]), Judge(), batch_rows=1)
    judge = Judge()
    changed = [ROWS[0], ROWS[1].model_copy(update={"answer": "something else"})]
    answered(changed, AnswerLog(tmp_path, "j", ["x"]), judge, batch_rows=1)
    assert judge.asked == ["r1"]


def test_loading_is_done_only_when_something_is_asked_and_its_time_is_not_counted(tmp_path: Path) -> None:
    now = [0.0]

    def load() -> None:
        now[0] += 100.0

    def ask(rows: Sequence[LabelRow]) -> list[JudgedRow]:
        now[0] += 1.0
        return answers(rows, [1.0] * len(rows))

    log = AnswerLog(tmp_path, "j", ["x"])
    _, seconds = answered(ROWS, log, ask, prepare=load, batch_rows=5, clock=lambda: now[0])
    assert seconds == 2.0
    before = now[0]
    answered(ROWS, log, ask, prepare=load, batch_rows=5, clock=lambda: now[0])
    assert now[0] == before


def test_seconds_of_earlier_runs_are_counted(tmp_path: Path) -> None:
    clock = iter([0.0, 2.0, 10.0, 13.0])
    _, first = answered(ROWS, AnswerLog(tmp_path, "j", ["x"]), Judge(), batch_rows=5, clock=lambda: next(clock))
    _, second = answered(ROWS, AnswerLog(tmp_path, "j", ["x"]), Judge(), batch_rows=5, clock=lambda: next(clock))
    assert (first, second) == (5.0, 5.0)
