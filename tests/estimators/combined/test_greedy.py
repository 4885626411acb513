"""Greedy selection: against a slow twin, and in cases where the answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrank as hr
from folds import N_FOLDS, by_fold, folds_of, labels
from headrank.estimators.combined.greedy import greedy_selection


def trails(values, best):
    lead = np.subtract(best, values)
    return lead.mean() > np.sqrt(lead.var(ddof=1) * (1 / lead.size + 1 / (lead.size - 1)))


def slow_selection(y, measure, scorers):
    """Counts, one scorer at a time, measured on the rows of each fold as they are."""
    measure = hr.measure(measure)
    sign = 1 if measure.greater_is_better else -1

    def worth(counts):
        summed = sum(count * scores for count, scores in zip(counts, scorers, strict=True))
        return [sign * measure(y[k::N_FOLDS], summed[k::N_FOLDS]) for k in range(N_FOLDS)]

    def one(i):
        return [int(j == i) for j in range(len(scorers))]

    alone = [worth(one(i)) for i in range(len(scorers))]
    best = max(range(len(scorers)), key=lambda i: np.mean(alone[i]))
    counts = [int(not trails(values, alone[best])) for values in alone]
    if trails(worth(counts), alone[best]):
        counts = one(best)
    for _ in range(20 if len(scorers) > 1 else 0):
        options = [[c + o for c, o in zip(counts, one(i), strict=True)] for i in range(len(scorers))]
        tried = [worth(option) for option in options]
        best = max(range(len(scorers)), key=lambda i: np.mean(tried[i]))
        if not trails(worth(counts), tried[best]):
            break
        counts = options[best]
    return counts, worth(counts)


@given(
    seed=st.integers(0, 10**6), n_scorers=st.integers(1, 4), measure=st.sampled_from(["auc", "pauc@0.5", "fpr@tpr=0.5"])
)
def test_is_what_the_slow_twin_finds(seed, n_scorers, measure):
    """Scores are whole numbers, so sums are exact and ties abound."""
    rng, y = np.random.default_rng(seed), labels()
    scorers = [rng.integers(-4, 5, y.size) + rng.integers(0, 4) * y for _ in range(n_scorers)]
    found = greedy_selection(folds_of(y, measure), [by_fold(each.astype(float)) for each in scorers])
    counts, values = slow_selection(y, measure, scorers)
    assert found.counts == tuple(counts)
    np.testing.assert_allclose(found.values, values, atol=1e-12)
    assert found.weights.sum() == pytest.approx(1)


def test_a_scorer_that_is_clearly_best_stays_alone():
    rng, y = np.random.default_rng(0), labels(400)
    good, noise = y + rng.normal(size=400) / 4, rng.normal(size=400)
    found = greedy_selection(folds_of(y), [by_fold(noise), by_fold(good), by_fold(-good)])
    assert found.counts == (0, 1, 0)


def test_scorers_that_are_equal_share_equally():
    rng, y = np.random.default_rng(0), labels(400)
    good = by_fold(y + rng.normal(size=400))
    assert greedy_selection(folds_of(y), [good, good, good]).weights.tolist() == [1 / 3] * 3


def test_scorers_that_know_different_things_are_better_together():
    rng, y = np.random.default_rng(0), labels(2000)
    half, other = (y + 1.5 * rng.normal(size=2000) for _ in range(2))
    folds = folds_of(y)
    found = greedy_selection(folds, [by_fold(half), by_fold(other)])
    assert min(found.counts) > 0
    assert found.values.mean() > max(folds.values(by_fold(each)).mean() for each in (half, other)) + 0.03


def test_one_scorer_is_taken_once():
    y = labels()
    found = greedy_selection(folds_of(y), [by_fold(y.astype(float))])
    assert found.counts == (1,)
    assert found.values.tolist() == [1.0] * N_FOLDS
