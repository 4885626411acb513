"""Stacking: the conditions of a minimum by slow sums, and cases where the answer is known."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from folds import by_fold, folds_of, labels
from headrank.estimators.combined.stacking import nonnegative_logistic, stacked_shares


def slow_slopes(features, positive, weights, coefficients, intercept):
    """Derivatives of the penalised log loss in each coefficient and in the intercept, row by row."""
    mean = [
        sum(w * row[k] for w, row in zip(weights, features, strict=True)) / sum(weights)
        for k in range(features.shape[1])
    ]
    slopes = [5e-4 * (c - sum(coefficients) / len(coefficients)) for c in coefficients] + [0.0]
    for row, is_positive, weight in zip(features, positive, weights, strict=True):
        centred = [x - m for x, m in zip(row, mean, strict=True)]
        score = sum(c * x for c, x in zip(coefficients, centred, strict=True)) + intercept
        off = 1 / (1 + exp(-score)) - is_positive
        slopes = [s + weight / sum(weights) * off * x for s, x in zip(slopes, [*centred, 1.0], strict=True)]
    return slopes


def best_intercept(features, positive, weights, coefficients):
    low, high = -50.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        above = slow_slopes(features, positive, weights, coefficients, middle)[-1] > 0
        low, high = (low, middle) if above else (middle, high)
    return low


@given(seed=st.integers(0, 10**6), n_scorers=st.integers(1, 4))
def test_no_other_coefficients_have_a_lower_loss(seed, n_scorers):
    """The problem is convex: slopes of 0, or above 0 where a coefficient is 0, prove the minimum."""
    rng = np.random.default_rng(seed)
    positive = np.arange(30) % 3 == 0
    features = rng.normal(size=(30, n_scorers)) + rng.uniform(-0.5, 1, n_scorers) * positive[:, None]
    weights = rng.integers(1, 4, 30).astype(float)
    found = nonnegative_logistic(features, positive, weights)
    *slopes, _ = slow_slopes(features, positive, weights, found, best_intercept(features, positive, weights, found))
    for coefficient, slope in zip(found, slopes, strict=True):
        assert coefficient >= 0
        assert abs(slope) < 1e-5 if coefficient > 1e-6 else slope > -1e-5


def test_weights_are_copies_in_any_unit():
    rng, positive = np.random.default_rng(0), np.arange(60) % 3 == 0
    features, copies = rng.normal(size=(60, 2)) + positive[:, None], rng.integers(1, 4, 60)
    of_copies = nonnegative_logistic(np.repeat(features, copies, axis=0), np.repeat(positive, copies), None)
    for unit in (1.0, 1e-9):
        np.testing.assert_allclose(nonnegative_logistic(features, positive, unit * copies), of_copies, atol=1e-4)
    assert not np.allclose(nonnegative_logistic(features, positive, None), of_copies, atol=1e-2)


def test_shares_take_weights_into_account():
    """Of two scorers, each is good on one half of the rows: the half that counts decides."""
    rng, y = np.random.default_rng(0), labels(800)
    first = np.arange(800) < 400
    scorers = [by_fold(np.where(half, y, 0.0) + rng.normal(size=800)) for half in (first, ~first)]
    for half, larger in ((first, 0), (~first, 1)):
        shares = stacked_shares(folds_of(y, weights=np.where(half, 1.0, 0.01)), scorers)
        assert shares[larger] > 0.7


def test_one_coefficient_is_that_of_logistic_regression_on_a_table_of_counts():
    """Two scores, so the log odds are those of the counts, whatever the penalty, which is 0 for one coefficient."""
    features = np.repeat([[0.0], [1.0]], [40, 40], axis=0)
    positive = np.concatenate([np.arange(40) < 10, np.arange(40) < 30])
    assert nonnegative_logistic(features, positive, None) == pytest.approx([log(3) - log(1 / 3)], abs=1e-3)


def test_a_scorer_that_says_nothing_or_the_opposite_gets_next_to_nothing():
    rng, y = np.random.default_rng(0), labels(4000)
    good, noise = y + rng.normal(size=4000), rng.normal(size=4000)
    shares = stacked_shares(folds_of(y), [by_fold(noise), by_fold(good), by_fold(-good)])
    assert shares.sum() == pytest.approx(1)
    assert shares[1] > 0.9
    assert shares[2] == 0


def test_scorers_that_are_equal_share_equally():
    rng, y = np.random.default_rng(0), labels(400)
    good = by_fold(y + rng.normal(size=400))
    assert stacked_shares(folds_of(y), [good, good, good]) == pytest.approx([1 / 3] * 3, abs=1e-6)


def test_perfect_scores_and_constant_ones_have_finite_shares():
    y = labels()
    perfect, constant = by_fold(y.astype(float)), by_fold(np.zeros(y.size))
    assert stacked_shares(folds_of(y), [perfect, perfect]) == pytest.approx([0.5, 0.5])
    assert stacked_shares(folds_of(y), [constant, constant]) == pytest.approx([0.5, 0.5])
    assert stacked_shares(folds_of(y), [by_fold(-y.astype(float))] * 2) == pytest.approx([0.5, 0.5])
