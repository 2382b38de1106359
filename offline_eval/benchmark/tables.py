"""Label sets and everybody's answers → the tables: lines ranked, people's ceiling beside them, pairs compared."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from offline_eval.benchmark.agreement_table import ceiling, judge_line, level_name, ranked_by
from offline_eval.benchmark.comparison import judge_pairs
from offline_eval.benchmark.labels import JudgedRow, LabelSet
from offline_eval.benchmark.slices import slice_lines
from offline_eval.benchmark.table_records import Cost, JudgeLine, LabelTable, Role
from offline_eval.stats.intervals import RESAMPLES
from offline_eval.stats.measured import Measured
from offline_eval.stats.undefined import Undefined


class Given(NamedTuple):
    """What one judge, panel, encoder or baseline said about a set.

    Attributes:
        answers: One a row, in order.
        cost: None to count tokens alone.
    """

    role: Role
    answers: Sequence[JudgedRow]
    cost: Cost | None = None


def label_table(
    label_set: LabelSet,
    given: Mapping[str, Given],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    notes: Sequence[str] = (),
) -> LabelTable:
    """The table of one set.

    Args:
        given: Name in the table to answers; whom nothing of the set applies to is named in a note instead.
        seed: Of all intervals and tests.
        resamples: Of all intervals.
        notes: Put below the table.
    """
    people = ceiling(label_set, seed=seed, resamples=resamples)
    bars: dict[str, Measured] = {} if isinstance(people, Undefined) else people
    lines = [
        _with_share(
            judge_line(
                label_set, name, found.answers, role=found.role, cost=found.cost, seed=seed, resamples=resamples
            ),
            bars,
        )
        for name, found in given.items()
    ]
    idle = [line for line in lines if not line.n]
    order = sorted((line for line in lines if line.n), key=lambda line: _place(line, ranked_by(label_set.kind)))
    answers = {line.judge: given[line.judge].answers for line in order}
    human = Counter(level_name(label_set, row.human) for row in label_set.rows if row.human is not None)
    return LabelTable(
        name=label_set.name,
        kind=label_set.kind,
        dimension=label_set.dimension,
        labels_hash=label_set.labels_hash,
        ranked_by=ranked_by(label_set.kind),
        n_rows=len(label_set.rows),
        n_unsettled=sum(row.human is None for row in label_set.rows),
        n_clusters=len({row.cluster_name for row in label_set.rows}),
        raters=len(label_set.raters),
        languages=dict(Counter(row.spoken for row in label_set.rows).most_common()),
        human=dict(sorted(human.items())),
        ceiling=bars,
        ceiling_reason=people.reason if isinstance(people, Undefined) else None,
        lines=tuple(order),
        pairs=tuple(judge_pairs(label_set, answers, order, seed=seed, resamples=resamples)),
        slices=tuple(slice_lines(label_set, answers, seed=seed, resamples=resamples)),
        notes=(*notes, *(f"{line.judge} was not asked: {', '.join(line.reasons)}" for line in idle)),
    )


def _place(line: JudgeLine, measure: str) -> tuple[bool, float, float, str]:
    """Best first; no value last; equals by agreement, then by name."""
    value = line.measures[measure].value if measure in line.measures else None
    agreement = line.measures["agreement"].value if "agreement" in line.measures else None
    return value is None, -(value or 0.0), -(agreement or 0.0), line.judge


def _with_share(line: JudgeLine, bars: Mapping[str, Measured]) -> JudgeLine:
    shares = {
        name: found.value / bar
        for name, found in line.measures.items()
        if found.value is not None and name in bars and (bar := bars[name].value or 0.0) > 0
    }
    return line.model_copy(update={"share_of_ceiling": shares})
