"""Parquet files and Hugging Face dataset folders through pyarrow, which is optional and imported only here."""

import json
import math
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from offline_eval.core.errors import UsageError
from offline_eval.formats.problems import Problems
from offline_eval.formats.row import Row
from offline_eval.formats.wording import quoted

_BATCH_ROWS = 1024


def parquet_rows(stream: BinaryIO, problems: Problems) -> Iterator[Row]:
    """Yield the rows of a Parquet file; row numbers stand in for line numbers.

    Raises:
        UsageError: pyarrow is not installed.
    """
    pyarrow = _pyarrow()
    from pyarrow import parquet

    number = 0
    try:
        with parquet.ParquetFile(pyarrow.BufferReader(stream.read())) as file:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                for values in batch.to_pylist():
                    number += 1
                    yield Row(number, plain(values))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        problems.add(None, f"cannot be read as Parquet after row {number} ({error}), expected a whole Parquet file")


def folder_rows(folder: Path, problems: Problems) -> Iterator[Row]:
    """Yield the rows of a dataset saved to disk (`state.json` beside arrow files), numbered through all files.

    Raises:
        UsageError: pyarrow is not installed, or the folder holds several splits.
    """
    if (folder / "dataset_dict.json").is_file():
        folder = _only_split(folder)
    files = _arrow_files(folder, problems)
    if not files:
        return
    pyarrow = _pyarrow()
    number = 0
    for file in files:
        try:
            with pyarrow.OSFile(str(file), "rb") as source, pyarrow.ipc.open_stream(source) as reader:
                for batch in reader:
                    for values in batch.to_pylist():
                        number += 1
                        yield Row(number, plain(values))
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            problems.add(None, f"{file.name} cannot be read after row {number} ({error}), expected an arrow stream")


def plain(value: Any) -> Any:
    """Arrow's Python values as JSON data: dates as ISO text, NaN (how pandas writes "missing") as null."""
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def _only_split(folder: Path) -> Path:
    splits = sorted(path.parent.name for path in folder.glob("*/state.json"))
    if len(splits) != 1:
        found = ", ".join(splits) or "none"
        raise UsageError(f"{folder}: holds the splits {found}; name the folder of one split, e.g. {folder}/{found}")
    return folder / splits[0]


def _arrow_files(folder: Path, problems: Problems) -> list[Path]:
    try:
        state = json.loads((folder / "state.json").read_bytes())
        names = [str(entry["filename"]) for entry in state["_data_files"]]
    except FileNotFoundError:
        problems.add(None, "a folder without state.json, expected a file or a dataset folder written by save_to_disk")
        return []
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        problems.add(None, f"state.json cannot be read ({type(error).__name__}), expected a list `_data_files`")
        return []
    for name in names:
        if Path(name).name != name:
            problems.add(None, f"state.json names {quoted(name)}, expected a file inside the folder")
            return []
    return [folder / name for name in names]


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise UsageError(
            'Parquet files and dataset folders need pyarrow; install it with: pip install "offline-eval[retrieval]"'
        ) from None
    return pyarrow
