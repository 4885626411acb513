"""Logistic regression under the same roof as the rankers."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fits import alike
from headrank import LinearRanker
from samples import gaussians


def direction(ranker):
    return ranker.coef_ / np.linalg.norm(ranker.coef_)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_scikit_learns_logistic_regression(C, weighted):
    X, y = gaussians(50, 200, shift=1.5)
    X = X * [1, 3, 0.3, 1] + [0, 1, -2, 5]
    weights = np.random.default_rng(0).integers(0, 4, y.size) if weighted else None
    ranker = LinearRanker("auc", surrogate="logistic", C=C, tol=1e-10).fit(X, y, sample_weight=weights)
    reference = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y, sample_weight=weights)
    assert ranker.gap_ <= 1e-10
    counts = np.ones(y.size) if weights is None else weights
    margins = np.where(y == 1, 1, -1) * reference.decision_function(X)
    objective = reference.coef_[0] @ reference.coef_[0] / 2 + C * (counts @ np.logaddexp(0, -margins))
    assert ranker.objective_ == pytest.approx(objective, rel=1e-9)
    assert ranker.lower_bound_ <= objective * (1 + 1e-12)
    assert ranker.risk_ == pytest.approx(counts @ np.logaddexp(0, -margins), rel=1e-4)


def test_the_logistic_fit_ignores_measure_and_queries():
    X, y = gaussians()
    one = LinearRanker("pauc@0.01", surrogate="logistic").fit(X, y, qid=np.arange(y.size) % 3)
    assert alike(one.coef_, LinearRanker("ks", surrogate="logistic").fit(X, y).coef_)


@pytest.mark.parametrize("factor", [1e-3, 1e-6])
def test_a_small_unit_is_not_a_collapse_of_the_logistic_fit(factor):
    """So little to gain that w points along the difference of the means; 0 ranks nothing."""
    X, y = gaussians(100, 400, shift=1.5)
    ranker = LinearRanker("auc", surrogate="logistic").fit(X * factor, y)
    assert not ranker.collapsed_
    means = X[y == 1].mean(0) - X[y == 0].mean(0)
    np.testing.assert_allclose(direction(ranker), means / np.linalg.norm(means), atol=0.05)
