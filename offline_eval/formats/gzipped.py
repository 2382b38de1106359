"""Unpacks gzip, but no bomb: a small file that would unpack to gigabytes is refused while it is read."""

import gzip
import io
from typing import Any, BinaryIO, cast

MOST_FOLD = 200  # text and JSON shrink 3 to 20 times, a bomb 1,000 times
_ALWAYS = 64 << 20  # bytes any file may unpack to


def unpacked(packed: BinaryIO) -> io.BufferedReader:
    """The content of a gzip stream, unpacked as it is read.

    Raises:
        OSError: While reading: damaged, or more than `MOST_FOLD` times as large as what it was packed into.
    """
    return io.BufferedReader(_Unpacking(packed))


class _Counting:
    """Counts what is read through it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.size += len(data)
        return data


class _Unpacking(io.RawIOBase):
    def __init__(self, packed: BinaryIO) -> None:
        self._packed = _Counting(packed)
        self._content = gzip.GzipFile(fileobj=cast(BinaryIO, self._packed), mode="rb")
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._content.read1(len(buffer))
        self._size += len(data)
        if self._size > max(_ALWAYS, MOST_FOLD * self._packed.size):
            raise gzip.BadGzipFile(
                f"it unpacks to more than {MOST_FOLD} times its size; if that is meant, unpack it first"
            )
        buffer[: len(data)] = data
        return len(data)
