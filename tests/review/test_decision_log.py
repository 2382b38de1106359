"""The log of decisions: append-only, chained, shared between programs, and refused when altered."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from offline_eval.core.errors import StoreError
from offline_eval.review.decision_log import GENESIS, DecisionLog, Entry, is_decision_log


def label(person: str, value: str) -> Entry:
    return Entry(kind="label", person=person, item="system/c1", part="relevance", body={"value": value, "blind": True})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    log = DecisionLog(tmp_path / "x.labels.db", create=True, clock=lambda: "2025-01-01T00:00:00.000+00:00")
    log.append([label("anna", "1"), label("anna", "2")])
    log.append([Entry(kind="note", person="李雷", item="system/c1", body={"text": "看不清\x00\u202e"})])
    log.close()
    return tmp_path / "x.labels.db"


def test_rows_come_back_as_written_and_each_names_the_one_before(path: Path) -> None:
    rows = DecisionLog(path).rows()
    assert [(row.seq, row.person, row.kind) for row in rows] == [
        (1, "anna", "label"),
        (2, "anna", "label"),
        (3, "李雷", "note"),
    ]
    assert rows[2].body == {"text": "看不清\x00\u202e"}
    assert [row.previous for row in rows] == [GENESIS, rows[0].hash, rows[1].hash]
    assert is_decision_log(path)
    assert not is_decision_log(path.with_name("none"))


@pytest.mark.parametrize("statement", ["UPDATE log SET person = 'x'", "DELETE FROM log"])
def test_the_file_itself_refuses_changes(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute(statement)
    db.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE log SET body = replace(body, '\"1\"', '\"3\"') WHERE seq = 1",
        "UPDATE log SET person = 'bob' WHERE seq = 2",
        "UPDATE log SET at = '2026' WHERE seq = 3",
        "DELETE FROM log WHERE seq = 2",
        "DELETE FROM log WHERE seq = 1",
        "UPDATE log SET body = '[' WHERE seq = 2",
    ],
)
def test_a_changed_or_removed_row_is_named(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    db.execute("DROP TRIGGER log_no_update")
    db.execute("DROP TRIGGER log_no_delete")
    db.execute(statement)
    db.commit()
    db.close()
    with pytest.raises(StoreError, match=r"row \d was altered, inserted or removed"):
        DecisionLog(path)


def test_several_programs_append_to_one_file_at_once(path: Path) -> None:
    def write(person: str) -> None:
        log = DecisionLog(path)
        for number in range(10):
            log.append([label(person, str(number % 3 + 1))])
        log.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, ["a", "b", "c", "d"]))
    rows = DecisionLog(path).rows()
    assert len(rows) == 3 + 40
    assert {row.person for row in rows} == {"anna", "李雷", "a", "b", "c", "d"}


def test_what_another_program_wrote_is_seen_at_the_next_look(path: Path) -> None:
    reader, writer = DecisionLog(path), DecisionLog(path)
    before = len(reader.rows())
    writer.append([label("bob", "3")])
    assert [row.person for row in reader.rows()[before:]] == ["bob"]
    assert reader.head() == writer.head()


def test_other_files_are_refused_in_words(tmp_path: Path, path: Path) -> None:
    with pytest.raises(StoreError, match="no such labels file"):
        DecisionLog(tmp_path / "missing")
    (tmp_path / "text").write_text("not a database, but long enough to be looked at as one" * 20)
    with pytest.raises(StoreError, match="cannot be read as a labels file"):
        DecisionLog(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match="not a labels file"):
        DecisionLog(tmp_path / "other.db")
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version=9")
    db.close()
    with pytest.raises(StoreError, match="version 9"):
        DecisionLog(path)
