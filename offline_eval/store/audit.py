"""Derives a run file's hash chain again and names the first row that does not fit."""

from offline_eval.core.errors import StoreError
from offline_eval.core.records import Record
from offline_eval.store.run_file import GENESIS, LogRow, RunFile, run_file_schema

_SEAL_DIGITS = 16  # as many as a report prints


class AuditResult(Record):
    """What an audit found.

    Attributes:
        rows: Rows that fit, up to the first fault.
        head: Hash of the last row that fits.
        fault: What is wrong and at which row; None when nothing is.
    """

    rows: int
    head: str
    fault: str | None


def audit(run_file: RunFile, *, sealed_head: str | None = None) -> AuditResult:
    """Check every row against the chain, the chain's end against a head sealed elsewhere, and then the file itself.

    What protects the rows (tables, indexes, triggers) must be as it was made, and SQLite's own check must find nothing.

    Args:
        sealed_head: The head hash printed in a report, or its first 16 digits or more; without it a cut tail or a chain
            rebuilt from the start cannot be seen.
    """
    previous, count = GENESIS, 0
    try:
        for row in run_file.rows():
            fault = _fault(row, count, previous)
            if fault is not None:
                return AuditResult(rows=count, head=previous, fault=fault)
            previous, count = row.hash, count + 1
    except StoreError as error:
        return AuditResult(rows=count, head=previous, fault=f"row {count + 1}: {error}")
    if sealed_head is None or _is_sealed_by(previous, sealed_head):
        return AuditResult(rows=count, head=previous, fault=_fault_of_file(run_file))
    fault = (
        f"the file ends with {previous[:_SEAL_DIGITS]} after row {count}; the sealed head is {sealed_head}: rows were "
        "added, cut off, or the chain was rebuilt"
    )
    return AuditResult(rows=count, head=previous, fault=fault)


def require_intact(run_file: RunFile) -> None:
    """Refuse to go on with a file that does not fit its own chain.

    Raises:
        StoreError: It does not; names the first row that does not fit.
    """
    found = audit(run_file)
    if found.fault is not None:
        raise StoreError(
            f"{run_file.path}: {found.fault}; the file was altered or is damaged, so nothing is added to it: restore "
            "it from a copy, or move it away and run again"
        )


def _fault_of_file(run_file: RunFile) -> str | None:
    try:
        found, expected = run_file.schema(), run_file_schema()
        problem = run_file.integrity_problem()
    except StoreError as error:
        return str(error)
    names = {(kind, name) for kind, name, _ in expected}
    for kind, name, _ in sorted(found - expected):
        return f"{kind} {name}: " + ("was altered" if (kind, name) in names else "does not belong to a run file")
    for kind, name, _ in sorted(expected - found):
        return f"{kind} {name}: is missing, and the rows lack its protection"
    return None if problem is None else f"the file is damaged: {problem}"


def _fault(row: LogRow, count: int, previous: str) -> str | None:
    if row.seq != count + 1:
        return f"row {count + 1}: removed or moved (the next row is {row.seq})"
    if row.previous != previous:
        return f"row {row.seq}: does not follow the row before it; one of the two was altered, inserted or removed"
    if not row.is_whole:
        return f"row {row.seq} ({row.kind} {row.key}): altered"
    return None


def _is_sealed_by(head: str, sealed: str) -> bool:
    return len(sealed) >= _SEAL_DIGITS and head.startswith(sealed.lower())
