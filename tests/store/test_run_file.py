"""The run file: append-only, one transaction a batch, one writer, a clear word about every trouble with the disk."""

import shutil
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.errors import StoreError
from offline_eval.core.hashing import digest
from offline_eval.store.audit import audit
from offline_eval.store.run_file import GENESIS, RunFile, row_hash
from tests.support.panel_runs import make_case, make_response, scored, unscored

EVIDENCE = [scored("faithfulness", 3), unscored("relevance", failed=True)]


def filled(path: Path, batches: int = 3) -> RunFile:
    run_file = RunFile(path, create=True)
    run_file.begin_run({"run_id": "r", "名": "甲"}, [make_case(), make_case("c2")], [make_response()])
    for number in range(batches):
        run_file.commit_batch(f"b{number}", EVIDENCE)
        run_file.note("batch", {"seconds": 0.5, "number": number})
    return run_file


def test_what_was_written_is_read_back_in_its_order(tmp_path: Path) -> None:
    filled(tmp_path / "r.sqlite").close()
    run_file = RunFile(tmp_path / "r.sqlite")
    assert run_file.configuration() == {"run_id": "r", "名": "甲"}
    assert [case.id for case in run_file.cases()] == ["c1", "c2"]
    assert list(run_file.responses()) == [make_response()]
    assert list(run_file.evidence()) == EVIDENCE * 3
    assert run_file.committed_batches() == {"b0", "b1", "b2"}
    assert [body["number"] for _, body in run_file.events()] == [0, 1, 2]
    # 1 configuration, 2 cases, 1 response; 3 x (2 pieces, 1 mark, 1 event)
    assert [row.seq for row in run_file.rows()] == list(range(1, 4 + 12 + 1))


def test_inputs_are_written_once(tmp_path: Path) -> None:
    run_file = filled(tmp_path / "r.sqlite")
    head = run_file.head()
    run_file.begin_run({"run_id": "other"}, [make_case("c3")], [])
    assert run_file.head() == head


@pytest.mark.parametrize(
    "statement", ["UPDATE log SET body = '{}'", "DELETE FROM log", "DELETE FROM log WHERE seq = 16"]
)
def test_the_log_is_append_only(tmp_path: Path, statement: str) -> None:
    filled(tmp_path / "r.sqlite").close()
    with sqlite3.connect(tmp_path / "r.sqlite") as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute(statement)
    db.close()


def test_a_batch_is_whole_or_not_there(tmp_path: Path) -> None:
    run_file = filled(tmp_path / "r.sqlite")
    head = run_file.head()
    with pytest.raises(StoreError, match="UNIQUE"):
        run_file.commit_batch("b1", EVIDENCE)  # its mark comes last and is refused
    assert run_file.head() == head
    assert len(list(run_file.evidence())) == 6
    run_file.commit_batch("b9", EVIDENCE)
    assert audit(run_file).fault is None


def test_a_killed_writer_leaves_whole_batches_for_the_next_reader_and_writer(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    run_file = filled(path)
    head = run_file.head()
    db = run_file._db
    db.execute("PRAGMA cache_size=1")
    db.execute("BEGIN IMMEDIATE")
    for number in range(200):
        row = (100 + number, "evidence", "half", "k", "x" * 4000, "p", "h")
        db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    # The cache is full, so pages of the open transaction are in the file: what kill -9 would leave.
    for name in ("read", "write"):
        shutil.copy(path, tmp_path / f"{name}.sqlite")
        shutil.copy(f"{path}-journal", tmp_path / f"{name}.sqlite-journal")
    db.execute("ROLLBACK")
    for name, create in (("read", False), ("write", True)):
        assert b"x" * 1000 in (tmp_path / f"{name}.sqlite").read_bytes()
        again = RunFile(tmp_path / f"{name}.sqlite", create=create)
        assert again.head() == head
        assert again.committed_batches() == {"b0", "b1", "b2"}
        assert audit(again, sealed_head=head).fault is None
        again.close()


def test_a_second_writer_and_a_reader_are_told_that_a_run_is_in_progress(tmp_path: Path) -> None:
    run_file = filled(tmp_path / "r.sqlite")
    program = """
        import sys
        from pathlib import Path
        from offline_eval.core.errors import StoreError
        from offline_eval.store.run_file import RunFile
        for create in (True, False):
            try:
                RunFile(Path(sys.argv[1]), create=create, lock_timeout_s=0.1).close()
            except StoreError as error:
                print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(run_file.path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(said) == 2
    assert all(str(run_file.path) in line and "another process has it open" in line for line in said)
    run_file.close()
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


def test_a_full_disk_keeps_what_was_committed_and_the_run_can_go_on(tmp_path: Path) -> None:
    run_file = filled(tmp_path / "r.sqlite")
    head = run_file.head()
    pages = run_file._db.execute("PRAGMA page_count").fetchone()[0]
    run_file._db.execute(f"PRAGMA max_page_count={pages + 1}")
    long = [scored("faithfulness", 3, note="x" * 50_000)]
    with pytest.raises(StoreError, match=r"the disk is full.*what was committed before is kept, run again to continue"):
        run_file.commit_batch("big", long)
    assert run_file.head() == head
    assert run_file.committed_batches() == {"b0", "b1", "b2"}
    run_file.close()
    again = RunFile(tmp_path / "r.sqlite", create=True)
    again.commit_batch("big", long)
    assert audit(again).fault is None
    again.close()


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    filled(tmp_path / "r.sqlite").close()
    run_file = RunFile(tmp_path / "r.sqlite")
    with pytest.raises(StoreError, match="cannot be written"):
        run_file.note("late", {})


@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_is_not_sqlite_is_refused_and_left_alone(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "notes.sqlite"
    path.write_text("my notes, not a database, and long enough to have a header\n" * 20)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"notes\.sqlite: cannot be (read|written).*not a database"):
        RunFile(path, create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize("create", [True, False])
def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "other.sqlite"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE songs (title TEXT)")
    db.execute("PRAGMA user_version=1")
    db.commit()
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a run file"):
        RunFile(path, create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize("create", [True, False])
def test_a_newer_version_is_refused_by_number(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "r.sqlite"
    filled(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version=2")
    db.close()
    with pytest.raises(StoreError, match="has run-file version 2, this program reads version 1"):
        RunFile(path, create=create)


def test_a_missing_file_names_the_command_that_lists_runs(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="offline-eval runs list"):
        RunFile(tmp_path / "none.sqlite")


def test_a_folder_that_cannot_be_made_is_one_clear_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be opened"):
        RunFile(tmp_path / "file" / "r.sqlite", create=True)


def test_a_row_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    filled(path).close()
    db = sqlite3.connect(path)
    db.execute("DROP TRIGGER log_no_update")
    db.execute("""UPDATE log SET body = '{"kind":"verdict"}' WHERE seq = 5""")
    db.commit()
    db.close()
    with pytest.raises(StoreError, match=r"row 5 holds no evidence .*runs audit"):
        list(RunFile(path).evidence())


def test_an_empty_log_begins_at_the_genesis(tmp_path: Path) -> None:
    run_file = RunFile(tmp_path / "r.sqlite", create=True)
    assert run_file.head() == GENESIS
    assert run_file.configuration() is None
    assert (audit(run_file).rows, audit(run_file).fault) == (0, None)


@given(st.integers(1, 10**9), st.lists(st.text(), min_size=5, max_size=5))
def test_a_rows_hash_is_the_tagged_digest_of_its_columns(seq: int, texts: list[str]) -> None:
    kind, batch, key, body, previous = texts
    expected = digest("log", [seq, kind, batch, key, body, previous])
    assert row_hash(seq, kind, batch, key=key, body=body, previous=previous) == expected


def test_half_a_surrogate_pair_has_a_hash_too() -> None:
    expected = digest("log", [1, "case", "", "k", "\ud800", GENESIS])
    assert row_hash(1, "case", "", key="k", body="\ud800", previous=GENESIS) == expected
