"""Folds: every row once, whole queries, and something to measure in each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrank import BoostedRankerCV, KernelRanker, LinearRankerCV, RankerCV, TreeRanker
from headrank.estimators.cv.folds import folds
from samples import gaussians


def queries_of(seed, n_mixed, n_pure):
    rng = np.random.default_rng(seed)
    queries = np.repeat(np.arange(n_mixed + n_pure), 4)
    y = np.zeros(queries.size, dtype=bool)
    y[4 * np.arange(n_mixed)] = True  # then the pure ones are all negative, but for the last, which is all positive
    if n_pure:
        y[-4:] = True
    order = rng.permutation(y.size)
    return y[order], queries[order]


@given(st.integers(5, 40), st.integers(0, 20), st.booleans(), st.integers(0, 5))
def test_folds_part_the_rows_and_each_can_be_measured(n_mixed, n_pure, by_query, seed):
    y, queries = queries_of(seed, n_mixed, n_pure)
    pairs = list(folds(y, queries if by_query else None, 5, random_state=seed))
    assert len(pairs) == 5
    assert np.array_equal(np.sort(np.concatenate([test for _, test in pairs])), np.arange(y.size))
    for train, test in pairs:
        assert np.array_equal(np.union1d(train, test), np.arange(y.size))
        assert not np.intersect1d(train, test).size
        if by_query:
            assert not np.intersect1d(queries[train], queries[test]).size
            assert np.intersect1d(queries[test][y[test]], queries[test][~y[test]]).size
        else:
            assert 0 < np.count_nonzero(y[test]) < test.size
    unit = queries if by_query else np.arange(y.size)
    sizes = [np.unique(unit[test]).size for _, test in pairs]
    assert max(sizes) - min(sizes) <= (1 if by_query else 2)
    again = folds(y, queries if by_query else None, 5, random_state=seed)
    assert all(np.array_equal(test, other) for (_, test), (_, other) in zip(pairs, again, strict=True))


@pytest.mark.parametrize("kind", [LinearRankerCV, KernelRanker, BoostedRankerCV, RankerCV])
def test_as_many_folds_as_there_can_be(kind):
    rows = gaussians(3, 40, shift=3.0)
    with pytest.warns(UserWarning, match="cv=5 folds need as many rows of each class; there are 3, so 3 folds") as told:
        ranker = kind("auc").fit(*rows)
    assert len(told) == 1
    assert len(getattr(ranker, "ranker_", ranker).trials_[0].values) == 3


def test_a_tree_is_pruned_with_as_many_folds_as_there_can_be():
    with pytest.warns(UserWarning, match="folds") as told:
        TreeRanker("auc").fit(*gaussians(3, 60, shift=5.0))
    assert ["so 3 folds are used" in str(each.message) for each in told] == [True, False]  # and 3 positives are too few


def test_as_many_folds_as_there_are_queries_to_measure_on():
    X, y = gaussians(20, 40, shift=3.0)
    with pytest.warns(UserWarning, match="many queries with positive and negative rows; there are 2, so 2 folds"):
        ranker = LinearRankerCV("auc").fit(X, y, qid=np.arange(60) % 2)
    assert len(ranker.trials_[0].values) == 2
