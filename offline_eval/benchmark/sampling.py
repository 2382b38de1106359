"""A seeded part of a label set that keeps whole clusters, so that a quick look is the same look every time."""

from collections.abc import Sequence

from offline_eval.benchmark.labels import LabelRow
from offline_eval.core.hashing import digest


def sample(rows: Sequence[LabelRow], most: int, *, seed: int) -> list[LabelRow]:
    """Draw whole clusters until no further one fits.

    Args:
        rows: To draw from.
        most: Rows wanted at most, 1 or more.
        seed: Which draw.

    Returns:
        At most `most` rows in their old order; a cluster larger than `most` alone is never drawn.
    """
    if len(rows) <= most:
        return list(rows)
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row.cluster_name] = sizes.get(row.cluster_name, 0) + 1
    drawn: set[str] = set()
    room = most
    for name in sorted(sizes, key=lambda name: digest("sample", [seed, name])):
        if sizes[name] <= room:
            drawn.add(name)
            room -= sizes[name]
    return [row for row in rows if row.cluster_name in drawn]
