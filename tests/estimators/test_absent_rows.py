"""Rows of weight 0 are absent rows, however far out they lie."""

import numpy as np
import pytest

from headrank import LinearRanker, LinearRankerCV
from headrank.estimators.combined.linear_part import ScaledLinear
from headrank.surrogates import KINDS
from samples import gaussians


def with_absent_rows(seed=0):
    """Rows, and the same with others of weight 0 among them, some of them enormous."""
    rng = np.random.default_rng(seed)
    X, y = gaussians(40, 160, shift=3.0)
    extra = rng.normal(size=(30, X.shape[1])) * 10.0 ** rng.integers(0, 12, size=(30, 1))
    order = rng.permutation(y.size + 30)
    all_y = np.append(y, rng.integers(0, 2, 30))[order]
    return X, y, np.vstack([X, extra])[order], all_y, np.repeat([1.0, 0.0], [y.size, 30])[order]


@pytest.mark.parametrize("surrogate", KINDS)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_a_ranker_does_not_see_them(surrogate, standardize, C):
    X, y, all_X, all_y, weights = with_absent_rows()
    ranker = LinearRanker("pauc@0.2", surrogate=surrogate, C=C, standardize=standardize)
    alone = LinearRanker(**ranker.get_params()).fit(X, y)
    ranker.fit(all_X, all_y, sample_weight=weights)
    assert ranker.collapsed_ == alone.collapsed_
    assert not alone.collapsed_
    assert ranker.objective_ == pytest.approx(alone.objective_, rel=1e-3)
    assert ranker.training_measure_ == pytest.approx(alone.training_measure_, abs=0.05)
    if KINDS[surrogate].sums or not KINDS[surrogate].convex:  # the minimum of a hinge is flat
        np.testing.assert_allclose(ranker.coef_, alone.coef_, rtol=0.02, atol=0.02 * np.abs(alone.coef_).max())


def test_neither_do_the_scales_of_the_linear_family():
    X, _, all_X, all_y, weights = with_absent_rows()
    all_X[np.flatnonzero(weights == 0)[:3]] = np.nan
    there = np.flatnonzero(weights)
    place = np.cumsum(weights > 0) - 1
    folds = [(there[there % 3 != k], there[there % 3 == k]) for k in range(3)]
    of_kept = [tuple(place[part] for part in fold) for fold in folds]
    kept_X, kept_y = all_X[there], all_y[there]
    part = ScaledLinear("pauc@0.2", cv=folds).fit(all_X, all_y, weights)
    alone = ScaledLinear("pauc@0.2", cv=of_kept).fit(kept_X, kept_y)
    assert part.scaler_.gaps_.size == 0
    np.testing.assert_allclose(part.means_, alone.means_, atol=1e-6)
    assert np.corrcoef(part.decision_function(X), alone.decision_function(X))[0, 1] > 0.999
    part.refit(all_X, all_y, weights)
    np.testing.assert_allclose(part.means_, alone.means_, atol=1e-6)


@pytest.mark.parametrize("with_queries", [True, False])
def test_neither_do_the_folds(with_queries):
    """Were the folds stratified by rows that are not there, some would hold one class only."""
    X, y = gaussians(100, 300)
    weights = np.ones(y.size)
    weights[np.flatnonzero(y == 1)[8:]] = 0
    qid = np.arange(y.size) // 4 if with_queries else None
    kept = weights > 0
    for seed in range(5):
        ranker = LinearRankerCV("pauc@0.2", surrogates=("logistic",), Cs=(1.0,), cv=4, random_state=seed)
        twin = LinearRankerCV(**ranker.get_params()).fit(X[kept], y[kept], qid=None if qid is None else qid[kept])
        ranker.fit(X, y, sample_weight=weights, qid=qid)
        np.testing.assert_allclose(ranker.trials_[0].values, twin.trials_[0].values, atol=1e-3)


@pytest.mark.parametrize("as_masks", [True, False])
def test_folds_that_are_given_speak_of_all_rows(as_masks):
    _, _, all_X, all_y, weights = with_absent_rows()
    there = np.flatnonzero(weights)
    first = np.isin(np.arange(all_y.size), there[: there.size // 2])
    halves = [(first, ~first), (~first, first)]
    given = halves if as_masks else [(np.flatnonzero(one), np.flatnonzero(other)) for one, other in halves]
    ranker = LinearRankerCV("pauc@0.2", surrogates=("logistic",), Cs=(1.0,), cv=given)
    ranker.fit(all_X, all_y, sample_weight=weights)
    twin = LinearRankerCV(**ranker.get_params())
    half = np.arange(there.size) < there.size // 2
    twin.set_params(cv=[(np.flatnonzero(half), np.flatnonzero(~half)), (np.flatnonzero(~half), np.flatnonzero(half))])
    twin.fit(all_X[there], all_y[there])
    np.testing.assert_allclose(ranker.trials_[0].values, twin.trials_[0].values, atol=1e-3)
