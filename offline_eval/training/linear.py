"""Fits the small model of the default scorers: logistic regression with a ridge, by Newton's method."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from offline_eval.core.errors import DataError
from offline_eval.engines.feature_scorer import LinearModel

Floats = NDArray[np.float64]

RIDGES = (0.1, 1.0, 10.0, 100.0)
_STEPS = 100
_LEAST_SCALE = 1e-9


def fit_linear(features: Floats, labels: Floats, *, names: Sequence[str], weights: Floats, ridge: float) -> LinearModel:
    """Fit a logistic regression over standardised features.

    Args:
        features: Shape (n, n_features), finite.
        labels: Shape (n,), 0 or 1, both present.
        names: Of the features.
        weights: Shape (n,), how much each row counts, above 0.
        ridge: Half of it times the squared weights is added to the weighted loss; the intercept is free.

    Returns:
        The model; a constant feature gets the weight 0.

    Raises:
        DataError: Only one label.

    Source:
        Hastie, Tibshirani & Friedman (2009), sec. 4.4.1.
    """
    if not 0 < labels.sum() < labels.size:
        raise DataError("a scorer needs labels of both kinds to be fitted; give more data")
    means, scales = features.mean(axis=0), features.std(axis=0)
    constant = scales < _LEAST_SCALE
    scales = np.where(constant, 1.0, scales)
    design = np.column_stack([np.where(constant, 0.0, (features - means) / scales), np.ones(labels.size)])
    penalty = np.append(np.full(features.shape[1], ridge), 0.0)
    at = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        share = 0.5 * (1 + np.tanh(design @ at / 2))
        gradient = design.T @ (weights * (share - labels)) + penalty * at
        if np.abs(gradient).max() < 1e-8 * weights.sum():
            break
        curvature = (design * (weights * share * (1 - share))[:, None]).T @ design + np.diag(penalty)
        at = at - _safe_step(curvature, gradient)
    return LinearModel(
        features=tuple(names),
        means=tuple(means.tolist()),
        scales=tuple(scales.tolist()),
        weights=tuple(at[:-1].tolist()),
        intercept=float(at[-1]),
    )


def balanced_weights(labels: Floats, sets: Sequence[str]) -> Floats:
    """Weights by which every set counts the same, and both labels inside it, with mean 1.

    Args:
        labels: Shape (n,), 0 or 1.
        sets: Shape (n,), the set each row is from.
    """
    cells = [(name, float(label)) for name, label in zip(sets, labels, strict=True)]
    counts = {cell: cells.count(cell) for cell in set(cells)}
    weights = np.array([1.0 / counts[cell] for cell in cells])
    balanced: Floats = weights * (labels.size / weights.sum())
    return balanced


def predict(model: LinearModel, features: Floats) -> Floats:
    """Probabilities of the positive label; shape (n, n_features) to shape (n,)."""
    z = (features - np.array(model.means)) / np.array(model.scales) @ np.array(model.weights) + model.intercept
    return np.asarray(0.5 * (1 + np.tanh(z / 2)), dtype=np.float64)


def choose_ridge(
    features: Floats, labels: Floats, *, names: Sequence[str], weights: Floats, groups: Sequence[str], folds: int = 5
) -> float:
    """The ridge with the least weighted log loss over folds of whole groups of the fit part.

    Args:
        features: As for `fit_linear`.
        labels: As for `fit_linear`.
        names: As for `fit_linear`.
        weights: As for `fit_linear`.
        groups: Shape (n,), what stays in one fold.
        folds: Number of folds, 2 or more.
    """
    order = {group: place for place, group in enumerate(sorted(set(groups)))}
    fold = np.array([order[group] % folds for group in groups])
    losses: dict[float, float] = {}
    for ridge in RIDGES:
        loss = 0.0
        for part in range(folds):
            inside, outside = fold != part, fold == part
            model = fit_linear(features[inside], labels[inside], names=names, weights=weights[inside], ridge=ridge)
            p = np.clip(predict(model, features[outside]), 1e-9, 1 - 1e-9)
            y = labels[outside]
            loss -= float(np.sum(weights[outside] * (y * np.log(p) + (1 - y) * np.log(1 - p))))
        losses[ridge] = loss
    return min(losses, key=lambda ridge: (losses[ridge], -ridge))


def _safe_step(curvature: Floats, gradient: Floats) -> Floats:
    step: Floats = np.asarray(np.linalg.solve(curvature + 1e-9 * np.eye(len(gradient)), gradient), dtype=np.float64)
    longest = float(np.abs(step).max())
    return step if longest < 10 else step * (10 / longest)
