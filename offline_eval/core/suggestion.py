"""A threshold proposed from labels, with what it does to labels it was not chosen on."""

from pydantic import Field

from offline_eval.core.records import Record
from offline_eval.core.results import Interval


class Suggestion(Record):
    """One metric's proposal; `reason` says why there is none.

    Attributes:
        case_at_least: From this value on a case passes; None for a metric where lower is better.
        case_at_most: Up to this value a case passes.
        at_least: Share of passing cases to require: the lower bound of the share among acceptable cases.
        precision: Of the report part's passing cases, the share labelled acceptable.
        recall: Of the report part's acceptable cases, the share that passes.
        separation: Area under the ROC curve on the report part, in [0, 1]; .5 is chance.
        n_fit: Labelled cases the threshold was chosen on.
        n_report: Labelled cases the figures are from.
        n_unscored: Labelled cases without a value.
    """

    metric: str
    case_at_least: float | None = None
    case_at_most: float | None = None
    at_least: float | None = None
    precision: float | None = None
    recall: float | None = None
    separation: float | None = None
    separation_interval: Interval | None = None
    n_fit: int = Field(ge=0)
    n_report: int = Field(ge=0)
    n_unscored: int = Field(ge=0)
    reason: str | None = None
