"""Candidates that the folds cannot tell apart are averaged, each scaled to variance 1."""

import numpy as np
import pytest

from headrank.estimators._labelled import Labelled
from headrank.estimators.cv import tied
from headrank.estimators.cv.fold_rows import FoldRows
from headrank.estimators.cv.tied import tied_best
from headrank.measures import measure

RNG = np.random.default_rng(0)
Y = np.arange(400) % 2 == 0


@pytest.fixture
def even_folds():
    """Folds with both classes."""
    order = RNG.permutation(400)
    parts = np.array_split(order, 4)
    splits = [(np.setdiff1d(order, part), np.sort(part)) for part in parts]
    return FoldRows(Labelled.of(Y, None, None), splits, measure("auc"))


def scored(folds, noise, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return [scale * (Y[test] + noise * rng.normal(size=test.size)) for _, test in folds.splits]


def found(folds, *scores):
    return tied_best(folds, scores, [folds.values(each) for each in scores])


def test_the_best_alone_is_taken_as_it_is(even_folds):
    good, bad = scored(even_folds, 0.5, 10.0), scored(even_folds, 50.0)
    best = found(even_folds, bad, good)
    assert (best.tied, best.members, best.divisors, best.average) == ((1,), (1,), (1.0,), None)
    for mine, its in zip(best.scores, good, strict=True):
        np.testing.assert_array_equal(mine, its)


def test_tied_candidates_add_up_to_their_average(even_folds):
    candidates = [scored(even_folds, 1.0, 100.0, seed=1), scored(even_folds, 1.0, seed=2), scored(even_folds, 90.0)]
    best = found(even_folds, *candidates)
    assert sorted(best.members) == [0, 1]
    assert best.tied == best.members
    pairs = list(zip(best.members, best.divisors, strict=True))
    for k, scores in enumerate(best.scores):
        np.testing.assert_allclose(scores, sum(candidates[i][k] / divisor for i, divisor in pairs), atol=1e-9)
    for i, divisor in pairs:
        assert divisor == pytest.approx(2 * np.concatenate(candidates[i]).std())
    np.testing.assert_allclose(best.average, even_folds.values(best.scores))


def test_an_average_that_trails_the_best_is_not_used(even_folds, monkeypatch):
    good, other = scored(even_folds, 0.5), scored(even_folds, 0.5, seed=3)
    answers = iter([False, True])  # the other does not trail, but the average does
    monkeypatch.setattr(tied, "trails", lambda _values, _best: next(answers))
    best = found(even_folds, good, other)
    assert len(best.tied) == 2
    assert best.members == best.tied[:1]
    assert best.divisors == (1.0,)
    assert best.average is not None
