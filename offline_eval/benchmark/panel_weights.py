"""Panel weights fitted to people's totals on one part of the cases, reported on the other beside the weights in use."""

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import Field, JsonValue

from offline_eval.benchmark.calibrate import LEAST, RESAMPLES
from offline_eval.benchmark.labels import LabelRow
from offline_eval.core.errors import DataError
from offline_eval.core.protocols import Item
from offline_eval.core.records import Record
from offline_eval.judge.panel import Panel
from offline_eval.judge.routing import PanelVerdict
from offline_eval.stats.arrays import Floats
from offline_eval.stats.intervals import bootstrap
from offline_eval.stats.measured import Measured, measured
from offline_eval.stats.splits import Labelled, split
from offline_eval.stats.undefined import Undefined
from offline_eval.stats.weights import fit_weights

TOTAL = "total"
"""The dimension of labels that grade an answer as a whole, on the panel's scale."""


class WeightReport(Record):
    """Panel weights fitted to people's totals.

    Attributes:
        weights: Dimension to weight, 0 or more, summing to 1; None when they cannot be fitted, with the reason.
        error: Mean absolute difference from people's totals on the report part, with the fitted weights.
        error_given: The same with the weights in use.
    """

    weights: dict[str, float] | None = None
    reason: str | None = None
    given: dict[str, float]
    n_fit: int = Field(ge=0)
    n_report: int = Field(ge=0)
    error: Measured | None = None
    error_given: Measured | None = None


def fit_panel_weights(
    grades: Mapping[str, Sequence[float]],
    totals: Sequence[float],
    *,
    ids: Sequence[str],
    given: Mapping[str, float],
    seed: int,
) -> WeightReport:
    """Weights whose totals come closest to people's.

    Args:
        grades: Dimension to the judges' grades, each of shape (n,).
        totals: Shape (n,), people's totals, on the same scale.
        ids: Shape (n,), case ids; one id is never on both sides.
        given: The weights in use, to compare with.
        seed: Of the split and the resampling.
    """
    names = list(grades)
    table = np.column_stack([np.asarray(grades[name], dtype=np.float64) for name in names])  # (n, dimensions)
    wanted = np.asarray(totals, dtype=np.float64)
    # The split's own rule decides by id; the outcome and probability columns are not needed for it.
    side = Labelled(ids=tuple(ids), probabilities=(0.0,) * len(ids), outcomes=(0,) * len(ids))
    fit_ids = set(split(side, seed=seed)[0].ids)
    is_fit = np.array([name in fit_ids for name in ids], dtype=bool)
    sizes = {"n_fit": int(is_fit.sum()), "n_report": int((~is_fit).sum())}
    if min(sizes.values()) < LEAST:
        reason = f"needs {LEAST} rows in each part, here {sizes['n_fit']} and {sizes['n_report']}"
        return WeightReport(reason=reason, given=dict(given), **sizes)
    fitted = fit_weights(table[is_fit], wanted[is_fit])
    if isinstance(fitted, Undefined):
        return WeightReport(reason=fitted.reason, given=dict(given), **sizes)
    clusters = [name for name, fit in zip(ids, is_fit.tolist(), strict=True) if not fit]
    in_use = np.array([given[name] for name in names])

    def error(weights: Floats) -> Measured:
        off = np.abs(table[~is_fit] @ weights - wanted[~is_fit])
        interval = bootstrap(_mean, [off], clusters=clusters, seed=seed, resamples=RESAMPLES)
        return measured(float(off.mean()), interval, n=off.size)

    return WeightReport(
        weights=dict(zip(names, fitted.tolist(), strict=True)),
        given=dict(given),
        error=error(fitted),
        error_given=error(in_use / in_use.sum()),
        **sizes,
    )


def _mean(values: Floats) -> float | Undefined:
    return float(values.mean()) if values.size else Undefined(reason="there are no items")


def flat_weights(found: WeightReport) -> list[dict[str, JsonValue]]:
    """The fitted weights and those in use, each with its error on the report part, for tables."""
    sizes: dict[str, JsonValue] = {"fitted_on": found.n_fit, "reported_on": found.n_report}
    rows: list[dict[str, JsonValue]] = []
    for name, weights, error in (("fitted", found.weights, found.error), ("in use", found.given, found.error_given)):
        interval = error.interval if error else None
        rows.append(
            {
                "weights": name,
                **{dimension: (weights or {}).get(dimension) for dimension in found.given},
                "mean_absolute_error": error.value if error else None,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                **sizes,
                "note": found.reason or "",
            }
        )
    return rows


def weights_of_run(
    items: Sequence[Item],
    verdicts: Mapping[str, PanelVerdict],
    rows: Sequence[LabelRow],
    panel: Panel,
    *,
    seed: int,
) -> WeightReport:
    """Fit a run's panel weights to people's totals.

    Args:
        items: The run's responses with their cases.
        verdicts: Response key to what the panel says.
        rows: Ordinal labels of dimension `total` on the panel's scale, with `response_key`; answers that lack a
            dimension are left out.
        panel: Whose weights are in use.
        seed: Of the split and the resampling.

    Raises:
        DataError: No such label belongs to a response of the run.
    """
    totals = {row.response_key: row.human for row in rows if row.dimension == TOTAL and row.human is not None}
    names = panel.examiners
    whole = [
        (item.case.id, [verdicts[item.response.key].grades[name] for name in names], totals[item.response.key])
        for item in items
        if item.response.key in totals and set(names) <= set(verdicts[item.response.key].grades)
    ]
    if not whole:
        raise DataError(
            f"no label of dimension {TOTAL!r} belongs to an answer of this run with grades for {', '.join(names)}"
        )
    return fit_panel_weights(
        {name: [grades[at] for _, grades, _ in whole] for at, name in enumerate(names)},
        [total or 0.0 for _, _, total in whole],
        ids=[case for case, _, _ in whole],
        given=panel.weights,
        seed=seed,
    )
