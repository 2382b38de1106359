"""What a finished run says, as data: the one record from which every report is drawn."""

from typing import Literal

from pydantic import Field

from offline_eval.core.certification import Certification
from offline_eval.core.manifest import Manifest
from offline_eval.core.records import Record
from offline_eval.core.results import Estimate, Interval


class Correlation(Record):
    """How two dimensions move together; above about .8 the second one buys nothing, .3 to .5 is healthy.

    Attributes:
        value: Spearman's rho in [-1, 1]; None when it is undefined, with the reason.
        n: Responses that have both.
    """

    first: str
    second: str
    value: float | None
    interval: Interval | None
    n: int
    reading: Literal["redundant", "healthy", "other", "undefined"]
    reason: str | None = None


class ResponseView(Record):
    """One response as a person wants to see it: what was asked, answered, graded and why.

    Attributes:
        grades: Dimension to grade.
        missing: Dimension to the reason why there is no grade.
        notes: `dimension (judge): reason` lines, with the quoted evidence.
        fault: The name of a fault that was built into a demo response.
    """

    response_key: str
    case_id: str
    system: str
    language: str
    query_type: str
    query: str
    answer: str
    total: float | None
    total_reason: str | None = None
    grades: dict[str, float] = Field(default_factory=dict)
    missing: dict[str, str] = Field(default_factory=dict)
    review_reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fault: str | None = None


class RefusalTable(Record):
    """Answerable × answered, over the cases that say whether they are answerable.

    Attributes:
        unknown: Responses whose case does not say.
        failed: Responses without an answer because the system failed.
    """

    system: str
    answerable_answered: int = 0
    answerable_refused: int = 0
    unanswerable_answered: int = 0
    unanswerable_refused: int = 0
    unknown: int = 0
    failed: int = 0


class JudgeCount(Record):
    """What one judge did.

    Attributes:
        reasons_failed: Reasons that could not be had; their verdicts stand.
        quotes_verbatim: Evidence quotes that stand in the material word for word, of `quotes`.
        off_label_mass: Mean probability outside the labels, in [0, 1]; None without probabilities.
    """

    judge: str
    engine: str
    guarantee: str
    verdicts: int
    failed: int
    by_label: dict[str, int]
    reasons: int
    reasons_failed: int
    quotes: int
    quotes_verbatim: int
    off_label_mass: float | None
    prompt_tokens: int
    output_tokens: int


class ScreenCount(Record):
    """What the encoder settled before the judges were asked.

    Attributes:
        settled: Responses whose verdict the screen gave.
        asked: Responses that the screen or a judge graded.
        calls_saved: Settled responses that no judge was asked about.
        control: Judges' verdicts on settled responses that were judged all the same.
        agreed: Of `control`, those with the screen's grade.
        interval: Of the agreement; None without a control.
    """

    dimension: str
    settled: int
    asked: int
    calls_saved: int
    control: int
    agreed: int
    interval: Interval | None


class ErrorRates(Record):
    """How often a judge was right about labelled items, from its passport; enough to correct a rate it measured.

    Attributes:
        rubric: `name.language@version`.
        pass_from: Lowest grade that counts as a pass.
        true_positive: Labelled passes the judge passed, of `n_positive`.
        true_negative: Labelled failures the judge failed, of `n_negative`.
        labels: Name of the label set.
        date: When the passport was made, ISO 8601.
    """

    judge: str
    weights_hash: str
    rubric: str
    pass_from: float
    true_positive: int = Field(ge=0)
    n_positive: int = Field(ge=0)
    true_negative: int = Field(ge=0)
    n_negative: int = Field(ge=0)
    labels: str
    labels_hash: str
    date: str


class PassRate(Record):
    """The share of a system's answers that a judge passed, raw and put right with its passport's error rates.

    Attributes:
        n: Answers the judge was asked about; rules' verdicts and what does not apply are left out.
        n_failed: Of those, answers without a verdict; they count as not passed.
        raw: In [0, 1].
        value: Corrected, in [0, 1]; None when it cannot be, with the reason.
        n_labels: Labelled items the error rates come from.
    """

    system: str
    judge: str
    rubric: str
    n: int
    n_failed: int
    raw: float
    raw_interval: Interval | None
    value: float | None
    interval: Interval | None
    reason: str | None = None
    labels: str
    n_labels: int


class RunSummary(Record):
    """A run's results.

    Attributes:
        engines: Kind of engine to the model the checks asked.
        encoders_run_in: Number format of the encoders, and their engine where it is not the usual one; None without
            an encoder.
        screen: None when every answer went to the judges.
        pass_rates: Raw and corrected, of judges that had a passport when the run began.
        manifest: What exactly was run, by whom and when.
        certification: Whether the verdicts come out the same again, as measured at the start.
        refused_attempts: Calls that wanted to leave this machine and were refused, in all processes of the run.
        estimates: Group `all` for each system and metric first, then slices such as `query_type=factual`.
        labels: System to dimension to label to count.
        level_names: Label to its display names, in every language the panel's rubrics were used in.
        by_rule: Verdicts decided without a model.
        review_shares: Routing rule to the share of responses it sent to review, in [0, 1].
        worst: Lowest totals first.
        head: Hash of the run file's last row when it was read.
    """

    run_id: str
    head: str
    panel: str
    weights: dict[str, float]
    weights_by_query_type: dict[str, dict[str, float]]
    judges: dict[str, tuple[str, ...]]
    engine: str
    dtype: str
    encoders_run_in: str | None = None
    seed: int
    cases_hash: str
    responses_hash: str
    n_cases: int
    n_responses: int
    systems: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    labels: dict[str, dict[str, dict[str, int]]]
    level_names: dict[str, str]
    correlations: tuple[Correlation, ...]
    refusals: tuple[RefusalTable, ...]
    judge_counts: tuple[JudgeCount, ...]
    n_verdicts: int
    n_failed: int
    n_not_applicable: int
    by_rule: int
    review: tuple[ResponseView, ...]
    review_share: float
    review_shares: dict[str, float]
    engines: dict[str, str] = Field(default_factory=dict)
    screen: ScreenCount | None = None
    pass_rates: tuple[PassRate, ...] = ()
    certification: Certification | None = None
    manifest: Manifest | None = None
    refused_attempts: int = 0
    worst: tuple[ResponseView, ...]
    advice: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def failed_share(self) -> float:
        """Failed verdicts among all that apply, in [0, 1]."""
        applicable = self.n_verdicts - self.n_not_applicable
        return self.n_failed / applicable if applicable else 0.0

    @property
    def failed_scores_share(self) -> float:
        """The largest share of failed scores among those that apply, over metrics and systems, in [0, 1]."""
        overall = [e for e in self.estimates if e.group == "all" and e.n_scored + e.n_failed]
        return max((e.n_failed / (e.n_scored + e.n_failed) for e in overall), default=0.0)
