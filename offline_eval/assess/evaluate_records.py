"""What an evaluation of assessments reports: every number with its interval and count, every rule in words."""

from pydantic import Field

from offline_eval.assess.evaluate_truth import Truth
from offline_eval.confidence.profile import Tier
from offline_eval.confidence.signals import Signal
from offline_eval.core.records import Record
from offline_eval.core.response_detail import CurvePoint
from offline_eval.stats.measured import Measured
from offline_eval.stats.recalibration import CalibrationMap, CalibrationReport
from offline_eval.stats.selective import RiskPoint


class EvaluatedItem(Record):
    """One response with its assessment.

    Attributes:
        answerable: As the case says; None when it does not.
        confidence: In [0, 1]; None when the assessment has no number.
        problem: Why there is no assessment; the item then counts as the lowest tier.
        retrieval_score: The best passage's score; None without passages.
        ms: Stage to milliseconds, and `total`; empty for a cached result.
    """

    case_id: str
    system: str
    response_key: str
    language: str
    answerable: bool | None
    truth: Truth
    tier: Tier
    confidence: float | None = Field(default=None, ge=0, le=1)
    limiting: str | None = None
    signals: tuple[Signal, ...] = ()
    problem: str | None = None
    retrieval_score: float | None = None
    ms: dict[str, float] = Field(default_factory=dict)


class PolicyMeasures(Record):
    """What one way of deciding does.

    Attributes:
        policy: `assessed`, `always answer` or `retrieval score`.
        caught: Of the wrong assertions, the share that was not given as sure.
        withheld_wrong: Of the wrong assertions, the share that was not given at all.
        effective_refusal: Of the responses to cases nobody can answer, but for those that rightly correct the question,
            the share with nothing asserted in the end.
        wrong_refusal: Of the responses to cases that can be answered, the share with nothing asserted in the end.
        right_withheld: Of the right assertions, the share that was not given.
        right_given: Of the assertions given, with or without a doubt, the share that is right.
        right_sure: Of the assertions given as sure, the share that is right.
        calibration_error: Expected calibration error of the confidence; not defined for a retrieval score.
        aurc: Area under the risk-coverage curve over the assertions; lower is better.
    """

    policy: str
    caught: Measured
    withheld_wrong: Measured
    effective_refusal: Measured
    wrong_refusal: Measured
    right_withheld: Measured
    right_given: Measured
    right_sure: Measured
    calibration_error: Measured
    aurc: Measured
    curve: tuple[RiskPoint, ...] = ()


class AreaDifference(Record):
    """The assessed area less a baseline's, on the same answers; below 0 the assessment is better."""

    baseline: str
    difference: Measured
    verdict: str


class ReviewLoad(Record):
    """How many answers a person has to look at so that the rest reaches an accuracy.

    Attributes:
        threshold: Confidence from which nothing is looked at, chosen on one half of the cases; None when none reaches
            the target there.
        load: Share below the threshold on the other half.
        accuracy: Share of right ones at or above it there.
        load_fit: The load on the half it was chosen on, which flatters it.
    """

    target: float
    threshold: float | None
    reason: str | None = None
    load: Measured
    accuracy: Measured
    load_fit: float | None = None


class CalibrationFit(Record):
    """A map from confidence to probability, fitted on one half of the cases and reported on the other."""

    map: CalibrationMap | None = None
    report: CalibrationReport | None = None
    reason: str | None = None


class Ablation(Record):
    """What a signal contributes: the same answers with the signal's weight and vetoes taken out.

    Attributes:
        aurc: Without the signal; None where nothing else has a weight.
        change: Area without it less area with it; above 0 the signal helps.
        caught: Share of wrong assertions that are still caught.
        wrong_refusal: Wrong refusals without it.
    """

    signal: str
    weight: float
    aurc: Measured
    change: Measured
    caught: Measured
    wrong_refusal: Measured
    n_scored: int = Field(ge=0)


class Latency(Record):
    """How long a stage took, in milliseconds."""

    stage: str
    n: int = Field(ge=0)
    p50: float
    p95: float
    p99: float
    most: float


class GroupReport(Record):
    """All measures over the responses of one system, or of all.

    Attributes:
        n: Responses.
        n_asserted: Those that assert something and whose rightness is known: the base of every curve.
        n_wrong: Wrong ones among them.
        n_without_number: Assertions whose assessment has no confidence; they rank last.
        n_unknown: Assertions that are left out because nobody knows whether they are right.
        ablations: Of the first group alone, which is all systems together where there are several.
    """

    group: str
    n: int = Field(ge=0)
    n_answerable: int = Field(ge=0)
    n_unanswerable: int = Field(ge=0)
    n_asserted: int = Field(ge=0)
    n_wrong: int = Field(ge=0)
    n_without_number: int = Field(ge=0)
    n_unknown: int = Field(ge=0)
    policies: tuple[PolicyMeasures, ...]
    least_area: float | None
    differences: tuple[AreaDifference, ...]
    reliability: tuple[CurvePoint, ...]
    review: ReviewLoad
    calibration: CalibrationFit
    ablations: tuple[Ablation, ...] = ()


class EvaluationReport(Record):
    """The whole evaluation.

    Attributes:
        truth: The rule of rightness, in words.
        notes: What a reader should know: which retrieval scores were used, what failed.
        items: Every response, so that all of this can be computed again without a model.
    """

    truth: str
    profile: str
    versions: dict[str, str] = Field(default_factory=dict)
    seed: int
    groups: tuple[GroupReport, ...]
    latency: tuple[Latency, ...] = ()
    notes: tuple[str, ...] = ()
    items: tuple[EvaluatedItem, ...] = ()
