"""Whatever is done to a run file through SQL is found against its sealed head, and the first bad row is named."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from offline_eval.core.hashing import digest
from offline_eval.store.audit import AuditResult, audit
from offline_eval.store.run_file import GENESIS, LogRow, RunFile
from tests.support.panel_runs import make_case, make_response, scored

ROWS = 11  # configuration, case, response; 2 x (2 pieces, mark, event)


@pytest.fixture
def sealed(tmp_path: Path) -> tuple[Path, str]:
    """A run file and its sealed head."""
    run_file = RunFile(tmp_path / "r.sqlite", create=True)
    run_file.begin_run({"run_id": "r"}, [make_case()], [make_response()])
    for number in range(2):
        run_file.commit_batch(f"b{number}", [scored("faithfulness", 3), scored("relevance", 1)])
        run_file.note("batch", {"number": number})
    head = run_file.head()
    run_file.close()
    return run_file.path, head


def tampered(sealed: tuple[Path, str], *statements: str, parameters: Sequence[object] = ()) -> AuditResult:
    path, head = sealed
    db = sqlite3.connect(path)
    for trigger in ("log_no_update", "log_no_delete"):
        db.execute(f"DROP TRIGGER {trigger}")
    for statement in statements:
        db.execute(statement, parameters)
    db.commit()
    db.close()
    return audit(RunFile(path), sealed_head=head)


def test_an_untouched_file_fits_its_head_whole_or_as_printed(sealed: tuple[Path, str]) -> None:
    path, head = sealed
    for seal in (None, head, head[:16], head.upper()):
        found = audit(RunFile(path), sealed_head=seal)
        assert (found.rows, found.head, found.fault) == (ROWS, head, None)


@pytest.mark.parametrize("seal", ["", "0", "f" * 64])
def test_a_wrong_or_short_seal_does_not_fit(sealed: tuple[Path, str], seal: str) -> None:
    assert audit(RunFile(sealed[0]), sealed_head=seal).fault is not None
    assert audit(RunFile(sealed[0]), sealed_head=sealed[1][:15]).fault is not None


ALTERED = {
    "seq": "100 + seq",
    "kind": "CASE kind WHEN 'event' THEN 'case' ELSE 'event' END",
    "batch": "batch || 'x'",
    "key": "key || 'x'",
    "body": "body || ' '",
    "previous": "'x' || substr(previous, 2)",
    "hash": "'x' || substr(hash, 2)",
}


def test_every_column_is_altered_in_these_tests() -> None:
    assert set(ALTERED) == set(LogRow._fields)


@pytest.mark.parametrize("seq", [1, 2, 6, ROWS])
@pytest.mark.parametrize("column", list(ALTERED))
def test_an_altered_value_is_found_in_every_column(sealed: tuple[Path, str], column: str, seq: int) -> None:
    found = tampered(sealed, f"UPDATE log SET {column} = {ALTERED[column]} WHERE seq = {seq}")
    assert found.fault is not None
    # The row itself, or the next one where an altered hash no longer leads to it.
    assert found.fault.startswith((f"row {seq}", f"row {seq + 1}"))
    assert found.rows <= seq


@pytest.mark.parametrize("seq", [1, 5, 10])
def test_a_removed_row_is_found(sealed: tuple[Path, str], seq: int) -> None:
    found = tampered(sealed, f"DELETE FROM log WHERE seq = {seq}")
    assert found.fault == f"row {seq}: removed or moved (the next row is {seq + 1})"


def test_a_removed_row_is_found_when_the_others_close_the_gap(sealed: tuple[Path, str]) -> None:
    steps = [f"UPDATE log SET seq = {seq - 1} WHERE seq = {seq}" for seq in range(6, ROWS + 1)]
    found = tampered(sealed, "DELETE FROM log WHERE seq = 5", *steps)
    assert found.fault is not None
    assert found.fault.startswith("row 5: does not follow")


def test_an_inserted_row_is_found(sealed: tuple[Path, str]) -> None:
    steps = [f"UPDATE log SET seq = {seq + 1} WHERE seq = {seq}" for seq in range(ROWS, 4, -1)]
    insert = "INSERT INTO log SELECT 5, kind, batch, key, body, previous, hash FROM log WHERE seq = 4"
    found = tampered(sealed, *steps, insert)
    assert found.fault is not None
    assert found.fault.startswith("row 5: does not follow")


def test_two_rows_that_changed_places_are_found(sealed: tuple[Path, str]) -> None:
    swap = [(4, 99), (5, 4), (99, 5)]
    found = tampered(sealed, *(f"UPDATE log SET seq = {new} WHERE seq = {old}" for old, new in swap))
    assert found.fault is not None
    assert found.fault.startswith("row 4: does not follow")


@pytest.mark.parametrize("kept", [0, 3, ROWS - 1])
def test_a_cut_tail_is_found_by_the_sealed_head(sealed: tuple[Path, str], kept: int) -> None:
    found = tampered(sealed, f"DELETE FROM log WHERE seq > {kept}")
    assert found.rows == kept
    assert found.fault is not None
    assert "cut off" in found.fault
    assert audit(RunFile(sealed[0])).fault is None  # which is why the head is sealed


def test_rows_added_behind_the_seal_are_found(sealed: tuple[Path, str]) -> None:
    path, head = sealed
    run_file = RunFile(path, create=True)
    run_file.commit_batch("b9", [scored("relevance", 3)])
    assert audit(run_file).fault is None
    found = audit(run_file, sealed_head=head)
    assert found.fault is not None
    assert "rows were added" in found.fault


def test_a_chain_rebuilt_from_an_altered_row_on_is_found_by_the_sealed_head(sealed: tuple[Path, str]) -> None:
    path, head = sealed
    db = sqlite3.connect(path)
    db.execute("DROP TRIGGER log_no_update")
    previous = GENESIS
    rows = db.execute("SELECT seq, kind, batch, key, body FROM log ORDER BY seq").fetchall()
    for seq, kind, batch, key, body in rows:
        changed = body.replace('"grade":1', '"grade":3')
        hash_ = digest("log", [seq, kind, batch, key, changed, previous])
        db.execute("UPDATE log SET body = ?, previous = ?, hash = ? WHERE seq = ?", (changed, previous, hash_, seq))
        previous = hash_
    db.commit()
    db.close()
    assert audit(RunFile(path)).fault is None
    assert audit(RunFile(path), sealed_head=head).fault is not None


def test_text_that_is_not_text_is_a_fault_and_no_traceback(sealed: tuple[Path, str]) -> None:
    found = tampered(sealed, "UPDATE log SET body = CAST(x'ff41' AS TEXT) WHERE seq = 4")
    assert found.rows == 3
    assert found.fault is not None
    assert found.fault.startswith("row 4:")


def test_a_damaged_file_is_a_fault_and_no_traceback(sealed: tuple[Path, str]) -> None:
    path, head = sealed
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xa5" * len(content[8192:])
    path.write_bytes(content)
    assert audit(RunFile(path), sealed_head=head).fault is not None
