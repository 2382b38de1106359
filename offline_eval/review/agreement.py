"""How far people agree with the judge, and with each other, with an interval and only from enough labels."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np
from pydantic import JsonValue

from offline_eval.core.records import Record
from offline_eval.review.answers import CANNOT_TELL, ItemAnswers
from offline_eval.stats.agreement import weighted_kappa
from offline_eval.stats.intervals import mean_interval
from offline_eval.stats.measured import Measured, measure, measured

LEAST_LABELS = 20
"""Fewer labels than this give no agreement: its interval would cover most of the range."""

_RESAMPLES = 500  # a page is asked for after every label; two digits of an interval are enough on it
_SEED = 0

Grades = Mapping[str, float]
"""Response key to grade."""


class Agreement(Record):
    """Two columns of grades compared on the responses that have both.

    Attributes:
        part: `random` measures the run; `all` holds the responses picked because something was doubtful, too.
        n: Responses with both grades.
        share: Share with the same grade.
        kappa: Kappa with quadratic weights: agreement beyond chance, where a near miss counts less than a far one.
        withheld: Both are withheld because n is below `LEAST_LABELS`.
    """

    dimension: str
    first: str
    second: str
    part: Literal["random", "all"]
    n: int
    share: Measured | None = None
    kappa: Measured | None = None
    withheld: bool


def compare(
    first: Grades, second: Grades, *, clusters: Mapping[str, str], least: int = LEAST_LABELS
) -> tuple[int, Measured | None, Measured | None]:
    """Share of equal grades and weighted kappa.

    Args:
        first: One side's grades.
        second: The other's.
        clusters: Response key to its case; responses to one case are resampled together.
        least: Fewest responses with both grades.

    Returns:
        How many have both, then the share and the kappa; None for each when there are too few.
    """
    keys = sorted(set(first) & set(second))
    if len(keys) < least:
        return len(keys), None, None
    a, b = (np.array([grades[key] for key in keys]) for grades in (first, second))
    together = [clusters[key] for key in keys]
    equal = (a == b).astype(np.float64)
    interval = mean_interval(equal, low=0.0, high=1.0, clusters=together, seed=_SEED)
    share = measured(float(equal.mean()), interval, n=len(keys))
    kappa = measure(
        partial(weighted_kappa, weights="quadratic"), [a, b], clusters=together, seed=_SEED, resamples=_RESAMPLES
    )
    return len(keys), share, kappa


def with_judges(
    person: str,
    own: Grades,
    judges: Mapping[str, Grades],
    *,
    dimension: str,
    clusters: Mapping[str, str],
    random_part: frozenset[str],
) -> list[Agreement]:
    """One person against every judge, on the random part and on everything.

    Args:
        own: The person's blind grades on the dimension.
        judges: Judge to its grades on the dimension.
        random_part: Keys of the random part.
    """
    found = []
    for judge, grades in judges.items():
        for part in ("random", "all"):
            mine = own if part == "all" else {key: value for key, value in own.items() if key in random_part}
            n, share, kappa = compare(mine, grades, clusters=clusters)
            row = {"dimension": dimension, "first": person, "second": judge, "part": part, "n": n}
            found.append(Agreement.model_validate({**row, "share": share, "kappa": kappa, "withheld": share is None}))
    return found


def between_people(grades: Mapping[str, Grades], *, dimension: str, clusters: Mapping[str, str]) -> list[Agreement]:
    """Every pair of people on the responses both labelled blind.

    Args:
        grades: Person to blind grades on the dimension.
    """
    found = []
    for first, second in combinations(sorted(grades), 2):
        n, share, kappa = compare(grades[first], grades[second], clusters=clusters)
        found.append(
            Agreement(
                dimension=dimension,
                first=first,
                second=second,
                part="all",
                n=n,
                share=share,
                kappa=kappa,
                withheld=share is None,
            )
        )
    return found


def blind_grades(
    states: Mapping[str, ItemAnswers], dimension: str, grade_of: Mapping[str, float | None]
) -> dict[str, float]:
    """One person's grades that the judge's verdict cannot have swayed.

    Args:
        states: Response key to the person's answers.
        grade_of: Label to grade.
    """
    found = {}
    for key, state in states.items():
        answer = state.labels.get(dimension)
        grade = grade_of.get(answer.value) if answer is not None and answer.value != CANNOT_TELL else None
        if answer is not None and answer.blind and grade is not None:
            found[key] = grade
    return found


def agreement_rows(found: Sequence[Agreement]) -> list[dict[str, JsonValue]]:
    """Comparisons as flat rows for programs and tables; a missing number stands beside its reason."""
    rows: list[dict[str, JsonValue]] = []
    for entry in found:
        row: dict[str, JsonValue] = {
            "dimension": entry.dimension,
            "first": entry.first,
            "second": entry.second,
            "part": entry.part,
            "n": entry.n,
        }
        for name, part in (("same", entry.share), ("kappa", entry.kappa)):
            interval = part.interval if part else None
            row |= {name: part.value if part else None, f"{name}_low": interval.low if interval else None}
            row |= {f"{name}_high": interval.high if interval else None}
        row["reason"] = _reason(entry)
        rows.append(row)
    return rows


def _reason(entry: Agreement) -> str | None:
    if entry.withheld:
        return f"withheld below {LEAST_LABELS} labels"
    parts = [part for part in (entry.share, entry.kappa) if part is not None]
    return next((why for part in parts if (why := part.reason or part.interval_reason)), None)
