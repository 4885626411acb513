"""Gaussian ridge regression: equal to one dense system, sums that add up, contributions along a line."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from headrank.estimators.combined import gaussian_ridge
from headrank.estimators.combined.gaussian_ridge import (
    PENALTY_OF_WEIGHTS,
    GaussianKernel,
    GaussianSum,
    RidgeSums,
    squared_distances,
)
from reference.kernel_ridge import along_a_line, gaussian, ridge_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
TARGET = (X[:, 0] ** 2 + X[:, 1] + RNG.normal(size=60) > 1).astype(float)
GAMMA = 0.3
KERNEL = GaussianKernel(X, GAMMA)
EVERY = np.arange(60)
ALL = np.ones(60, dtype=bool)


def sums_of(rows, weights=None, kernel=KERNEL, features=X):
    return RidgeSums.of(kernel, features, np.asarray(rows), TARGET, weights)


def solved(sums, penalties=(1e-2,), used=ALL, kernel=KERNEL):
    return sums.solved(kernel.values(kernel.landmarks), penalties, used)


def assert_same_sums(one, other):
    for name, value in vars(one).items():
        np.testing.assert_allclose(getattr(other, name), value, atol=1e-9)


@pytest.mark.parametrize("as_stored", [np.asarray, csr_matrix, csr_array])
def test_values_are_those_of_all_pairs(as_stored):
    kernel = GaussianKernel(as_stored(X[:7]), GAMMA)
    np.testing.assert_allclose(kernel.values(as_stored(X)), gaussian(X, X[:7], GAMMA), atol=1e-9)


def test_distances_that_overflow_are_very_large():
    assert squared_distances(np.array([[1e200]]), np.array([[-1e200]])) == 1e300
    assert GaussianKernel(np.array([[-1e200]]), 1.0).values(np.array([[1e200]])) == 0


@pytest.mark.parametrize("penalty", [1e-6, 1e-4, 1e-2, 1.0])
def test_solution_is_that_of_least_squares(penalty):
    train, new = EVERY[:40], EVERY[40:]
    weights = solved(sums_of(train), (1e-3, penalty), np.isin(EVERY, train))
    assert not weights[new].any()
    expected = ridge_scores(X[train], TARGET[train], X[new], GAMMA, penalty, PENALTY_OF_WEIGHTS)
    np.testing.assert_allclose(KERNEL.sums(X[new], weights)[:, 1], expected, atol=1e-5 * np.abs(expected).max())
    assert np.ptp(expected) > 1e-3


def test_sums_of_two_sets_of_rows_add_up(monkeypatch):
    whole = sums_of(EVERY)
    assert_same_sums(sums_of(EVERY[:13]) + sums_of(EVERY[13:]), whole)
    monkeypatch.setattr(gaussian_ridge, "_VALUES_AT_A_TIME", 60 * 7)
    assert_same_sums(sums_of(EVERY), whole)
    np.testing.assert_allclose(KERNEL.sums(X, TARGET), gaussian(X, X, GAMMA) @ TARGET, atol=1e-9)


def test_weights_count_as_copies_and_their_unit_makes_no_difference():
    weights = RNG.integers(0, 4, 60).astype(float)
    copies = np.repeat(EVERY, weights.astype(int))
    assert_same_sums(sums_of(EVERY, weights), sums_of(copies))
    of_weights = solved(sums_of(EVERY, weights))
    np.testing.assert_allclose(KERNEL.sums(X, solved(sums_of(EVERY, 5 * weights)) - of_weights), 0, atol=1e-8)


def test_fewer_landmarks_are_a_projection():
    kernel, half = GaussianKernel(X[:30], GAMMA), np.ones(30, dtype=bool)
    weights = solved(sums_of(EVERY, kernel=kernel), (1e-2,), half, kernel)[:, 0]

    def objective(w):
        fitted, norm = kernel.sums(X, w), w @ kernel.values(kernel.landmarks) @ w
        return np.mean((fitted - TARGET + TARGET.mean()) ** 2) + 1e-2 * norm

    for _ in range(20):
        assert objective(weights + 1e-3 * RNG.normal(size=30)) > objective(weights)


@pytest.mark.parametrize("as_stored", [np.asarray, csr_matrix, csr_array])
def test_contributions_are_integrals_along_the_line(as_stored):
    weights = RNG.normal(size=20)
    scorer = GaussianSum(GaussianKernel(as_stored(X[:20]), GAMMA), weights)
    start = X.mean(axis=0)
    found = scorer.contributions(as_stored(X[20:24]), start)
    for x, contributions in zip(X[20:24], found, strict=True):
        expected = along_a_line(lambda at: scorer.scores(at[None, :])[0], x, start)
        np.testing.assert_allclose(contributions, expected, atol=1e-5)
    of_start = scorer.scores(start[None, :])
    np.testing.assert_allclose(found.sum(axis=1), scorer.scores(as_stored(X[20:24])) - of_start, atol=1e-12)


def test_contributions_of_the_start_are_none_and_of_far_rows_add_up():
    scorer = GaussianSum(GaussianKernel(X[:20], GAMMA), RNG.normal(size=20))
    rows = np.array([X[0], X[0] + 300])
    found = scorer.contributions(rows, X[0])
    assert not found[0].any()
    assert found[1].sum() == pytest.approx(-scorer.scores(X[:1])[0], abs=1e-12)
