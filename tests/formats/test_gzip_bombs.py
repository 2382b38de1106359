"""A small gzip file that unpacks to gigabytes is refused while it is read, by every reader."""

import gzip
import io
from pathlib import Path

import pytest

from offline_eval.core.errors import DataError
from offline_eval.formats.gzipped import unpacked
from offline_eval.formats.lines import numbered_lines
from offline_eval.formats.reader import read_cases

MIB = 1 << 20


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """80 MiB of one letter in about 80 KiB: a thousandfold."""
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=9) as packed:
        for _ in range(80):
            packed.write(b"a" * MIB)
    return stream.getvalue()


def test_a_bomb_is_refused_by_every_reader(bomb: bytes, tmp_path: Path) -> None:
    assert len(bomb) < MIB
    for name in ("x.jsonl.gz", "x.csv.gz", "x.json.gz", "x.gz"):
        (tmp_path / name).write_bytes(bomb)
        with pytest.raises(DataError, match="200 times"):
            read_cases(tmp_path / name)
    with pytest.raises(DataError, match="200 times"):
        list(numbered_lines(tmp_path / "x.gz"))


def test_ordinary_gzip_of_any_members_comes_through_whole() -> None:
    text = "".join(f"年假为{n}天。\n" for n in range(20_000)).encode()
    packed = gzip.compress(text[:1000]) + gzip.compress(text[1000:])
    assert unpacked(io.BytesIO(packed)).read() == text
    assert list(unpacked(io.BytesIO(packed))) == text.splitlines(keepends=True)
