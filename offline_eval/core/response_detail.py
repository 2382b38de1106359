"""One response with everything that was found out about it: what a report or a page shows of a single case.

Why in core: the pipeline makes these and reports draw them, and neither may know the other. Why single cases are plain
tuples: a large run has 100,000 parts of them, made here from records that were checked, drawn, and never stored.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import Field

from offline_eval.core.diagnosis import CaseDiagnosis, SystemDiagnosis, Text
from offline_eval.core.evidence import Conflict
from offline_eval.core.records import Record
from offline_eval.core.results import Interval
from offline_eval.core.summary import ResponseView, RunSummary

ClaimState = Literal["supported", "unsupported", "contradicted", "not_checked"]


class MetricCard(Record):
    """What a reader has to know about a metric to read its value.

    Attributes:
        group: Its group, such as `claims`.
        low: Lowest possible value; None where there is none.
        high: Highest possible value; None where there is none.
        meaning: First sentence of its card.
    """

    name: str
    group: str
    low: float | None
    high: float | None
    higher_is_better: bool
    meaning: str


class Mark(NamedTuple):
    """A stretch of a text that something points at.

    Attributes:
        start: First character.
        end: The one after the last.
        kind: A claim of the answer, the sentence nearest to a claim, or a judge's quote.
        label: The claim's number from 1, or the quote's dimension.
    """

    start: int
    end: int
    kind: Literal["claim", "support", "quote"]
    label: str
    state: ClaimState | None = None


class PassageDetail(NamedTuple):
    """A passage as the system saw it.

    Attributes:
        grade: Relevance by the test set's judgements; None when they do not name it.
        cited: Whether the answer cites it.
    """

    id: str
    title: str | None
    text: str
    grade: int | None
    cited: bool
    marks: tuple[Mark, ...]


class ClaimDetail(NamedTuple):
    """A claim, or a key point, with what its support rests on.

    Attributes:
        support: Largest probability of entailment over the premises, in [0, 1]; None when it was not had.
        passage: Number of the best passage, from 1; None when no passage was compared.
        reason: Why it was not checked.
    """

    text: str
    state: ClaimState
    support: float | None = None
    passage: int | None = None
    reason: str | None = None


class Judgement(NamedTuple):
    """One judge's verdict with its reason.

    Attributes:
        quote_verbatim: Whether the quote stands in the material word for word; None without a quote.
    """

    dimension: str
    judge: str
    role: str
    decided_by: str
    label: str | None
    grade: float | None
    probabilities: Mapping[str, float]
    margin: float | None
    status_reason: str | None
    reason: str | None
    quote: str | None
    quote_verbatim: bool | None


class ResponseDetail(NamedTuple):
    """Everything about one response.

    Attributes:
        answer_marks: Where its claims stand in the answer.
        scores: Metric to value.
        unscored: Metric to the reason why it has none.
    """

    view: ResponseView
    tags: tuple[str, ...]
    answerable: bool | None
    refused: bool | None
    error: str | None
    reference: str | None
    answer_marks: tuple[Mark, ...]
    passages: tuple[PassageDetail, ...]
    claims: tuple[ClaimDetail, ...]
    key_points: tuple[ClaimDetail, ...]
    judgements: tuple[Judgement, ...]
    conflicts: tuple[Conflict, ...]
    scores: Mapping[str, float]
    unscored: Mapping[str, str]
    diagnosis: CaseDiagnosis | None


class CurvePoint(Record):
    """Items to which a judge gave about the same probability.

    Attributes:
        said: Mean probability of a pass, in [0, 1].
        found: Share that people passed, in [0, 1].
        interval: Of `found`; None when there are too few.
    """

    said: float
    found: float
    n: int = Field(ge=1)
    interval: Interval | None = None


class Reliability(Record):
    """How a judge's probabilities compare with human labels on one dimension.

    Attributes:
        error: Expected calibration error, in [0, 1].
    """

    judge: str
    dimension: str
    n: int = Field(ge=0)
    points: tuple[CurvePoint, ...]
    error: float | None


class ReportFrame(Record):
    """All that a report shows beside the single responses.

    Attributes:
        order: Response keys, the worst first; those without a value last.
        ordered_by: The metric that decides the order.
        reliability: Empty without human labels.
        diagnosis: Each system's, over its responses.
        diagnoses: Response key to that response's.
        histograms: System to the counts of the ordering metric's values in bins of equal width over its range; empty
            when the metric has no bounds.
        language: The language most cases are in, `zh` or `en`; what a report is written in when nobody says.
        tags_left_out: Tags that are too rare to have a slice.
        warnings: The summary's, in every language.
    """

    summary: RunSummary
    metrics: tuple[MetricCard, ...]
    order: tuple[str, ...]
    ordered_by: str | None
    reliability: tuple[Reliability, ...] = ()
    diagnosis: tuple[SystemDiagnosis, ...] = ()
    diagnoses: dict[str, CaseDiagnosis] = Field(default_factory=dict)
    histograms: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    language: Literal["zh", "en"] = "en"
    tags_left_out: int = 0
    warnings: tuple[Text, ...] = ()
