"""What a test set is made of, how far its questions' words are from their passages, and how large a difference it sees.

Why the distance: questions that repeat their passage's words flatter every word search, and real users do not ask so.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import fsum
from typing import Literal

from offline_eval.core.records import Case, Passage, Record
from offline_eval.core.results import Interval
from offline_eval.stats.intervals import mean_interval
from offline_eval.stats.power import SizeAdvice, size_advice
from offline_eval.stats.undefined import Undefined
from offline_eval.testset.draft import QUESTION_TYPES
from offline_eval.text.language import detect_language
from offline_eval.text.query_type import classify_query
from offline_eval.text.words import content_words

_SEED = 0
_GENERATED = frozenset(kind.replace("_", "-") for kind in QUESTION_TYPES)

NoneSeen = Literal["too_few_cases", "none_within_range"]
UNSTATED = "–"


class Share(Record):
    """How many cases have one value of one property.

    Attributes:
        share: Of all cases, in [0, 1].
    """

    property: str
    value: str
    n: int
    share: float


class Distance(Record):
    """How far questions are from their expected passages, by words.

    Attributes:
        group: `all` or a type.
        mean: 0: every content word of the question stands in the passage; 1: none does. None without any case.
        n: Cases with an expected passage that was given and a question with content words.
        reason: Why there is no mean or no interval.
    """

    group: str
    mean: float | None
    interval: Interval | None
    n: int
    reason: str | None = None


class Detectable(Record):
    """What a number of cases can show, as far as scores reach.

    Attributes:
        scope: `all`, or a type.
        wanted: The least number asked for.
        smallest_difference: Between two systems, in the score's unit; None with a reason.
        difference_reason: `too_few_cases` below 2; `none_within_range` where no two means can be so far apart.
        half_width: Of one system's interval, in the score's unit; None with a reason.
        half_width_reason: Likewise; `none_within_range` where the interval would be wider than the range.
    """

    scope: str
    n: int
    wanted: int
    enough: bool
    smallest_difference: float | None
    difference_reason: NoneSeen | None = None
    half_width: float | None
    half_width_reason: NoneSeen | None = None


class SetStatistics(Record):
    """Everything about one test set.

    Attributes:
        guessed_types: Cases whose type was not given and was guessed by its words.
        no_passage: Cases that name no expected passage, or none of the given corpus.
        detectable: How large a difference between two systems it can show, in all and by type.
    """

    n_cases: int
    shares: tuple[Share, ...]
    guessed_types: int
    distances: tuple[Distance, ...]
    no_passage: int | None
    low: float
    high: float
    detectable: tuple[Detectable, ...]


def set_statistics(
    cases: Sequence[Case],
    *,
    passages: Mapping[str, Passage] | None = None,
    low: float,
    high: float,
    sd: float | None = None,
    sd_difference: float | None = None,
    formal: bool = False,
) -> SetStatistics:
    """Describe a test set.

    Args:
        passages: The corpus, or the expected passages alone, by id; None leaves the distance out.
        low: Lowest value of the score that is planned for, finite.
        high: Highest value.
        sd: Measured standard deviation of one system's scores; the widest possible one when None.
        sd_difference: Measured standard deviation of the differences between two systems; likewise.
        formal: Whether the result goes into a formal report.

    Raises:
        DataError: A range that is empty or not finite.
    """
    types = {case.id: case.query_type or classify_query(case.query).type for case in cases}
    counts = Counter(types.values())
    distances = None if passages is None else _distances(cases, passages)
    return SetStatistics(
        n_cases=len(cases),
        shares=tuple(_shares(cases, types)),
        guessed_types=sum(case.query_type is None for case in cases),
        distances=tuple(_by_group(distances, types)) if distances is not None else (),
        no_passage=None if distances is None else len(cases) - len(distances),
        low=low,
        high=high,
        detectable=tuple(
            _detectable(advice, high - low)
            for advice in size_advice(
                dict(sorted(counts.items())), low=low, high=high, sd=sd, sd_difference=sd_difference, formal=formal
            )
        ),
    )


def _detectable(advice: SizeAdvice, span: float) -> Detectable:
    difference, difference_reason = _within(advice.smallest_difference, span)
    half_width, half_width_reason = _within(advice.half_width, span / 2)
    return Detectable(
        scope=advice.scope,
        n=advice.n,
        wanted=advice.wanted,
        enough=advice.enough,
        smallest_difference=difference,
        difference_reason=difference_reason,
        half_width=half_width,
        half_width_reason=half_width_reason,
    )


def _within(value: float | None, most: float) -> tuple[float | None, NoneSeen | None]:
    """A value with no reason, or none with one."""
    if value is None:
        return None, "too_few_cases"
    return (None, "none_within_range") if value > most else (value, None)


def lexical_distance(question: str, passage: str) -> float | None:
    """Share of a question's different content words that do not stand in a passage.

    Args:
        question: Its content words are counted once each.
        passage: Title and text.

    Returns:
        0 (all there) to 1 (none there); None for a question without content words.
    """
    asked = set(content_words(question))
    return len(asked - set(content_words(passage))) / len(asked) if asked else None


def _distances(cases: Sequence[Case], passages: Mapping[str, Passage]) -> dict[str, float]:
    """Case id to the distance to its nearest expected passage."""
    found = {}
    for case in cases:
        expected = [passages[id] for id, grade in case.relevant_passages.items() if grade > 0 and id in passages]
        values = [lexical_distance(case.query, f"{passage.title or ''}\n{passage.text}") for passage in expected]
        scored = [value for value in values if value is not None]
        if scored:
            found[case.id] = min(scored)
    return found


def _by_group(distances: Mapping[str, float], types: Mapping[str, str]) -> list[Distance]:
    groups = {"all": list(distances.values())}
    for case_id, value in distances.items():
        groups.setdefault(types[case_id], []).append(value)
    return [_distance(name, groups[name]) for name in ("all", *sorted(groups.keys() - {"all"}))]


def _distance(group: str, values: Sequence[float]) -> Distance:
    if not values:
        return Distance(group=group, mean=None, interval=None, n=0, reason="no case has an expected passage")
    interval = mean_interval(values, low=0.0, high=1.0, seed=_SEED)
    mean = fsum(values) / len(values)
    if isinstance(interval, Undefined):
        return Distance(group=group, mean=mean, interval=None, n=len(values), reason=interval.reason)
    return Distance(group=group, mean=mean, interval=interval, n=len(values))


def _shares(cases: Sequence[Case], types: Mapping[str, str]) -> list[Share]:
    answerable = {True: "yes", False: "no", None: UNSTATED}
    properties: dict[str, Callable[[Case], str]] = {
        "type": lambda case: types[case.id],
        "difficulty": lambda case: case.difficulty or UNSTATED,
        "language": lambda case: case.language or detect_language(case.query),
        "answerable": lambda case: answerable[case.answerable],
        "origin": lambda case: case.origin or UNSTATED,
    }
    if any(_generated_type(case) for case in cases):
        properties["generated_type"] = lambda case: _generated_type(case) or UNSTATED
    found = []
    for name, value_of in properties.items():
        counts = Counter(map(value_of, cases))
        for value, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            found.append(Share(property=name, value=value, n=n, share=n / len(cases)))
    return found


def _generated_type(case: Case) -> str | None:
    """What the case was generated as, which its type does not say of counterfactual or unanswerable ones."""
    is_generated = case.origin in (None, "generated")
    return next((tag for tag in case.tags if tag in _GENERATED), None) if is_generated else None
