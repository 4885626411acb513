"""The linear family: scaled features, missing values filled in, contributions that are weights times distances."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from headrank.estimators import LinearRankerCV
from headrank.estimators.combined import scaled_features
from headrank.estimators.combined.linear_part import ScaledLinear
from headrank.estimators.scaling import SoftScaler
from samples import gaussians


def rows():
    X, y = gaussians(40, 160, 3, shift=1.5)
    X[:, 1] *= 1e6
    X[::9, 2] = np.nan
    X[0, 0], X[1, 0] = np.inf, -np.inf
    return X, y


def test_it_is_the_linear_choice_on_scaled_features():
    X, y = rows()
    ranker = ScaledLinear("pauc@0.3", cv=3).fit(X, y)
    scaler = SoftScaler().fit(np.where(np.isinf(X), np.nan, X))
    features = scaler.transform(np.where(np.isinf(X), np.nan, X)).astype(np.float32)
    expected = LinearRankerCV("pauc@0.3", cv=3).fit(features, y)
    assert ranker.ranker_.best_ == expected.best_
    np.testing.assert_allclose(ranker.decision_function(X), expected.decision_function(features), atol=1e-3)
    assert ranker.score(X, y) > 0.3
    assert ranker.feature_names(["a", "b", "c"])[:3] == ["a", "b", "c"]


def test_contributions_are_weights_times_distances_from_the_mean():
    X, y = rows()
    ranker = ScaledLinear("pauc@0.3", cv=3).fit(X, y)
    contributions = ranker.contributions(X)
    assert contributions.shape == (200, 4)
    np.testing.assert_allclose(contributions.sum(axis=1), ranker.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(contributions[:, :-1].mean(axis=0), 0, atol=1e-5)
    moved = X.copy()
    moved[:, 0] = 0.3
    changed = np.abs(ranker.contributions(moved) - contributions).max(axis=0)
    assert changed[0] > 0.1
    assert not changed[1:].any()


def test_sparse_features_are_taken_as_they_are():
    X, y = gaussians(40, 160, 3, shift=1.5)
    X[np.abs(X) < 0.5] = 0
    ranker = ScaledLinear("pauc@0.3", cv=3).fit(csr_matrix(X), y)
    assert ranker.scaler_ is None
    assert ranker.feature_names("abc") == ["a", "b", "c"]
    np.testing.assert_allclose(
        ranker.contributions(csr_matrix(X)).sum(axis=1), ranker.decision_function(csr_matrix(X)), atol=1e-6
    )


def test_rows_are_scaled_some_at_a_time(monkeypatch):
    X, y = rows()
    ranker = ScaledLinear("pauc@0.3", cv=3).fit(X, y)
    at_once = ranker._features(X)
    monkeypatch.setattr(scaled_features, "_NUMBERS_AT_A_TIME", 50)
    np.testing.assert_array_equal(ranker._features(X), at_once)


def test_refit_scales_as_before():
    X, y = rows()
    ranker = ScaledLinear("pauc@0.3", cv=3).fit(X[::2], y[::2])
    scaler, best = ranker.scaler_, ranker.ranker_.best_
    means = ranker.means_
    ranker.refit(X, y)
    assert ranker.scaler_ is scaler
    assert ranker.ranker_.best_ == best
    assert not np.array_equal(ranker.means_, means)
    np.testing.assert_allclose(ranker.means_, ranker._features(X).mean(axis=0), atol=1e-5)
    assert (ranker.predict(X) == 1).sum() == pytest.approx(40, abs=2)
