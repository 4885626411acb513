"""Shares of scorers: greedy selection and stacking together, and the measure as the judge."""

import numpy as np
import pytest

from folds import N_FOLDS, by_fold, folds_of, labels
from headrank.estimators.combined import shares
from headrank.estimators.combined.greedy import greedy_selection
from headrank.estimators.combined.shares import combination
from headrank.estimators.combined.stacking import stacked_shares


def test_it_is_the_mean_of_both():
    rng, y = np.random.default_rng(1), labels(400)
    scorers = [y + rng.normal(size=400), y + 1.3 * rng.normal(size=400)]
    folds, scores = folds_of(y), [by_fold(each) for each in scorers]
    found = combination(folds, scores)
    both = greedy_selection(folds, scores).weights, stacked_shares(folds, scores)
    assert not np.allclose(*both, atol=0.05)
    np.testing.assert_allclose(found.weights, np.mean(both, axis=0))
    np.testing.assert_allclose(found.values, folds.values(by_fold(found.weights @ np.stack(scorers))))


@pytest.mark.parametrize(("stacked", "share"), [(0.03, 0.0), (0.06, 0.03)])
def test_a_scorer_with_a_small_share_is_left_out(stacked, share, monkeypatch):
    """It trails the others, so that greedy selection takes none of it."""
    rng, y = np.random.default_rng(1), labels(400)
    scores = [by_fold(y + noise * rng.normal(size=400)) for noise in (1.0, 1.0, 2.5)]
    monkeypatch.setattr(shares, "stacked_shares", lambda *_: np.array([0.6, 0.4 - stacked, stacked]))
    found = combination(folds_of(y), scores)
    assert greedy_selection(folds_of(y), scores).counts[2] == 0
    assert found.weights[2] == pytest.approx(share)
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights[0] > greedy_selection(folds_of(y), scores).weights[0] + 0.02  # which is not used as it is


def test_scorers_that_are_equal_share_equally():
    rng, y = np.random.default_rng(0), labels(400)
    good = by_fold(y + rng.normal(size=400))
    assert combination(folds_of(y), [good, good, good]).weights == pytest.approx([1 / 3] * 3, abs=1e-6)


def test_scorers_that_know_different_things_are_better_together():
    rng, y = np.random.default_rng(0), labels(2000)
    half, other = (y + 1.5 * rng.normal(size=2000) for _ in range(2))
    folds = folds_of(y)
    found = combination(folds, [by_fold(half), by_fold(other)])
    assert found.weights.min() > 0.4
    assert found.values.mean() > max(folds.values(by_fold(each)).mean() for each in (half, other)) + 0.03


def test_the_measure_has_the_last_word():
    """Overall one scorer is better, by far; the head of the other is perfect, and the measure looks at nothing else."""
    rng, y = np.random.default_rng(0), labels(2000)
    best_negatives = (y == 0) & (rng.random(2000) < 0.02)
    overall = np.where(best_negatives, 12.0, 4 * y + rng.normal(size=2000))
    head = np.where(y * rng.random(2000) > 0.5, 2.0, rng.random(2000))
    scorers = [by_fold(overall / overall.std()), by_fold(head / head.std())]
    of_all = combination(folds_of(y, "auc"), scorers)
    assert of_all.weights[0] > 0.5
    of_head = combination(folds_of(y, "tpr@fpr=0.01"), scorers)
    assert of_head.weights.tolist() == [0, 1]


def test_perfect_scores_and_constant_ones_have_finite_shares():
    y = labels()
    perfect, constant = by_fold(y.astype(float)), by_fold(np.zeros(y.size))
    assert combination(folds_of(y), [perfect, perfect]).weights == pytest.approx([0.5, 0.5])
    assert combination(folds_of(y), [constant, constant]).weights == pytest.approx([0.5, 0.5])


def test_one_scorer_is_taken_alone():
    y = labels()
    found = combination(folds_of(y), [by_fold(y.astype(float))])
    assert found.weights.tolist() == [1]
    assert found.values.tolist() == [1.0] * N_FOLDS
