"""At the desk: labels, undo, notes, the second rater, blindness, and the queue that is taken up again."""

from pathlib import Path

import pytest

from offline_eval.core.errors import DataError, UsageError
from offline_eval.review.answers import EMPTY
from offline_eval.review.decision_log import DecisionLog
from offline_eval.review.desk import check_name, last_queue, open_log
from offline_eval.review.reviewed_run import ReviewedRun
from tests.support.panel_runs import make_case, make_response, many
from tests.support.review_runs import make_desk, make_run, small_run

DIMENSIONS = ("faithfulness", "relevance", "completeness")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ReviewedRun:
    return small_run(tmp_path_factory.mktemp("run"))


def test_undo_takes_back_one_thing_at_a_time_and_erases_nothing(run: ReviewedRun, tmp_path: Path) -> None:
    desk = make_desk(run, tmp_path / "l.db")
    key = desk.queue.items[0].key
    desk.label(key, "faithfulness", "1")
    desk.label(key, "faithfulness", "3")
    desk.note(key, "erste")
    assert desk.states()[key].labels["faithfulness"].value == "3"
    assert desk.states()[key].note == "erste"
    assert desk.undo() is not None
    assert desk.states()[key].note == ""
    desk.undo()
    assert desk.states()[key].labels["faithfulness"].value == "1"
    desk.undo()
    assert desk.states()[key].labels == {}
    assert desk.undo() is None
    kinds = [row.kind for row in DecisionLog(tmp_path / "l.db").rows()]
    assert kinds == ["subject", "queue", "item", "label", "label", "note", "undo", "undo", "undo"]


def test_a_skipped_item_is_passed_over_and_a_label_takes_it_up_again(run: ReviewedRun, tmp_path: Path) -> None:
    desk = make_desk(run, tmp_path / "l.db")
    first, second = (item.key for item in desk.queue.items[:2])
    desk.skip(first)
    assert desk.next_open(desk.states()) == 1
    for dimension in DIMENSIONS:
        desk.label(second, dimension, "none" if dimension == "relevance" else "2")
    assert desk.next_open(desk.states()) == 2
    assert desk.settled(desk.states()) == 2
    desk.label(first, "relevance", "2")
    assert desk.next_open(desk.states()) == 0
    assert [desk.status(desk.states()[key]) for key in (first, second)] == ["partial", "done"]


def test_a_second_rater_has_nothing_of_the_first_and_cannot_undo_it(run: ReviewedRun, tmp_path: Path) -> None:
    anna = make_desk(run, tmp_path / "l.db")
    key = anna.queue.items[0].key
    anna.label(key, "relevance", "1")
    bob = make_desk(run, tmp_path / "l.db", person="bob")
    assert bob.queue == anna.queue
    assert bob.states() == {}
    assert bob.undo() is None
    bob.label(key, "relevance", "3")
    assert anna.states()[key].labels["relevance"].value == "1"
    assert bob.states()[key].labels["relevance"].value == "3"


def test_a_label_is_blind_until_the_item_was_complete_once(run: ReviewedRun, tmp_path: Path) -> None:
    desk = make_desk(run, tmp_path / "l.db")
    key = desk.queue.items[0].key
    assert not desk.is_revealed(desk.states().get(key, EMPTY))
    for dimension in DIMENSIONS:
        desk.label(key, dimension, "1")
    state = desk.states()[key]
    assert desk.is_revealed(state)
    assert all(answer.blind for answer in state.labels.values())
    desk.undo()  # the verdict was on the screen: taking the last answer back does not make the next one blind
    assert desk.is_revealed(desk.states()[key])
    desk.label(key, "completeness", "3")
    assert not desk.states()[key].labels["completeness"].blind
    desk.label(key, "relevance", "3")
    assert not desk.states()[key].labels["relevance"].blind


def test_with_verdicts_in_view_no_label_is_blind(run: ReviewedRun, tmp_path: Path) -> None:
    desk = make_desk(run, tmp_path / "l.db", show_verdicts=True)
    desk.label(desk.queue.items[0].key, "relevance", "1")
    assert not desk.states()[desk.queue.items[0].key].labels["relevance"].blind


def test_the_queue_is_recorded_taken_up_again_and_can_grow(run: ReviewedRun, tmp_path: Path) -> None:
    log, first = open_log(run, tmp_path / "l.db", size=10)
    assert last_queue(log) == first
    assert open_log(run, tmp_path / "l.db")[1] == first
    larger = open_log(run, tmp_path / "l.db", size=20)[1]
    drawn = [[item.key for item in queue.items if item.part == "random"] for queue in (first, larger)]
    assert drawn[1][: len(drawn[0])] == drawn[0]
    assert sum(row.kind == "queue" for row in log.rows()) == 2


def test_labels_of_other_responses_are_not_mixed_in(run: ReviewedRun, tmp_path: Path) -> None:
    open_log(run, tmp_path / "l.db")[0].close()
    other = make_run(tmp_path / "other.sqlite", *many(3))
    with pytest.raises(DataError, match="labels of other cases"):
        open_log(other, tmp_path / "l.db")


def test_a_run_without_an_answer_is_refused_and_failed_responses_are_counted(tmp_path: Path) -> None:
    failed = make_response(answer="", error="time-out")
    with pytest.raises(UsageError, match="no answer to label"):
        open_log(make_run(tmp_path / "a.sqlite", [make_case()], [failed]), tmp_path / "l.db")
    mixed = make_run(tmp_path / "b.sqlite", [make_case(), make_case("c2")], [failed, make_response("c2")])
    assert mixed.left_out == 1
    assert mixed.keys == ["system/c2"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\nb", "a\u202eb"])
def test_names_that_cannot_be_read_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="--rater"):
        check_name(name)


def test_a_chinese_name_is_a_name() -> None:
    assert check_name(" 李雷 ") == "李雷"
