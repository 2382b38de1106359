"""The cache: what was put in comes out, for the same weights only, until it is too old, damaged or somebody else's."""

import shutil
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from offline_eval.core.errors import StoreError
from offline_eval.store.cache import ResponseCache, clear_cache

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> ResponseCache:
    return ResponseCache(tmp_path_factory.mktemp("shared") / "cache.sqlite")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=JSON)
def test_a_json_value_comes_out_as_it_went_in(shared: ResponseCache, value: object) -> None:
    shared.put({"k": value}, model="m", weights="w")
    assert shared.get(["k", "other"], weights="w") == {"k": value}


def test_a_float_comes_out_to_the_last_bit(shared: ResponseCache) -> None:
    values = [0.1 + 0.2, -1.0986122886681098, 5e-324, 1.7976931348623157e308]
    shared.put({"f": values}, model="m", weights="w")
    assert [value.hex() for value in shared.get(["f"], weights="w")["f"]] == [value.hex() for value in values]


def test_an_entry_of_other_weights_is_never_given(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c.sqlite")
    cache.put({"k": 1}, model="m", weights="one")
    assert cache.get(["k"], weights="two") == {}
    assert cache.get(["k"], weights="one") == {"k": 1}


def test_entries_are_there_for_the_next_run(tmp_path: Path) -> None:
    first = ResponseCache(tmp_path / "c.sqlite")
    first.put({"k": ["判断"]}, model="m", weights="w")
    first.close()
    assert ResponseCache(tmp_path / "c.sqlite").get(["k"], weights="w") == {"k": ["判断"]}


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    ResponseCache(tmp_path / "c.sqlite")
    assert (tmp_path / "c.sqlite").stat().st_mode & 0o777 == 0o600


def test_the_least_recently_used_entries_go_first(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c.sqlite", limit_bytes=1000)
    for name in "abcdefghi":  # 102 bytes each: 100 letters and two quotes
        cache.put({name: name * 100}, model="m", weights="w")
    assert cache.info().bytes == 9 * 102
    cache.get(["a"], weights="w")
    cache.put({"j": "j" * 100}, model="m", weights="w")  # 1020 > 1000: down to at most 900, eight entries
    left = [name for name in "abcdefghij" if cache.get([name], weights="w")]
    assert left == ["a", "d", "e", "f", "g", "h", "i", "j"]
    assert cache.info().bytes == 8 * 102


def test_pruning_makes_room_in_the_file_too(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c.sqlite")
    for number in range(20):
        cache.put({str(number): "x" * 50_000}, model="m", weights="w")
    before = cache.info()
    assert cache.prune(200_000) == 17
    after = cache.info()
    assert (before.entries, after.entries) == (20, 3)
    assert after.file_bytes < before.file_bytes / 4
    assert cache.prune(0) == 3
    assert cache.info().entries == 0


def test_info_counts_by_model_and_weights(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c.sqlite")
    cache.put({"a": 1, "b": 22}, model="m", weights="w1")
    cache.put({"c": 333}, model="m", weights="w2")
    found = [(entry.model, entry.weights, entry.entries, entry.bytes) for entry in cache.info().models]
    assert found == [("m", "w1", 2, 3), ("m", "w2", 1, 3)]


@pytest.mark.parametrize("column", ["body", "hash", "weights", "key"])
def test_a_damaged_entry_is_a_miss_and_no_number(tmp_path: Path, column: str) -> None:
    cache = ResponseCache(tmp_path / "c.sqlite")
    cache.put({"k": {"label": "1"}}, model="m", weights="w")
    with closing(sqlite3.connect(tmp_path / "c.sqlite")) as db:
        db.execute(f"UPDATE entry SET {column} = replace({column}, '1', '3') || ' '")
        db.commit()
    assert cache.get(["k", "k "], weights="w") == {}
    assert cache.get(["k", "k "], weights="w ") == {}


def test_two_runs_share_it_while_both_have_it_open(tmp_path: Path) -> None:
    one, two = ResponseCache(tmp_path / "c.sqlite"), ResponseCache(tmp_path / "c.sqlite")
    one.put({"a": 1}, model="m", weights="w")
    two.put({"b": 2}, model="m", weights="w")
    assert one.get(["a", "b"], weights="w") == two.get(["a", "b"], weights="w") == {"a": 1, "b": 2}


def test_four_processes_at_once_lose_and_break_nothing(tmp_path: Path) -> None:
    program = """
        import sys
        from pathlib import Path
        from offline_eval.store.cache import ResponseCache
        cache = ResponseCache(Path(sys.argv[1]), lock_timeout_s=60)
        for number in range(10):
            cache.put({f"{sys.argv[2]}-{number}": number}, model="m", weights="w")
            assert cache.get([f"{sys.argv[2]}-{number}"], weights="w")
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "c.sqlite")]
    processes = [subprocess.Popen([*command, str(number)]) for number in range(4)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0, 0]
    assert ResponseCache(tmp_path / "c.sqlite").info().entries == 40


def test_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c.sqlite")
    cache.put({"a": 1}, model="m", weights="w")
    pages = cache._db.execute("PRAGMA page_count").fetchone()[0]
    cache._db.execute(f"PRAGMA max_page_count={pages + 1}")
    with pytest.raises(StoreError, match="full"):
        cache.put({"b": "x" * 100_000}, model="m", weights="w")
    assert cache.get(["a", "b"], weights="w") == {"a": 1}


# --- files that are not ours, or no longer whole ---------------------------------------------------------------------


def foreign(path: Path, what: str) -> None:
    if what == "text":
        path.write_text("my notes, not a database, and long enough to have a header\n" * 20)
        return
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE entry (key TEXT)" if what == "same table" else "CREATE TABLE songs (title TEXT)")
        db.commit()


@pytest.mark.parametrize("what", ["text", "songs", "same table"])
def test_somebody_elses_file_is_refused_and_left_alone(tmp_path: Path, what: str) -> None:
    path = tmp_path / "theirs.sqlite"
    foreign(path, what)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"theirs\.sqlite"):
        ResponseCache(path)
    with pytest.raises(StoreError, match="not a cache of this program"):
        clear_cache(path)
    assert path.read_bytes() == before


def test_a_newer_version_is_refused_by_number(tmp_path: Path) -> None:
    ResponseCache(tmp_path / "c.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "c.sqlite")) as db:
        db.execute("PRAGMA user_version=2")
    with pytest.raises(StoreError, match="has cache version 2, this program writes version 1"):
        ResponseCache(tmp_path / "c.sqlite")


@pytest.mark.parametrize("damage", ["cut", "garbage", "journal"])
def test_a_torn_file_gives_what_was_put_in_or_nothing_and_can_be_cleared(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "c.sqlite"
    cache = ResponseCache(path)
    values = {f"k{number}": f"{number}" * 3000 for number in range(1, 9)}
    for key, value in values.items():
        cache.put({key: value}, model="m", weights="w")
    cache.close()
    whole = path.read_bytes()
    refused = []
    for place in range(200, len(whole), 4000):
        garbage = b"\xa5" * min(5000, len(whole) - place)
        path.write_bytes(whole[:place] if damage == "cut" else whole[:place] + garbage + whole[place + len(garbage) :])
        if damage == "journal":
            path.write_bytes(whole)
            Path(f"{path}-journal").write_bytes(garbage)
        try:
            again = ResponseCache(path)
            found = again.get(list(values), weights="w")
            assert found.items() <= values.items()
            again.close()
        except StoreError as error:
            refused.append(str(error))
    assert bool(refused) is (damage != "journal")
    assert all("the cache cannot be used" in line for line in refused)
    assert clear_cache(path)
    assert not clear_cache(path)
    assert ResponseCache(path).get(list(values), weights="w") == {}


def test_a_killed_writer_leaves_whole_entries(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    cache = ResponseCache(path)
    cache.put({"a": 1}, model="m", weights="w")
    cache._db.execute("PRAGMA cache_size=1")
    cache._db.execute("BEGIN IMMEDIATE")
    for number in range(50):
        row = (f"half{number}", "w", "m", "x" * 4000, "h", 4000, 9)
        cache._db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    shutil.copy(path, tmp_path / "killed.sqlite")
    shutil.copy(f"{path}-journal", tmp_path / "killed.sqlite-journal")
    cache._db.execute("ROLLBACK")
    killed = ResponseCache(tmp_path / "killed.sqlite")
    assert killed.info().entries == 1
    assert killed.get(["a"], weights="w") == {"a": 1}
