"""Whatever is done to a run file through SQL is found against its sealed head, and the first bad row is named."""

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from offline_eval.core.errors import StoreError
from offline_eval.core.hashing import digest
from offline_eval.store.audit import AuditResult, audit, require_intact
from offline_eval.store.run_file import GENESIS, LogRow, RunFile
from tests.support.panel_runs import make_case, make_response, scored

ROWS = 11  # configuration, case, response; 2 x (2 pieces, mark, event)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run file and its sealed head."""
    run_file = RunFile(tmp_path_factory.mktemp("sealed") / "r.sqlite", create=True)
    run_file.begin_run({"run_id": "r"}, [make_case()], [make_response()])
    for number in range(2):
        run_file.commit_batch(f"b{number}", [scored("faithfulness", 3), scored("relevance", 1)])
        run_file.note("batch", {"number": number})
    head = run_file.head()
    run_file.close()
    return run_file.path, head


@pytest.fixture
def sealed(untouched: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    """A copy of it to tamper with."""
    shutil.copy(untouched[0], tmp_path / "r.sqlite")
    return tmp_path / "r.sqlite", untouched[1]


@contextmanager
def unprotected(path: Path) -> Iterator[sqlite3.Connection]:
    """The file without its triggers and constraints, which are there again afterwards: a forger who leaves no trace."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous=OFF")
        db.execute("PRAGMA ignore_check_constraints=ON")
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        yield db
        for _, sql in triggers:
            db.execute(sql)


def tampered(sealed: tuple[Path, str], *statements: str) -> AuditResult:
    path, head = sealed
    with unprotected(path) as db:
        for statement in statements:
            db.execute(statement)
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


# Column to what is put into it: something like what was there, nothing, and what another row has.
ALTERED = {
    "seq": ("100 + seq", "-seq", "0"),
    "kind": ("CASE kind WHEN 'event' THEN 'case' ELSE 'event' END", "''", "'evidence '"),
    "batch": (
        "batch || 'x'",
        "CASE batch WHEN '' THEN 'b0' ELSE '' END",
        "CASE batch WHEN 'b1' THEN 'b2' ELSE 'b3' END",
    ),
    "key": ("key || 'x'", "''", "CASE key WHEN 'system/c1' THEN 'system/c2' ELSE 'system/c1' END"),
    "body": ("body || ' '", "''", "replace(replace(body, '1', '3'), 'number\":0', 'number\":7')"),
    "previous": ("'x' || substr(previous, 2)", "''", "upper(hash)"),
    "hash": ("'x' || substr(hash, 2)", "''", "upper(hash)"),
}


def test_every_column_of_every_table_is_altered_in_these_tests(sealed: tuple[Path, str]) -> None:
    with closing(sqlite3.connect(sealed[0])) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {name: [column[1] for column in db.execute(f"PRAGMA table_xinfo({name})")] for name in tables}
    assert columns == {"log": list(ALTERED)}
    assert set(ALTERED) == set(LogRow._fields)


@pytest.mark.parametrize("seq", range(1, ROWS + 1))
@pytest.mark.parametrize(("column", "value"), [(column, value) for column in ALTERED for value in ALTERED[column]])
def test_an_altered_value_is_found_in_every_column_of_every_row(
    sealed: tuple[Path, str], column: str, value: str, seq: int
) -> None:
    with closing(sqlite3.connect(sealed[0])) as db:
        [(same,)] = db.execute(f"SELECT {column} IS {value} FROM log WHERE seq = {seq}")
    if same:  # the first row follows no other, so that some values are what it has
        value = f"{column} || 'x'"
    found = tampered(sealed, f"UPDATE log SET {column} = {value} WHERE seq = {seq}")
    assert found.fault is not None
    if column == "seq":  # a row that moved to the front or the end leaves a gap where it was
        assert found.fault.startswith((f"row {seq}: removed or moved", "row 1: removed or moved"))
        return
    # The row itself, or the next one where an altered hash no longer leads to it.
    assert found.fault.startswith((f"row {seq}", f"row {seq + 1}"))
    assert found.rows <= seq


@pytest.mark.parametrize("column", [column for column in ALTERED if column != "seq"])
def test_a_value_of_another_type_is_found_in_every_column(sealed: tuple[Path, str], column: str) -> None:
    with unprotected(sealed[0]) as db:  # a strict table refuses it, so its declaration goes, and comes back
        db.execute("PRAGMA writable_schema=ON")
        [(declared,)] = db.execute("SELECT sql FROM sqlite_master WHERE name = 'log'")
        loose = declared.replace(") STRICT", ")").replace(" NOT NULL", "")
        db.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'log'", (loose,))
    for value in ("NULL", "7", "x'00ff'"):
        with unprotected(sealed[0]) as db:
            db.execute(f"UPDATE log SET {column} = {value} WHERE seq = 5")
            db.execute("PRAGMA writable_schema=ON")
            db.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'log'", (declared,))
        found = audit(RunFile(sealed[0]), sealed_head=sealed[1])
        assert found.fault is not None
        assert found.rows <= 5
        with unprotected(sealed[0]) as db:
            db.execute("PRAGMA writable_schema=ON")
            db.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'log'", (loose,))


@pytest.mark.parametrize("seq", range(1, ROWS))
def test_a_removed_row_is_found(sealed: tuple[Path, str], seq: int) -> None:
    found = tampered(sealed, f"DELETE FROM log WHERE seq = {seq}")
    assert found.fault == f"row {seq}: removed or moved (the next row is {seq + 1})"


@pytest.mark.parametrize("removed", range(1, ROWS))
def test_a_removed_row_is_found_when_the_others_close_the_gap(sealed: tuple[Path, str], removed: int) -> None:
    steps = [f"UPDATE log SET seq = {seq - 1} WHERE seq = {seq}" for seq in range(removed + 1, ROWS + 1)]
    found = tampered(sealed, f"DELETE FROM log WHERE seq = {removed}", *steps)
    assert found.fault is not None
    assert found.fault.startswith(f"row {removed}: does not follow")


@pytest.mark.parametrize("place", range(2, ROWS + 1))
def test_an_inserted_row_is_found(sealed: tuple[Path, str], place: int) -> None:
    steps = [f"UPDATE log SET seq = {seq + 1} WHERE seq = {seq}" for seq in range(ROWS, place - 1, -1)]
    # Under another batch, since two marks of one batch are refused.
    columns = f"{place}, kind, batch || 'x', key, body, previous, hash"
    found = tampered(sealed, *steps, f"INSERT INTO log SELECT {columns} FROM log WHERE seq = {place - 1}")
    assert found.fault is not None
    assert found.fault.startswith(f"row {place}: does not follow")


def test_a_row_that_was_added_at_the_end_with_a_hash_of_its_own_is_found(sealed: tuple[Path, str]) -> None:
    row = (ROWS + 1, "event", "", "note", "{}", sealed[1])
    found = tampered(sealed, f"INSERT INTO log VALUES {(*row, digest('log', list(row)))}")
    assert found.rows == ROWS + 1  # it fits the chain, but not the seal
    assert found.fault is not None
    assert "rows were added" in found.fault


@pytest.mark.parametrize(("first", "second"), [(1, 2), (4, 5), (4, 9), (5, 9), (ROWS - 1, ROWS), (1, ROWS)])
def test_two_rows_that_changed_places_are_found(sealed: tuple[Path, str], first: int, second: int) -> None:
    swap = [(first, 99), (second, first), (99, second)]
    found = tampered(sealed, *(f"UPDATE log SET seq = {new} WHERE seq = {old}" for old, new in swap))
    assert found.fault is not None
    assert found.fault.startswith(f"row {first}: does not follow")


@pytest.mark.parametrize("kept", range(ROWS))
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
    with unprotected(path) as db:
        previous = GENESIS
        rows = db.execute("SELECT seq, kind, batch, key, body FROM log ORDER BY seq").fetchall()
        for seq, kind, batch, key, body in rows:
            changed = body.replace('"grade":1', '"grade":3')
            hash_ = digest("log", [seq, kind, batch, key, changed, previous])
            db.execute("UPDATE log SET body = ?, previous = ?, hash = ? WHERE seq = ?", (changed, previous, hash_, seq))
            previous = hash_
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


# --- what protects the rows ------------------------------------------------------------------------------------------

SCHEMA_CHANGES = {
    "DROP TRIGGER log_no_update": "trigger log_no_update: is missing",
    "DROP TRIGGER log_no_delete": "trigger log_no_delete: is missing",
    "DROP INDEX log_batch": "index log_batch: is missing",
    "DROP INDEX log_kind": "index log_kind: is missing",
    "CREATE TABLE more (body TEXT)": "table more: does not belong",
    "CREATE VIEW answers AS SELECT body FROM log": "view answers: does not belong",
    "CREATE INDEX more ON log (key)": "index more: does not belong",
    "ALTER TABLE log ADD COLUMN more TEXT": "table log: was altered",
    "CREATE TRIGGER lies AFTER INSERT ON log BEGIN DELETE FROM log WHERE seq = new.seq; END": "trigger lies: does not",
}


@pytest.mark.parametrize("statement", SCHEMA_CHANGES)
def test_whatever_is_changed_around_the_rows_is_found_with_and_without_a_seal(
    sealed: tuple[Path, str], statement: str
) -> None:
    path, head = sealed
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()
    for seal in (head, None):
        found = audit(RunFile(path), sealed_head=seal)
        assert (found.rows, found.head) == (ROWS, head)
        assert found.fault is not None
        assert found.fault.startswith(SCHEMA_CHANGES[statement])


def test_a_trigger_that_keeps_its_name_and_does_nothing_is_found(sealed: tuple[Path, str]) -> None:
    with closing(sqlite3.connect(sealed[0])) as db:
        db.execute("DROP TRIGGER log_no_update")
        db.execute("CREATE TRIGGER log_no_update BEFORE UPDATE ON log BEGIN SELECT 1; END")
        db.commit()
    assert audit(RunFile(sealed[0])).fault == "trigger log_no_update: was altered"


def test_a_log_that_became_a_view_is_no_run_file(sealed: tuple[Path, str]) -> None:
    with closing(sqlite3.connect(sealed[0])) as db:
        db.execute("ALTER TABLE log RENAME TO hidden")
        db.execute("CREATE VIEW log AS SELECT * FROM hidden WHERE seq < 5")
        db.commit()
    with pytest.raises(StoreError, match="not a run file"):
        RunFile(sealed[0])


def test_an_index_that_says_something_else_than_the_rows_is_found(sealed: tuple[Path, str]) -> None:
    path, head = sealed
    with closing(sqlite3.connect(path)) as db:
        [(page,)] = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'log_batch'")
        [(size,)] = db.execute("PRAGMA page_size")
    content = bytearray(path.read_bytes())
    start = content.index(b"b1", (page - 1) * size, page * size)
    content[start : start + 2] = b"b7"  # batch b1 would be judged again
    path.write_bytes(content)
    found = audit(RunFile(path), sealed_head=head)
    assert found.rows == ROWS
    assert found.fault is not None
    assert found.fault.startswith("the file is damaged: ")


def test_vacuum_and_analyze_change_nothing_that_counts(sealed: tuple[Path, str]) -> None:
    path, head = sealed
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("VACUUM")
        db.execute("ANALYZE")
    assert audit(RunFile(path), sealed_head=head).fault is None


# --- what is done with an altered file -------------------------------------------------------------------------------


def test_a_row_that_was_altered_becomes_no_number(sealed: tuple[Path, str]) -> None:
    tampered(sealed, "UPDATE log SET body = replace(body, '\"grade\":1', '\"grade\":3') WHERE seq = 5")
    with pytest.raises(StoreError, match=r"row 5 \(evidence\) was altered or is damaged"):
        list(RunFile(sealed[0]).evidence())


def test_nothing_is_added_to_a_file_that_was_altered(sealed: tuple[Path, str]) -> None:
    path, _ = sealed
    require_intact(RunFile(path))
    tampered(sealed, "DELETE FROM log WHERE seq = 6")
    with pytest.raises(StoreError, match=r"row 6: removed or moved .* nothing is added to it"):
        require_intact(RunFile(path))


def test_a_flipped_bit_anywhere_is_found_or_changes_nothing(sealed: tuple[Path, str], tmp_path: Path) -> None:
    path, head = sealed
    content = path.read_bytes()
    draw = random.Random(0)
    found = 0
    for place in draw.sample(range(len(content)), 50):
        flipped = bytearray(content)
        flipped[place] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        try:
            result = audit(RunFile(path), sealed_head=head)
        except StoreError:
            found += 1
            continue
        found += result.fault is not None
        # Unused space and counters do not count; whatever is read must then be what was sealed.
        assert result.fault is not None or (result.rows, result.head) == (ROWS, head)
    assert found > 10
