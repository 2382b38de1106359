"""Derives a run file's hash chain again and names the first row that does not fit."""

from offline_eval.core.records import Record
from offline_eval.store.run_file import GENESIS, RunFile, row_hash


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
    """Check every row against the chain, and the chain's end against a head sealed elsewhere.

    Args:
        sealed_head: The head hash printed in a report; without it a cut tail or a chain rebuilt from the start cannot
            be seen.
    """
    previous, count = GENESIS, 0
    for row in run_file.rows():
        fault = None
        if row.seq != count + 1:
            fault = f"row {count + 1}: removed or moved (the next row is {row.seq})"
        elif row.previous != previous:
            fault = f"row {row.seq}: does not follow the row before it; one of the two was altered, inserted or removed"
        elif row.hash != row_hash(row.seq, row.kind, row.batch, key=row.key, body=row.body, previous=row.previous):
            fault = f"row {row.seq} ({row.kind} {row.key}): altered"
        if fault is not None:
            return AuditResult(rows=count, head=previous, fault=fault)
        previous, count = row.hash, count + 1
    if sealed_head is not None and sealed_head != previous:
        fault = (
            f"the file ends with {previous[:12]} after row {count}; the sealed head is {sealed_head[:12]}: rows were "
        )
        return AuditResult(rows=count, head=previous, fault=fault + "added, cut off, or the chain was rebuilt")
    return AuditResult(rows=count, head=previous, fault=None)
