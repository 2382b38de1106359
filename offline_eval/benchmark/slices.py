"""Agreement on parts of a label set: a judge that is fine on the whole may be useless in Chinese or on long answers."""

from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from offline_eval.benchmark.agreement_table import with_failures
from offline_eval.benchmark.labels import JudgedRow, LabelRow, LabelSet
from offline_eval.benchmark.table_records import SliceLine
from offline_eval.core.results import Status
from offline_eval.stats.intervals import RESAMPLES, mean_interval
from offline_eval.stats.measured import measured

LEAST_ROWS = 10


def slice_lines(
    label_set: LabelSet, answers: Mapping[str, Sequence[JudgedRow]], *, seed: int, resamples: int = RESAMPLES
) -> list[SliceLine]:
    """Agreement by the rows' own slices, by language and by the answers' length.

    Failed rows count as disagreement, as in the table. Parts with fewer than ten settled rows are left out.

    Args:
        answers: Judge to its answers, one a row.
    """
    parts = _parts(label_set)
    found = []
    for (name, value), places in parts.items():
        for judge, given in answers.items():
            rows = [(label_set.rows[at], given[at]) for at in places if given[at].status is not Status.NOT_APPLICABLE]
            if len(rows) < LEAST_ROWS:
                continue
            hits = np.array([float(with_failures(label_set, row, answer) == row.human) for row, answer in rows])
            clusters = [row.cluster_name for row, _ in rows]
            interval = mean_interval(hits, low=0.0, high=1.0, clusters=clusters, seed=seed, resamples=resamples)
            agreement = measured(float(hits.mean()), interval, n=len(rows))
            found.append(SliceLine(slice=name, value=value, judge=judge, agreement=agreement))
    return found


def _parts(label_set: LabelSet) -> dict[tuple[str, str], list[int]]:
    """Slice and value to the places of settled rows; slices with one value tell nothing and are left out."""
    half = median(_length(row) for row in label_set.rows)
    values: dict[str, dict[str, list[int]]] = {}
    for at, row in enumerate(label_set.rows):
        if row.human is None:
            continue
        length = f"up to {half:g} characters" if _length(row) <= half else f"above {half:g} characters"
        for name, value in {**row.slices, "language": row.spoken, "length": length}.items():
            values.setdefault(name, {}).setdefault(value, []).append(at)
    return {
        (name, value): places
        for name, by_value in sorted(values.items())
        if len(by_value) > 1
        for value, places in sorted(by_value.items())
    }


def _length(row: LabelRow) -> int:
    """Of what was labelled, in characters; of the passages where nothing was answered."""
    answers = [row.answer, row.answer_a or "", row.answer_b or ""]
    return sum(map(len, answers)) or sum(len(passage.text) for passage in row.passages)
