"""A power cut or a bad disk leaves whole batches or a clear refusal; never a row that was not written so."""

import random
import shutil
from pathlib import Path

import pytest

from offline_eval.core.errors import StoreError
from offline_eval.store.audit import audit, require_intact
from offline_eval.store.run_file import RunFile
from tests.support.panel_runs import make_case, make_response, scored

BATCHES = 4


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A run file, and its head after each batch."""
    run_file = RunFile(tmp_path_factory.mktemp("whole") / "r.sqlite", create=True)
    run_file.begin_run({"run_id": "r"}, [make_case()], [make_response()])
    heads = [run_file.head()]
    for number in range(BATCHES):
        run_file.commit_batch(f"b{number}", [scored("relevance", 2, note=f"{number}" * 6000)] * 2)
        heads.append(run_file.head())
    run_file.close()
    return run_file.path, heads


@pytest.fixture
def interrupted(whole: tuple[Path, list[str]], tmp_path: Path) -> tuple[Path, Path, str]:
    """What is on the disk while a large batch is being written: file, journal and the head before it."""
    path, heads = whole
    shutil.copy(path, tmp_path / "writing.sqlite")
    run_file = RunFile(tmp_path / "writing.sqlite", create=True)
    run_file._db.execute("PRAGMA cache_size=1")  # pages of the open transaction are in the file already
    run_file._db.execute("BEGIN IMMEDIATE")
    for number in range(100):
        row = (1000 + number, "evidence", "half", "k", "x" * 4000, "p", "h")
        run_file._db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    shutil.copy(tmp_path / "writing.sqlite", tmp_path / "r.sqlite")
    shutil.copy(tmp_path / "writing.sqlite-journal", tmp_path / "r.sqlite-journal")
    run_file._db.execute("ROLLBACK")
    run_file.close()
    return tmp_path / "r.sqlite", tmp_path / "r.sqlite-journal", heads[-1]


def outcome(path: Path, head: str) -> str:
    """`whole` when everything that was sealed is there, else how it was refused."""
    try:
        run_file = RunFile(path, create=True)
    except StoreError as error:
        return f"refused: {error}"
    try:
        found = audit(run_file, sealed_head=head)
        if found.fault is None:
            assert len(run_file.committed_batches()) == BATCHES
            assert len(list(run_file.evidence())) == 2 * BATCHES
            return "whole"
        with pytest.raises(StoreError, match="nothing is added to it"):
            require_intact(run_file)  # a run is not continued on it
        return f"refused: {found.fault}"
    finally:
        run_file.close()


def test_a_batch_that_was_being_written_is_taken_back(interrupted: tuple[Path, Path, str]) -> None:
    path, journal, head = interrupted
    assert b"x" * 1000 in path.read_bytes()
    assert outcome(path, head) == "whole"
    assert not journal.exists()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("damage", ["cut", "garbage"])
def test_a_torn_journal_is_taken_back_or_refused(interrupted: tuple[Path, Path, str], damage: str, seed: int) -> None:
    path, journal, head = interrupted
    content = bytearray(journal.read_bytes())
    place = random.Random(seed).randrange(len(content))
    if damage == "cut":
        del content[place:]
    else:
        content[place : place + 2000] = b"\xa5" * len(content[place : place + 2000])
    journal.write_bytes(content)
    assert outcome(path, head).startswith(("whole", "refused: "))


@pytest.mark.parametrize("name", ["r.sqlite-journal", "r.sqlite-wal", "r.sqlite-shm"])
def test_a_stray_file_of_garbage_beside_the_run_changes_nothing(
    whole: tuple[Path, list[str]], tmp_path: Path, name: str
) -> None:
    path, heads = whole
    shutil.copy(path, tmp_path / "r.sqlite")
    (tmp_path / name).write_bytes(random.Random(0).randbytes(20_000))
    assert outcome(tmp_path / "r.sqlite", heads[-1]) == "whole"


def test_a_file_that_lost_its_end_is_refused(whole: tuple[Path, list[str]], tmp_path: Path) -> None:
    path, heads = whole
    content = path.read_bytes()
    for kept in range(600, len(content), len(content) // 25):  # SQLite takes a few bytes for a file not begun yet
        (tmp_path / "r.sqlite").write_bytes(content[:kept])
        said = outcome(tmp_path / "r.sqlite", heads[-1])
        assert said.startswith("refused: "), f"{kept} of {len(content)} bytes"
        assert "Traceback" not in said


def test_a_page_of_garbage_is_refused_or_was_of_no_use(whole: tuple[Path, list[str]], tmp_path: Path) -> None:
    path, heads = whole
    content = path.read_bytes()
    said = []
    for start in range(0, len(content), 4096):
        torn = content[: start + 2048] + random.Random(start).randbytes(2048) + content[start + 4096 :]
        (tmp_path / "r.sqlite").write_bytes(torn)
        said.append(outcome(tmp_path / "r.sqlite", heads[-1]))
    assert sum(line != "whole" for line in said) > len(said) / 2


def test_an_older_copy_of_the_file_is_whole_by_itself_and_found_by_the_sealed_head(
    whole: tuple[Path, list[str]], tmp_path: Path
) -> None:
    _, heads = whole
    run_file = RunFile(tmp_path / "r.sqlite", create=True)
    run_file.begin_run({"run_id": "r"}, [make_case()], [make_response()])
    run_file.commit_batch("b0", [scored("relevance", 2, note="0" * 6000)] * 2)
    assert run_file.head() == heads[1]
    assert audit(run_file).fault is None
    assert audit(run_file, sealed_head=heads[-1]).fault is not None
