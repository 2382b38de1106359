"""A file of human labels → the grades that a report compares a run's judges with."""

from pathlib import Path
from statistics import fmean

from offline_eval.core.errors import DataError

_BINARY = {0.0: 1.0, 1.0: 3.0}  # not supported is a fail, supported the best grade


def read_grades(path: Path) -> dict[tuple[str, str], float]:
    """Response key and dimension to the mean of the raters' grades, 1 to 3.

    Args:
        path: As `labels export` writes it, or any file that `benchmark` reads and that names responses of the run.

    Raises:
        DataError: The file cannot be read, or none of its rows names a response.
    """
    from offline_eval.benchmark.label_files import read_label_file

    rows = [row for row in read_label_file(path) if row.response_key is not None and row.kind != "pairwise"]
    if not rows:
        raise DataError(
            f"{path}: no row names a response (response_key); write the file with `offline-eval labels export`"
        )
    return {
        (str(row.response_key), row.dimension): fmean(
            _BINARY[code] if row.kind == "binary" else code for code in row.codes.values()
        )
        for row in rows
    }
