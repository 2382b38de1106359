"""Maps that put a judge's probabilities right, as plain numbers; fitted on some labels, reported on others."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from offline_eval.core.errors import UsageError
from offline_eval.core.records import Record
from offline_eval.stats.arrays import Floats
from offline_eval.stats.calibration import BINS, Binning, BrierParts, brier, calibration_error
from offline_eval.stats.splits import Labelled, refuse_overlap
from offline_eval.stats.undefined import Undefined

Method = Literal["temperature", "platt", "isotonic"]

_EDGE = 1e-6  # probabilities are kept this far from 0 and 1, where the logit is infinite
_LOG_TEMPERATURE = (-5.0, 5.0)  # temperatures from 0.007 to 148
_STEPS = 100


class Temperature(Record):
    """Divides the logit by a temperature: above 1 the judge was too sure of itself."""

    kind: Literal["temperature"] = "temperature"
    temperature: float = Field(gt=0)

    def apply(self, probabilities: Floats) -> Floats:
        """Recalibrate; shape (n,) in [0, 1] to shape (n,) in (0, 1), order kept."""
        return _expit(_logit(probabilities) / self.temperature)


class Platt(Record):
    """A straight line on the logit scale: slope and intercept."""

    kind: Literal["platt"] = "platt"
    slope: float
    intercept: float

    def apply(self, probabilities: Floats) -> Floats:
        """Recalibrate; shape (n,) in [0, 1] to shape (n,) in (0, 1)."""
        return _expit(self.slope * _logit(probabilities) + self.intercept)


class Isotonic(Record):
    """A rising line through corner points; flat before the first and after the last.

    Attributes:
        at: Probabilities, rising.
        become: What they become, not falling, in [0, 1].
    """

    kind: Literal["isotonic"] = "isotonic"
    at: tuple[float, ...] = Field(min_length=1)
    become: tuple[float, ...] = Field(min_length=1)

    def apply(self, probabilities: Floats) -> Floats:
        """Recalibrate; shape (n,) in [0, 1] to shape (n,) in [0, 1], order kept where it is not levelled."""
        return np.interp(probabilities, self.at, self.become)


CalibrationMap = Annotated[Temperature | Platt | Isotonic, Field(discriminator="kind")]


class CalibrationReport(Record):
    """Calibration on items the map was not fitted on, before and after."""

    n: int
    bins: int
    binning: Binning
    error_before: float
    error_after: float
    brier_before: BrierParts
    brier_after: BrierParts


class Calibration(Record):
    """A fitted map that knows what it was fitted on.

    Attributes:
        fitted_on: Ids of the fit part, sorted, each once.
        n_fitted_on: Items of the fit part.
    """

    map: CalibrationMap
    fitted_on: tuple[str, ...]
    n_fitted_on: int

    def report(
        self, data: Labelled, *, bins: int = BINS, binning: Binning = "equal_width"
    ) -> CalibrationReport | Undefined:
        """Calibration before and after on other items.

        Args:
            data: Items none of whose ids was fitted on.
            bins: As in `calibration.reliability_bins`.
            binning: As in `calibration.reliability_bins`.

        Returns:
            The report; Undefined without items.

        Raises:
            DataError: An id of the fit part stands in `data`.
        """
        refuse_overlap(self.fitted_on, data.ids)
        before, outcomes = data.arrays()
        after = self.map.apply(before)
        errors = [calibration_error(p, outcomes, bins=bins, binning=binning) for p in (before, after)]
        scores = [brier(p, outcomes, bins=bins, binning=binning) for p in (before, after)]
        if isinstance(errors[0], Undefined):
            return errors[0]
        return CalibrationReport(
            n=before.size,
            bins=bins,
            binning=binning,
            error_before=errors[0],
            error_after=errors[1],
            brier_before=scores[0],
            brier_after=scores[1],
        )


def fit_calibration(data: Labelled, *, method: Method) -> Calibration | Undefined:
    """Fit a map from the judge's probabilities to what people said.

    Args:
        data: The fit part.
        method: `temperature` (one number; few labels), `platt` (two) or `isotonic` (any rising shape; hundreds of
            labels).

    Returns:
        The map with the ids it has seen; Undefined when the outcomes are all the same.

    Raises:
        UsageError: Unknown method.

    Source:
        Temperature: Guo et al. (2017), ICML, 1321-1330, by maximum likelihood, kept within [.007, 148]. Platt (1999),
        Advances in Large Margin Classifiers, 61-74, with his smoothed targets, which keep the slope finite on separable
        labels. Isotonic: Zadrozny & Elkan (2002), KDD, 694-699; equal probabilities are pooled first.
    """
    fitters = {"temperature": _fit_temperature, "platt": _fit_platt, "isotonic": _fit_isotonic}
    if method not in fitters:
        raise UsageError(f"method must be one of {', '.join(fitters)}, found {method!r}")
    p, y = data.arrays()
    if not 0 < y.sum() < y.size:
        return Undefined(reason="a map needs labels of both kinds to fit on")
    return Calibration(map=fitters[method](p, y), fitted_on=tuple(sorted(set(data.ids))), n_fitted_on=p.size)


def _fit_temperature(p: Floats, y: Floats) -> Temperature:
    from scipy.optimize import minimize_scalar

    logits = _logit(p)

    def loss(log_temperature: float) -> float:
        z = logits / np.exp(log_temperature)
        return float(np.sum(np.logaddexp(0.0, z) - y * z))

    found = minimize_scalar(loss, bounds=_LOG_TEMPERATURE, method="bounded", options={"xatol": 1e-9})
    return Temperature(temperature=float(np.exp(found.x)))


def _fit_platt(p: Floats, y: Floats) -> Platt:
    positives = y.sum()
    target = np.where(y == 1, (positives + 1) / (positives + 2), 1 / (y.size - positives + 2))
    design = np.column_stack([_logit(p), np.ones(p.size)])  # (n, 2)
    weights = np.array([0.0, np.log((positives + 1) / (y.size - positives + 1))])

    def loss(at: Floats) -> float:
        z = design @ at
        return float(np.sum(np.logaddexp(0.0, z) - target * z))

    for _ in range(_STEPS):
        share = _expit(design @ weights)
        gradient = design.T @ (share - target)
        if np.abs(gradient).max() < 1e-9 * y.size:
            break
        # The ridge keeps the step defined when all probabilities are equal.
        curvature = (design * (share * (1 - share))[:, None]).T @ design + 1e-10 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        scale = 1.0
        while loss(weights - scale * step) > loss(weights) and scale > 1e-10:
            scale /= 2
        weights = weights - scale * step
    return Platt(slope=float(weights[0]), intercept=float(weights[1]))


def _fit_isotonic(p: Floats, y: Floats) -> Isotonic:
    from scipy.optimize import isotonic_regression

    at, place, counts = np.unique(p, return_inverse=True, return_counts=True)
    become = isotonic_regression(np.bincount(place, weights=y) / counts, weights=counts).x
    # Only the ends of level stretches matter to a line drawn through them.
    corner = np.ones(at.size, dtype=bool)
    corner[1:-1] = (become[1:-1] != become[:-2]) | (become[1:-1] != become[2:])
    return Isotonic(at=tuple(at[corner].tolist()), become=tuple(np.clip(become[corner], 0, 1).tolist()))


def _logit(p: Floats) -> Floats:
    inside = np.clip(p, _EDGE, 1 - _EDGE)
    return np.asarray(np.log(inside) - np.log1p(-inside), dtype=np.float64)


def _expit(z: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(z / 2)), dtype=np.float64)
