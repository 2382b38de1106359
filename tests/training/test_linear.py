"""The fit is scikit-learn's, and its parts do what they say."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from offline_eval.core.errors import DataError
from offline_eval.stats.separation import auroc
from offline_eval.stats.undefined import Undefined
from offline_eval.training.linear import balanced_weights, choose_ridge, fit_linear, predict


def problem(n: int = 300, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)) * [1.0, 5.0, 0.1, 1.0] + [0.0, 3.0, 1.0, 0.0]
    y = (x[:, 0] + 0.2 * x[:, 1] + rng.normal(size=n) > 0.6).astype(float)
    return x, y


def test_weights_are_those_of_scikit_learn() -> None:
    x, y = problem()
    weights = balanced_weights(y, ["one"] * len(y))
    model = fit_linear(x, y, names=list("abcd"), weights=weights, ridge=2.0)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(z, y, sample_weight=weights)  # C = 1 / ridge
    assert model.weights == pytest.approx(theirs.coef_[0], abs=1e-5)
    assert model.intercept == pytest.approx(theirs.intercept_[0], abs=1e-5)
    assert predict(model, x) == pytest.approx(theirs.predict_proba(z)[:, 1], abs=1e-6)
    assert model.probability(dict(zip("abcd", x[7].tolist(), strict=True))) == pytest.approx(predict(model, x)[7])


def test_a_constant_feature_counts_nothing() -> None:
    x, y = problem()
    x[:, 2] = 4.0
    model = fit_linear(x, y, names=list("abcd"), weights=np.ones(len(y)), ridge=1.0)
    assert model.weights[2] == pytest.approx(0.0)


def test_separable_labels_end_with_finite_weights() -> None:
    x = np.array([[0.0], [1.0], [10.0], [11.0]])
    y = np.array([0.0, 0.0, 1.0, 1.0])
    model = fit_linear(x, y, names=["a"], weights=np.ones(4), ridge=0.1)
    assert np.isfinite(model.weights[0])
    assert predict(model, x)[0] < 0.5 < predict(model, x)[3]


def test_one_kind_of_label_is_refused() -> None:
    with pytest.raises(DataError, match="labels of both kinds"):
        fit_linear(np.ones((3, 1)), np.ones(3), names=["a"], weights=np.ones(3), ridge=1.0)


def test_sets_and_labels_weigh_the_same() -> None:
    # Cells: a0 twice, a1 once, b1 once: each cell 1/4 of all, and the mean is 1.
    weights = balanced_weights(np.array([0.0, 0.0, 1.0, 1.0]), ["a", "a", "a", "b"])
    assert weights == pytest.approx([2 / 3, 2 / 3, 4 / 3, 4 / 3])


def test_noise_asks_for_a_strong_ridge() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 20)), rng.integers(0, 2, 60).astype(float)
    names = [str(n) for n in range(20)]
    groups = [str(n // 2) for n in range(60)]
    assert choose_ridge(x, y, names=names, weights=np.ones(60), groups=groups) == 100.0


def test_auroc_is_scikit_learns_with_ties() -> None:
    rng = np.random.default_rng(2)
    scores, labels = rng.integers(0, 5, 200).astype(float), rng.integers(0, 2, 200).astype(float)
    assert auroc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))


def test_auroc_by_hand_and_undefined() -> None:
    # Positives .9 and .5 against negatives .5 and .1: wins 1, 1, a tie .5, 1; 3.5 of 4.
    assert auroc([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0]) == 3.5 / 4
    assert isinstance(auroc([0.1, 0.2], [1, 1]), Undefined)
